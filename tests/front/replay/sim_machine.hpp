// SPDX-License-Identifier: Apache-2.0
// The stand-in as the tests of the replay use it.
#pragma once

#include <ferry/sim.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "front/replay/replay_machine.hpp"

namespace ferry::replay::testing {

// Loaded once for the process.
inline const Driver& stand_in() {
  static const Driver* const driver = [] {
    auto loaded = Driver::load(DriverChoice{.kind = DriverChoice::Kind::sim, .path = {}});
    if (!loaded) {
      ADD_FAILURE() << loaded.error();
      std::abort();
    }
    return std::move(loaded).value().release();
  }();
  return *driver;
}

inline std::unique_ptr<ReplayMachine> open_machine(const std::string& settings = "",
                                                   std::optional<Bytes> capacity = std::nullopt) {
  auto machine = ReplayMachine::open(stand_in(), {.stand_in = settings, .capacity = capacity});
  if (!machine) ADD_FAILURE() << machine.error();
  return std::move(machine).value();
}

// How many hazards the stand-in has found since the last take. Those not taken make the process
// fail.
inline std::uint64_t take_hazards() {
  return reinterpret_cast<ferry_sim_take_hazards_fn>(
      stand_in().find_symbol(FERRY_SIM_TAKE_HAZARDS))();
}

inline auto schedules() {
  return ::testing::Values("schedule=eager", "schedule=lazy", "schedule=random;seed=1",
                           "schedule=random;seed=2", "schedule=random;seed=3",
                           "schedule=random;seed=4", "schedule=random;seed=5");
}

}  // namespace ferry::replay::testing
