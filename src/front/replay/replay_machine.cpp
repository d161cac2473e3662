// SPDX-License-Identifier: Apache-2.0
#include "front/replay/replay_machine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ferry/sim.h"
#include "front/replay/stand_in_settings.hpp"

namespace ferry::replay {

namespace {

constexpr DeviceId kDevice{0};

// The stand-in has no device that is smaller; the pool keeps within less.
Bytes smallest_device(std::string_view settings) {
  const auto taken = setting_in(settings, "taken");
  return std::max(2_MiB, taken ? parse_bytes(*taken).value_or(Bytes{}) : Bytes{});
}

// "" when the stand-in is as wanted now.
std::string reset_stand_in(const Driver& driver, const MachineSettings& settings) {
  const auto reset = reinterpret_cast<ferry_sim_reset_fn>(driver.find_symbol(FERRY_SIM_RESET));
  if (reset == nullptr) return "this stand-in cannot be reset: it is from another build of Ferry.";
  std::string wanted = settings.stand_in;
  if (settings.capacity) {
    const Bytes capacity = std::max(*settings.capacity, smallest_device(wanted));
    wanted = with_setting(wanted, "capacity", fmt::to_string(capacity.count));
  }
  if (reset(wanted.c_str()) == 0) return "";
  return fmt::format("the stand-in does not understand the settings \"{}\".", wanted);
}

std::string cannot_use(const Status& status) {
  return fmt::format("device {} cannot be used: {}.", kDevice.ordinal, status.describe());
}

}  // namespace

Result<std::unique_ptr<ReplayMachine>, std::string> ReplayMachine::open(
    const Driver& driver, const MachineSettings& settings) {
  if (driver.is_stand_in()) {
    if (std::string trouble = reset_stand_in(driver, settings); !trouble.empty()) return trouble;
  }
  std::unique_ptr<ReplayMachine> machine(new ReplayMachine);
  for (std::unique_ptr<Device>* const device : {&machine->tool_device_, &machine->pool_device_}) {
    Result<std::unique_ptr<Device>> opened = Device::open(driver, kDevice);
    if (!opened) return cannot_use(opened.error());
    *device = *std::move(opened);
  }
  const bool limit_pool =
      settings.capacity &&
      (!driver.is_stand_in() || *settings.capacity < smallest_device(settings.stand_in));
  Result<std::unique_ptr<DevicePool>> pool = DevicePool::create(
      *machine->pool_device_, {.limit = limit_pool ? *settings.capacity : Bytes{}});
  if (!pool) return cannot_use(pool.error());
  machine->pool_ = *std::move(pool);
  return machine;
}

}  // namespace ferry::replay
