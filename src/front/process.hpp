// SPDX-License-Identifier: Apache-2.0
// The driver of this process: loaded once, on request, and never unloaded, and whether a fork has
// put it out of use. The only globals of Ferry; every floor below is handed what it needs.
#pragma once

#include <string>

#include "driver/driver.hpp"

namespace ferry {

struct StartError {
  Code code = Code::not_initialized;
  std::string message;  // for people: what failed and what to do
};

// Loads the driver on the first call; later calls return the same one when they ask for the same.
// Errors: not_initialized (nothing could be loaded; a later call may try again), invalid_argument
// (another driver is already in use). Thread safety: any thread.
[[nodiscard]] Result<const Driver*, StartError> start_driver(const DriverChoice& choice);

// The driver that start_driver has loaded, or null.
[[nodiscard]] const Driver* process_driver();

// Whether this process came from fork() after its parent had called start_driver. It must then
// neither call the driver nor take a mutex: no thread is left that would release one.
[[nodiscard]] bool is_forked_child();

}  // namespace ferry
