// SPDX-License-Identifier: Apache-2.0
#include "front/process.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
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

std::atomic<bool> start_was_called{false};
std::atomic<bool> forked{false};

void note_fork() {
  if (start_was_called) forked = true;
}

// From the beginning: whoever registers this on the first call may be overtaken by a fork.
[[maybe_unused]] const int fork_is_noted = pthread_atfork(nullptr, nullptr, &note_fork);

}  // namespace

Result<const Driver*, StartError> start_driver(const DriverChoice& choice) {
  start_was_called = true;
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

bool is_forked_child() {
  return forked.load(std::memory_order_relaxed);
}

}  // namespace ferry
