// SPDX-License-Identifier: Apache-2.0
// Where one run takes place: a driver in a fresh state, a pool on its first device, and a second
// way to that device for the replay's own work. Owns pool and devices; only one may exist at a
// time, because on the stand-in making one resets everything.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "memory/device_pool.hpp"

namespace ferry::replay {

struct MachineSettings {
  std::string
      stand_in;  // settings of the stand-in in the syntax of FERRY_SIM; the base for the rest
  // Bytes obtainable on the device: of the stand-in's device, or the limit of a pool on a real one.
  std::optional<Bytes> capacity;
};

class ReplayMachine {
 public:
  // Requires: `driver` outlives the machine, and nothing else uses it. The error is a sentence.
  [[nodiscard]] static Result<std::unique_ptr<ReplayMachine>, std::string> open(
      const Driver& driver, const MachineSettings& settings);
  ReplayMachine(const ReplayMachine&) = delete;
  ReplayMachine& operator=(const ReplayMachine&) = delete;

  [[nodiscard]] DevicePool& pool() { return *pool_; }
  [[nodiscard]] Device& pool_device() { return *pool_device_; }
  [[nodiscard]] Device& tool_device() { return *tool_device_; }

 private:
  ReplayMachine() = default;

  std::unique_ptr<Device> tool_device_;
  std::unique_ptr<Device> pool_device_;
  std::unique_ptr<DevicePool> pool_;
};

}  // namespace ferry::replay
