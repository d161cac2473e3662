// SPDX-License-Identifier: Apache-2.0
// What became of the hazards that were found: printed, counted, and in the end the exit status of a
// process that would otherwise report success. Lives as long as the library; a reset does not
// forget hazards that nobody has taken. Requires the library's lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "sim/words/settings.hpp"

namespace ferry::sim {

class HazardLog {
 public:
  // More are counted, but no longer printed: one missing wait in a loop finds thousands.
  static constexpr std::uint64_t kMostPrinted = 20;
  // The exit status of a process with hazards that would have ended with 0.
  static constexpr int kExitStatus = 66;

  void set_mode(HazardMode mode) { mode_ = mode; }
  [[nodiscard]] bool is_on() const { return mode_ != HazardMode::off; }

  // `text` begins with "hazard:". Under `abort` the process ends here.
  void add(const std::string& text);

  // How many were found since the last take. They no longer count for the exit status.
  std::uint64_t take();
  // Callable without the lock.
  [[nodiscard]] std::uint64_t untaken() const { return untaken_; }

 private:
  HazardMode mode_ = HazardMode::report;
  std::uint64_t found_ = 0;
  std::atomic<std::uint64_t> untaken_ = 0;
};

}  // namespace ferry::sim
