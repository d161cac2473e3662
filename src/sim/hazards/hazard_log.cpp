// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/hazard_log.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace ferry::sim {

void HazardLog::add(const std::string& text) {
  ++untaken_;
  if (++found_ <= kMostPrinted) fmt::print(stderr, "ferry-sim: {}", text);
  if (found_ == kMostPrinted)
    fmt::print(stderr, "ferry-sim: further hazards are counted, but not printed\n");
  if (mode_ == HazardMode::abort) std::abort();
}

std::uint64_t HazardLog::take() {
  return untaken_.exchange(0);
}

}  // namespace ferry::sim
