// SPDX-License-Identifier: Apache-2.0
// The stand-in as tests use it: its controls, found in the loaded library. One for the process.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "driver/driver.hpp"
#include "ferry/sim.h"

namespace ferry::testing {

class StandIn {
 public:
  // Forgets everything and starts anew; the driver that was loaded into it before is void.
  static StandIn& reset(const std::string& settings) {
    static StandIn instance;
    if (instance.control<ferry_sim_reset_fn>(FERRY_SIM_RESET)(settings.c_str()) != 0) {
      ADD_FAILURE() << "the stand-in does not understand \"" << settings << '"';
    }
    instance.driver_ = load();
    return instance;
  }

  [[nodiscard]] const Driver& driver() const { return *driver_; }

  void fail_nth(const char* function, std::uint64_t nth, int result) {
    EXPECT_EQ(control<ferry_sim_fail_nth_fn>(FERRY_SIM_FAIL_NTH)(function, nth, result), 0);
  }
  [[nodiscard]] std::uint64_t calls(const char* function) {
    return control<ferry_sim_calls_fn>(FERRY_SIM_CALLS)(function);
  }
  [[nodiscard]] Bytes memory_in_use(int device) {
    return Bytes{control<ferry_sim_memory_in_use_fn>(FERRY_SIM_MEMORY_IN_USE)(device)};
  }

 private:
  StandIn() : driver_(load()) {}

  static std::unique_ptr<Driver> load() {
    auto driver = Driver::load(DriverChoice{.kind = DriverChoice::Kind::sim, .path = {}});
    if (!driver) {
      ADD_FAILURE() << driver.error();
      std::abort();
    }
    return *std::move(driver);
  }

  template <typename Function>
  Function control(const char* name) {
    return reinterpret_cast<Function>(driver_->find_symbol(name));
  }

  std::unique_ptr<Driver> driver_;
};

// The orders of work under which every functional test must hold.
inline auto schedules() {
  return ::testing::Values("schedule=eager", "schedule=lazy", "schedule=random;seed=1",
                           "schedule=random;seed=2", "schedule=random;seed=3");
}

}  // namespace ferry::testing
