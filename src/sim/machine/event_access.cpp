// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/event_access.hpp"

#include <unistd.h>

#include <functional>

#include "sim/machine/sharing.hpp"

namespace ferry::sim {

namespace {

// Another process has recorded it since.
bool is_anothers(const EventEntry& event) {
  return event.shared != nullptr && event.shared->latest().number != event.own_record;
}

void take_record(Call& call, EventEntry& event, const Ticket& ticket) {
  event.recorded = true;
  event.polls = 0;
  event.captured = ticket;
  event.in_capture = nullptr;
  if (event.shared == nullptr) return;
  // Others must not wait for ever where the work before it fails.
  ticket->despite_fault = true;
  call.machine.foreign_waits.add({event.shared, event.own_record, ticket});
  call.machine.foreign_records.link(*event.shared, event.own_record, ticket->clock);
}

// What tells the others. Nothing for an event of this process alone.
std::function<int()> work_of_record(EventEntry& event, StreamGroup& group) {
  if (event.shared == nullptr) return {};
  event.own_record = event.shared->record();
  return [&group, shared = event.shared, number = event.own_record] {
    shared->reach(number);
    return group.fault;
  };
}

}  // namespace

CUresult create_event(Call& call, CUevent* out, unsigned flags) {
  constexpr unsigned kKnown =
      CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if (out == nullptr || (flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
  EventEntry entry;
  entry.context = call.context->handle;
  entry.flags = flags;
  if ((flags & CU_EVENT_INTERPROCESS) != 0) {
    if ((flags & CU_EVENT_DISABLE_TIMING) == 0) return CUDA_ERROR_INVALID_VALUE;
    entry.shared = SharedEvent::create();
    if (entry.shared == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *out = to_handle<CUevent>(call.machine.events.add(std::move(entry)));
  return CUDA_SUCCESS;
}

void queue_record(Call& call, EventEntry& event, Stream& stream) {
  take_record(call, event,
              call.machine.engine.enqueue(stream, work_of_record(event, stream.group)));
}

void record_in(Call& call, EventEntry& event, Stream& stream) {
  queue_record(call, event, stream);
  call.machine.engine.progress(call.lock);
}

void record_in(Call& call, EventEntry& event, StreamGroup& group) {
  Ticket mark = call.machine.engine.mark_group(group);
  if (event.shared != nullptr)
    mark = call.machine.engine.enqueue(*group.records, work_of_record(event, group));
  take_record(call, event, mark);
  call.machine.engine.progress(call.lock);
}

Ticket latest_record(Call& call, const EventEntry& event, StreamGroup& group) {
  if (!is_anothers(event)) return event.captured;
  StreamEngine& engine = call.machine.engine;
  // In a stream of its own, so that only those who wait for it do.
  Stream& aside = engine.create_stream(group, false);
  const SharedEvent::Record record = event.shared->latest();
  Ticket wait = engine.enqueue(aside, {}, {}, [shared = event.shared, record] {
    if (shared->is_over(record)) return true;
    shared->ask(record.number);
    return false;
  });
  engine.destroy_stream(aside);
  call.machine.foreign_records.add({event.shared, record.number, wait});
  return wait;
}

bool poll_event(Call& call, EventEntry& event) {
  StreamEngine& engine = call.machine.engine;
  if (is_anothers(event)) {
    const SharedEvent::Record record = event.shared->latest();
    if (event.shared->is_over(record)) {
      event.polls = 0;
      see_record(*event.shared, record.number);
      engine.observe_finished();
      return true;
    }
    // A loop of queries must come to an end, whatever the other process does meanwhile.
    if (++event.polls >= StreamEngine::kPatience) event.shared->ask(record.number);
    return false;
  }
  const Ticket captured = event.captured;
  if (!engine.poll(call.lock, std::span(&captured, 1), event.polls)) return false;
  if (captured) engine.observe(captured->clock);
  return true;
}

CUresult get_event_handle(Call& call, void* out, CUevent event) {
  const EventEntry* const entry = call.machine.events.find(value_of(event));
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (entry == nullptr || (entry->flags & CU_EVENT_INTERPROCESS) == 0)
    return CUDA_ERROR_INVALID_HANDLE;
  const SealedFile& file = entry->shared->file();
  write_ipc_handle({SharedKind::event, getpid(), file.descriptor(), file.id(), {}}, out);
  return CUDA_SUCCESS;
}

CUresult open_event_handle(Call& call, CUevent* out, const void* bytes) {
  const auto handle = read_ipc_handle(bytes, SharedKind::event);
  if (out == nullptr || !handle) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<SealedFile> file;
  if (const CUresult result = open_file_of(*handle, "cuIpcOpenEventHandle", file);
      result != CUDA_SUCCESS) {
    return result;
  }
  EventEntry entry;
  entry.shared = SharedEvent::open(std::move(file), {handle->process, handle->descriptor});
  if (entry.shared == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  entry.context = call.context->handle;
  entry.flags = CU_EVENT_DISABLE_TIMING;
  *out = to_handle<CUevent>(call.machine.events.add(std::move(entry)));
  return CUDA_SUCCESS;
}

}  // namespace ferry::sim
