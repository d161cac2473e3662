// SPDX-License-Identifier: Apache-2.0
// What lies where in a device pool: for snapshots.
#pragma once

#include <vector>

#include "memory/pool_state.hpp"

namespace ferry {

// All memory of the pool in order of address, tiled without gaps: live and fenced blocks as users
// know them (slots of slabs, not slabs), and what is free between them. A segment is a stretch of
// memory without addresses missing in it. Linear in blocks, with a sort.
[[nodiscard]] std::vector<PoolBlock> map_of(const PoolState& state);

}  // namespace ferry
