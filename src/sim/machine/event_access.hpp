// SPDX-License-Identifier: Apache-2.0
// Records of events and what it means to wait for them, whichever process recorded them last.
// Stands on the machine; requires the library's lock.
//
// A wait for another process's record is one for a value in memory: it comes after all that had run
// here by the time it ended. Virtual time is not handed on between processes.
#pragma once

#include "sim/machine/ipc_handle.hpp"
#include "sim/machine/library.hpp"

namespace ferry::sim {

[[nodiscard]] CUresult create_event(Call& call, CUevent* out, unsigned flags);

// Everything queued so far in the stream, or in the group.
void record_in(Call& call, EventEntry& event, Stream& stream);
void record_in(Call& call, EventEntry& event, StreamGroup& group);
// The first half of the former: nothing runs yet.
void queue_record(Call& call, EventEntry& event, Stream& stream);

// What to come after in order to come after the latest record; null where there is none. `group`:
// of who waits.
[[nodiscard]] Ticket latest_record(Call& call, const EventEntry& event, StreamGroup& group);

// Whether the latest record was reached; the program has seen it then.
[[nodiscard]] bool poll_event(Call& call, EventEntry& event);

[[nodiscard]] CUresult get_event_handle(Call& call, void* out, CUevent event);
[[nodiscard]] CUresult open_event_handle(Call& call, CUevent* out, const void* bytes);

}  // namespace ferry::sim
