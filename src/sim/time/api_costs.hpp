// SPDX-License-Identifier: Apache-2.0
// What a call of the driver costs the host thread that makes it, by a profile. The part that grows
// with what a call did (memory taken, mappings changed) is read from counters that the gate takes
// before and after it, so that no exported function has to know of time. Pure.
#pragma once

#include <cstdint>

#include "sim/time/profile.hpp"
#include "sim/time/virtual_clock.hpp"
#include "sim/words/symbols.hpp"

namespace ferry::sim {

// What a call may change.
struct Footprint {
  std::uint64_t device_bytes = 0;  // physical memory in use
  std::uint64_t host_bytes = 0;    // page-locked
  std::uint64_t mappings = 0;
  std::uint64_t access_changes = 0;  // mappings whose rights were set, ever
};

// Where a profile has the price of a function. `each` is null where the price is the same always.
struct Price {
  Figure Profile::*call = &Profile::call;
  Figure Profile::*each = nullptr;
  std::uint64_t Footprint::*counter = nullptr;
  std::uint64_t unit = 1;  // of the counter: 1 MiB or one
};

// Every function has one; those that the profile does not name cost Profile::call.
[[nodiscard]] const Price& price_of(Symbol symbol);

// The part that grows, from the counters before and after the call. A begun MiB counts in parts.
[[nodiscard]] Picoseconds growing_cost(const Profile& profile, const Price& price,
                                       const Footprint& before, const Footprint& after);

}  // namespace ferry::sim
