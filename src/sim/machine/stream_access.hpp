// SPDX-License-Identifier: Apache-2.0
// From the stream and event handles of a call to what they stand for, and the ways in which a call
// uses them: queue work, wait for it. Shared by the exported functions.
#pragma once

#include <functional>
#include <vector>

#include "sim/hazards/touch.hpp"
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

// Work for a stream, and what it will touch.
struct Submission {
  Symbol symbol = Symbol::count;
  CUstream stream = nullptr;
  Wait wait = Wait::no;
  std::vector<Touch> touches;
  std::function<CUresult(int device)> work;
  std::vector<Ticket> after = {};                            // beside what the stream comes after
  std::function<bool(int device)> may_begin = nullptr;       // see Operation
  std::function<const Clock*(int device)> reason = nullptr;  // see Operation
  // For the model of time: what it moves, where that is more than it touches; and whether its time
  // is part of another operation's.
  std::vector<Touch> moves = {};
  bool in_anothers_time = false;
  Picoseconds extra_time = 0;  // beyond what moving the bytes takes
};
[[nodiscard]] CUresult submit(Call& call, Submission submission);
// The same on a stream that was found before; `submission.stream` only names it. `queued` receives
// the operation.
[[nodiscard]] CUresult submit_on(Call& call, const StreamUse& use, Submission submission,
                                 Ticket* queued = nullptr);

// Runs everything queued in a context. The program has seen it complete.
[[nodiscard]] CUresult finish_context(Call& call, const Context& context);

}  // namespace ferry::sim
