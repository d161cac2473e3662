// SPDX-License-Identifier: Apache-2.0
// What other machines do not have or do not allow: the settings that make the simulated one as
// narrow. The defaults are a machine that allows everything. Plain data, and the reader of its part
// of the settings.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.hpp"
#include "sim/words/setting_values.hpp"

namespace ferry::sim {

// Direct access by other devices to memory that was created for it (gpuDirectRDMACapable).
enum class Rdma : std::uint8_t {
  off,      // denied by the device attribute, and refused at the creation
  on,       // announced, and it works
  refused,  // announced, but no access can be set to such memory: CUDA_ERROR_UNKNOWN
};

struct MachineLimits {
  // Fixed when the machine is built.
  bool virtual_memory = true;
  Bytes granularity{std::uint64_t{2} << 20};
  Rdma rdma = Rdma::off;
  // May change while it runs; they count for later requests.
  Bytes taken;                          // of each device's memory, by other processes
  std::optional<Bytes> largest_piece;   // of physical memory, however much is free
  std::optional<Bytes> reserve_total;   // of address reservations, all together
  std::optional<Bytes> register_call;   // of one registration of host memory
  std::optional<Bytes> register_total;  // of all registrations together
  bool reuse_at_once = false;           // of addresses and handles; otherwise as late as possible

  // Machines that differ here are different machines.
  [[nodiscard]] bool same_build(const MachineLimits& other) const {
    return virtual_memory == other.virtual_memory && granularity == other.granularity &&
           rdma == other.rdma;
  }
};

// Values that take a limit away are "none".
[[nodiscard]] Problem read_vmm(MachineLimits& limits, std::string_view value);
[[nodiscard]] Problem read_granularity(MachineLimits& limits, std::string_view value);
[[nodiscard]] Problem read_rdma(MachineLimits& limits, std::string_view value);
[[nodiscard]] Problem read_taken(MachineLimits& limits, std::string_view value);
[[nodiscard]] Problem read_largest_piece(MachineLimits& limits, std::string_view value);
[[nodiscard]] Problem read_reserve_total(MachineLimits& limits, std::string_view value);
[[nodiscard]] Problem read_register_call(MachineLimits& limits, std::string_view value);
[[nodiscard]] Problem read_register_total(MachineLimits& limits, std::string_view value);
[[nodiscard]] Problem read_reuse(MachineLimits& limits, std::string_view value);

}  // namespace ferry::sim
