// SPDX-License-Identifier: Apache-2.0
// From the stream and event handles of a call to what they stand for, and the ways in which a call
// uses them: queue work, wait for it. Shared by the exported functions.
#pragma once

#include <memory>
#include <vector>

#include "sim/machine/library.hpp"
#include "sim/machine/submission.hpp"

namespace ferry::sim {

struct StreamUse {
  Stream* stream = nullptr;
  Context* context = nullptr;  // the stream's, not always the current one

  [[nodiscard]] bool is_legacy() const { return stream == context->streams->legacy; }
};

// The default streams (null, legacy, per-thread) are those of the current context. Errors: no
// current context, a handle of no living stream, a poisoned context.
[[nodiscard]] CUresult find_stream(Call& call, CUstream handle, StreamUse& use);

// Passes the gate; runs body(Call&, StreamUse&) when `stream` is usable.
template <typename Body>
CUresult with_stream(Symbol symbol, CUstream stream, Body&& body) {
  return Library::get().call(symbol, Need::initialised, [&](Call& call) {
    StreamUse use;
    const CUresult result = find_stream(call, stream, use);
    return result == CUDA_SUCCESS ? body(call, use) : result;
  });
}

// Null for a handle of no living event.
[[nodiscard]] EventEntry* find_event(Call& call, CUevent handle);

// The fault of a context after work ran in it. It may have been destroyed meanwhile.
[[nodiscard]] CUresult fault_of(Call& call, std::uint64_t context);

// Queues work, or makes it a node where the stream is in a capture.
[[nodiscard]] CUresult submit(Call& call, Submission submission);
// The same on a stream that was found before; `submission.stream` only names it. `queued` receives
// the operation.
[[nodiscard]] CUresult submit_on(Call& call, const StreamUse& use, Submission submission,
                                 Ticket* queued = nullptr);

// An operation that was queued and has not had the chance to run yet.
struct KeptUntilRun;
struct QueuedOperation {
  Ticket ticket;
  std::shared_ptr<KeptUntilRun> kept;
  std::vector<Touch> touches;
  bool holds_caller = false;
};
// The first half of `submit_on`, whether or not the stream is in a capture.
[[nodiscard]] QueuedOperation queue_on(Call& call, const StreamUse& use, Submission submission);
// When it has had the chance, and has not run: keeps an eye on the host memory that it touches,
// unless another operation of the same call does, also on what is in there.
void watch_host_memory(Machine& machine, const QueuedOperation& queued, bool and_contents = true);

// Runs everything queued in a context. The program has seen it complete.
[[nodiscard]] CUresult finish_context(Call& call, const Context& context);

}  // namespace ferry::sim
