// SPDX-License-Identifier: Apache-2.0
// Who the simulated devices are (name, UUID, bus address), and which of them a process sees:
// CUDA_VISIBLE_DEVICES as the real driver reads it. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ferry::sim {

using Uuid = std::array<std::uint8_t, 16>;

inline constexpr const char* kDeviceName = "Ferry stand-in";

// The same in every process, so that a UUID taken from one run selects the device in the next.
[[nodiscard]] Uuid device_uuid(int physical_index);
[[nodiscard]] std::string uuid_text(const Uuid& uuid);     // "GPU-01234567-89ab-..."
[[nodiscard]] std::string pci_bus_id(int physical_index);  // "0000:01:00.0"
[[nodiscard]] int pci_bus_number(int physical_index);

// The physical indices that are visible, in the order asked for. `choice` is the variable's value,
// or null when it is unset: all devices. A list ends at its first entry that names no device, or
// one already named. An entry is an ordinal or a UUID or a prefix of one that fits exactly one
// device.
[[nodiscard]] std::vector<int> visible_devices(const char* choice, int physical_count);

}  // namespace ferry::sim
