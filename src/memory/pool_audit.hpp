// SPDX-License-Identifier: Apache-2.0
// Recomputes from scratch what a device pool believes about itself.
#pragma once

#include "base/status.hpp"
#include "memory/pool_state.hpp"

namespace ferry {

// Linear in blocks and chunks. Code::internal with the broken rule as its site, when one is broken:
//   blocks     every segment is tiled, free neighbours are joined, every idle block is in one bin
//   chunks     memory lies under exactly the blocks that are not empty; its sum is what the pool
//   counts owners     every live and fenced block has exactly one owner: a user, a slab or a
//   pending free sums       live + fenced + idle == committed, in physical bytes; the counters of
//   the statistics agree
[[nodiscard]] Status audit_pool(const PoolState& state);

// Prints and aborts: a pool that is not sound hands out memory twice.
void die_unless_sound(const Status& audit);

}  // namespace ferry
