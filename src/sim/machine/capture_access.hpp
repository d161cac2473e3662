// SPDX-License-Identifier: Apache-2.0
// What a call means to captures: its work becomes a node, or the call is one that a capture does
// not allow. What a capture does not allow makes it invalid; everything in it is refused from then
// on, until it is ended.
#pragma once

#include <vector>

#include "sim/machine/stream_access.hpp"

namespace ferry::sim {

// The stream's place in a capture; null where its work is queued.
[[nodiscard]] CapturingStream* capture_of(Call& call, const StreamUse& use);

// The call is not allowed in the capture. Returns `why`, or that it was invalid before.
[[nodiscard]] CUresult refuse(Capture& capture, CUresult why);

// Refuses what is "potentially unsafe" where captures keep the calling thread from it.
[[nodiscard]] CUresult check_unsafe(Call& call);

// For calls that queue work: refuses those on the default stream that would come after work of a
// stream in a capture.
[[nodiscard]] CUresult check_implicit(Call& call, const StreamUse& use);

// For calls that ask about a stream's work, or wait for it: no capture may be part of that, nor may
// the thread be kept from it.
[[nodiscard]] CUresult check_not_capturing(Call& call, const StreamUse& use);
// The same for a whole context.
[[nodiscard]] CUresult check_not_capturing(Call& call, const Context& context);

// Makes the work a node, after what the stream's work comes after. Nothing that waits, and nothing
// that has no node, can be captured.
[[nodiscard]] CUresult capture_work(Call& call, const StreamUse& use, CapturingStream& in,
                                    Submission work);

// Such a node, where it is no work that touches memory.
[[nodiscard]] CUresult capture_node(Call& call, const StreamUse& use, CapturingStream& in,
                                    NodeParams params);

// An event in a capture: it stands for the stream's latest nodes.
[[nodiscard]] CUresult capture_record(CapturingStream& in, EventEntry& event);

// To ask about a record in a capture. Requires: it is one.
[[nodiscard]] CUresult refuse_captured_event(const EventEntry& event);

// A wait for an event by a stream that is in a capture.
[[nodiscard]] CUresult capture_wait(CapturingStream& in, const EventEntry& event);

// A wait for a record in a capture by a stream that is in none: it brings the stream into the
// capture.
[[nodiscard]] CUresult join_capture(Call& call, const StreamUse& use, const CapturedRecord& record);

}  // namespace ferry::sim
