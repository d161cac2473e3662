// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/hazard_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace ferry::sim {

namespace {

std::string hazards(std::uint64_t count) {
  return fmt::format("{} more hazard{}", count, count == 1 ? "" : "s");
}

}  // namespace

void HazardLog::add(const HazardPair& pair, const std::function<std::string()>& describe) {
  const std::lock_guard lock(mutex_);
  ++untaken_;
  const auto known = std::ranges::find_if(
      printed_, [&](const Printed& printed) { return is_repeat(printed.pair, pair); });
  if (known != printed_.end()) {
    ++known->repeats;
  } else if (printed_.size() < kMostPrinted) {
    printed_.push_back({pair});
    fmt::print(stderr, "ferry-sim: {}", describe());
  } else if (++unprinted_ == 1) {
    fmt::print(stderr, "ferry-sim: hazards between further calls are counted, but not printed\n");
  }
  if (mode_ == HazardMode::abort) std::abort();
}

std::uint64_t HazardLog::take() {
  const std::lock_guard lock(mutex_);
  print_repeats();
  return untaken_.exchange(0);
}

void HazardLog::say_repeats() {
  // Threads that still run may hold it, or one that a fork has left behind.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) print_repeats();
}

void HazardLog::print_repeats() {
  for (const Printed& printed : printed_) {
    if (printed.repeats > 0) {
      fmt::print(stderr, "ferry-sim: {} {}\n", hazards(printed.repeats),
                 with_the_calls_of(printed.pair));
    }
  }
  if (unprinted_ > 0)
    fmt::print(stderr, "ferry-sim: {} between calls that are not printed\n", hazards(unprinted_));
  printed_.clear();
  unprinted_ = 0;
}

}  // namespace ferry::sim
