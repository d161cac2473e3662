// SPDX-License-Identifier: Apache-2.0
#include "front/process.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>

namespace ferry {

namespace {

struct Process {
  std::mutex mutex;
  DriverChoice choice;
  std::unique_ptr<Driver> driver;
};

// Never destroyed: code that runs at exit may still ask for the driver.
Process& process() {
  static Process& instance = *new Process;
  return instance;
}

}  // namespace

Result<const Driver*, StartError> start_driver(const DriverChoice& choice) {
  Process& self = process();
  const std::lock_guard lock(self.mutex);
  if (self.driver == nullptr) {
    Result<std::unique_ptr<Driver>, std::string> loaded = Driver::load(choice);
    if (!loaded) return StartError{Code::not_initialized, std::move(loaded).error()};
    self.driver = *std::move(loaded);
    self.choice = choice;
  } else if (choice != self.choice) {
    return StartError{Code::invalid_argument,
                      fmt::format("another driver is already in use in this process: {}.",
                                  self.driver->library_path())};
  }
  return self.driver.get();
}

const Driver* process_driver() {
  Process& self = process();
  const std::lock_guard lock(self.mutex);
  return self.driver.get();
}

}  // namespace ferry
