// SPDX-License-Identifier: Apache-2.0
#include "sim/time/virtual_clock.hpp"

#include <algorithm>
#include <atomic>

namespace ferry::sim {

namespace {

std::uint64_t next_era() {
  static std::atomic<std::uint64_t> eras{0};
  return ++eras;
}

// Has no destructor, so it is there for as long as its thread is, static destructors included.
struct ThreadClock {
  std::uint64_t era = 0;
  Picoseconds now = 0;
};
thread_local ThreadClock thread_clock;

}  // namespace

VirtualClock::VirtualClock() : era_(next_era()) {}

Picoseconds& VirtualClock::mine() {
  if (thread_clock.era != era_) thread_clock = {era_, latest_};
  return thread_clock.now;
}

void VirtualClock::begin_at(Picoseconds moment) {
  if (thread_clock.era != era_) thread_clock = {era_, moment};
  reach(moment);
}

void VirtualClock::reach(Picoseconds moment) {
  Picoseconds& clock = mine();
  clock = std::max(clock, moment);
  latest_ = std::max(latest_, clock);
}

}  // namespace ferry::sim
