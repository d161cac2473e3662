// SPDX-License-Identifier: Apache-2.0
// What a device pool tells people: its figures, and who holds what when it must say no.
#pragma once

#include <string>

#include "memory/pool_state.hpp"

namespace ferry {

// The statistics of now. Linear in blocks.
[[nodiscard]] DevicePoolStats current_stats(const PoolState& state);

// Why `bytes` could not be had for a stream: the largest live blocks, idle memory by stream, and
// why it could not be used.
[[nodiscard]] std::string describe_out_of_memory(const PoolState& state, Bytes bytes,
                                                 const Heap& heap);

}  // namespace ferry
