// SPDX-License-Identifier: Apache-2.0
// Reads a PyTorch memory snapshot: the pickle of torch.cuda.memory._dump_snapshot, of every version
// that has segments or device traces. The program's free is `free_requested`; `free_completed`
// counts only where its request came before the recording. Blocks live at the start are those that
// the events free without allocating them, and those of the final state that no event mentions.
#pragma once

#include <string_view>

#include "front/traces/trace.hpp"

namespace ferry::replay {

// Fills in everything but the name.
[[nodiscard]] Result<Trace, TraceError> read_snapshot(std::string_view pickle);

}  // namespace ferry::replay
