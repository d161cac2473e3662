// SPDX-License-Identifier: Apache-2.0
// Reads the memory events of a Kineto trace (torch.profiler with profile_memory=True). Such a trace
// is a window into a run: what was live before it shows only in "Total Allocated". That remainder
// is one block, less the blocks that the window frees without having allocated them, which are
// known one by one. Streams are not recorded: all is on stream 0.
#pragma once

#include "front/traces/byte_source.hpp"

namespace ferry::replay {

// Fills in everything but the name.
[[nodiscard]] Result<Trace, TraceError> read_kineto(ByteSource& source);

}  // namespace ferry::replay
