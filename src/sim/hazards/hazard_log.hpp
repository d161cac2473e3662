// SPDX-License-Identifier: Apache-2.0
// What became of the hazards that were found: printed, counted, and in the end the exit status of a
// process that would otherwise report success. One missing wait in a loop finds thousands: those
// between two calls are printed once and then counted, so that another fault is seen beside them.
// Lives as long as the library; a reset does not forget hazards that nobody has taken. Callable by
// any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "sim/hazards/hazard_pair.hpp"
#include "sim/words/settings.hpp"

namespace ferry::sim {

class HazardLog {
 public:
  // Between so many different pairs of calls; those between others are only counted.
  static constexpr std::size_t kMostPrinted = 20;
  // The exit status of a process with hazards that would have ended with 0.
  static constexpr int kExitStatus = 66;

  void set_mode(HazardMode mode) { mode_ = mode; }
  [[nodiscard]] bool is_on() const { return mode_ != HazardMode::off; }

  // `describe` is asked only for what is printed; its text begins with "hazard:". Under `abort` the
  // process ends here.
  void add(const HazardPair& pair, const std::function<std::string()>& describe);

  // How many were found since the last take. They no longer count for the exit status; what comes
  // after them is printed again.
  std::uint64_t take();
  [[nodiscard]] std::uint64_t untaken() const { return untaken_; }

  // For the end of the process: how often each of those that were printed has come again.
  void say_repeats();

 private:
  struct Printed {
    HazardPair pair;
    std::uint64_t repeats = 0;
  };

  void print_repeats();

  std::atomic<HazardMode> mode_ = HazardMode::report;
  std::atomic<std::uint64_t> untaken_ = 0;
  std::mutex mutex_;
  std::vector<Printed> printed_;  // since the last take
  std::uint64_t unprinted_ = 0;
};

}  // namespace ferry::sim
