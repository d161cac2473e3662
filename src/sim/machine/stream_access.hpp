// SPDX-License-Identifier: Apache-2.0
// From the stream and event handles of a call to what they stand for, and the ways in which a call
// uses them: queue work, wait for it. Shared by the exported functions.
#pragma once

#include <functional>

#include "sim/machine/library.hpp"

namespace ferry::sim {

struct StreamUse {
  Stream* stream = nullptr;
  Context* context = nullptr;  // the stream's, not always the current one
};

// The default streams (null, legacy, per-thread) are those of the current context. Errors: no
// current context, a handle of no living stream, a poisoned context.
[[nodiscard]] CUresult find_stream(Call& call, CUstream handle, StreamUse& use);

// Null for a handle of no living event.
[[nodiscard]] EventEntry* find_event(Call& call, CUevent handle);

// The fault of a context after work ran in it. It may have been destroyed meanwhile.
[[nodiscard]] CUresult fault_of(Call& call, std::uint64_t context);

enum class Wait : std::uint8_t { no, until_done };

// Queues work(device) in a stream.
[[nodiscard]] CUresult submit(Call& call, CUstream handle, Wait wait,
                              std::function<CUresult(int device)> work);

// Runs everything queued in the current context.
[[nodiscard]] CUresult finish_context(Call& call);

}  // namespace ferry::sim
