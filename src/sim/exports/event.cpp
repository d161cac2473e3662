// SPDX-License-Identifier: Apache-2.0
// Exported: events.
#include <array>
#include <utility>

#include "sim/machine/capture_access.hpp"
#include "sim/machine/event_access.hpp"
#include "sim/machine/stream_access.hpp"

using ferry::sim::Call;
using ferry::sim::EventEntry;
using ferry::sim::Library;
using ferry::sim::Need;
using ferry::sim::StreamUse;
using ferry::sim::Symbol;
using ferry::sim::Ticket;
using ferry::sim::value_of;

namespace {

// Runs body(Call&, EventEntry&) when `event` is alive and its context is not poisoned.
template <typename Body>
CUresult with_event(Symbol symbol, CUevent event, Body&& body) {
  return Library::get().call(symbol, Need::initialised, [&](Call& call) {
    EventEntry* const entry = ferry::sim::find_event(call, event);
    if (entry == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const CUresult fault = ferry::sim::fault_of(call, entry->context);
    return fault == CUDA_SUCCESS ? body(call, *entry) : fault;
  });
}

// The same for what asks about an event's record: it may not lie in a capture.
template <typename Body>
CUresult with_event_outside_captures(Symbol symbol, CUevent event, Body&& body) {
  return with_event(symbol, event, [&](Call& call, EventEntry& entry) {
    if (entry.in_capture != nullptr) return ferry::sim::refuse_captured_event(entry);
    const CUresult unsafe = ferry::sim::check_unsafe(call);
    return unsafe == CUDA_SUCCESS ? body(call, entry) : unsafe;
  });
}

// The program has seen that the record is reached.
void observe(Call& call, const Ticket& captured) {
  if (captured) call.machine.engine.observe(captured->clock);
}

}  // namespace

CUresult cuEventCreate(CUevent* phEvent, unsigned int Flags) {
  return Library::get().call(Symbol::cuEventCreate, Need::context, [&](Call& call) {
    return ferry::sim::create_event(call, phEvent, Flags);
  });
}

CUresult cuEventDestroy_v2(CUevent hEvent) {
  return Library::get().call(Symbol::cuEventDestroy_v2, Need::initialised, [&](Call& call) {
    const EventEntry* const entry = ferry::sim::find_event(call, hEvent);
    if (entry == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const std::uint64_t context = entry->context;
    call.machine.events.erase(value_of(hEvent));
    return ferry::sim::fault_of(call, context);
  });
}

namespace {

CUresult record(Symbol symbol, CUevent hEvent, CUstream hStream, unsigned flags) {
  return with_event(symbol, hEvent, [&](Call& call, EventEntry& event) {
    StreamUse use;
    if (flags > CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = ferry::sim::find_stream(call, hStream, use); result != CUDA_SUCCESS)
      return result;
    if (use.context->handle != event.context) return CUDA_ERROR_INVALID_HANDLE;
    ferry::sim::CapturingStream* const in = ferry::sim::capture_of(call, use);
    if (flags == CU_EVENT_RECORD_EXTERNAL) {
      if (in == nullptr) return CUDA_ERROR_INVALID_VALUE;  // they are for captures
      return capture_node(call, use, *in, ferry::sim::RecordNode{hEvent});
    }
    if (in != nullptr) return ferry::sim::capture_record(*in, event);
    if (const CUresult result = ferry::sim::check_implicit(call, use); result != CUDA_SUCCESS)
      return result;
    ferry::sim::record_in(call, event, *use.stream);
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult cuEventRecord(CUevent hEvent, CUstream hStream) {
  return record(Symbol::cuEventRecord, hEvent, hStream, CU_EVENT_RECORD_DEFAULT);
}

CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
  return record(Symbol::cuEventRecordWithFlags, hEvent, hStream, flags);
}

CUresult cuEventQuery(CUevent hEvent) {
  return with_event_outside_captures(Symbol::cuEventQuery, hEvent,
                                     [&](Call& call, EventEntry& event) {
                                       const std::uint64_t context = event.context;
                                       const bool done = ferry::sim::poll_event(call, event);
                                       const CUresult fault = ferry::sim::fault_of(call, context);
                                       if (fault != CUDA_SUCCESS) return fault;
                                       return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
                                     });
}

CUresult cuEventSynchronize(CUevent hEvent) {
  return with_event_outside_captures(
      Symbol::cuEventSynchronize, hEvent, [&](Call& call, EventEntry& event) {
        const std::uint64_t context = event.context;
        const Ticket captured =
            ferry::sim::latest_record(call, event, *call.machine.contexts.find(context)->streams);
        call.machine.engine.finish(call.lock, std::span(&captured, 1));
        observe(call, captured);
        call.machine.pools.release_unused();
        return ferry::sim::fault_of(call, context);
      });
}

namespace {

CUresult elapsed_time(Symbol symbol, float* milliseconds, CUevent hStart, CUevent hEnd) {
  return with_event(symbol, hStart, [&](Call& call, EventEntry& start) {
    if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const EventEntry* const end = ferry::sim::find_event(call, hEnd);
    if (end == nullptr || end->context != start.context) return CUDA_ERROR_INVALID_HANDLE;
    for (const EventEntry* const event : {&std::as_const(start), end}) {
      if (event->in_capture != nullptr) return ferry::sim::refuse_captured_event(*event);
    }
    if (!start.recorded || !end->recorded) return CUDA_ERROR_INVALID_HANDLE;
    if (((start.flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0)
      return CUDA_ERROR_INVALID_HANDLE;
    const std::array<Ticket, 2> records{start.captured, end->captured};
    unsigned asked_once = 0;
    if (!call.machine.engine.poll(call.lock, records, asked_once)) return CUDA_ERROR_NOT_READY;
    for (const Ticket& record : records) observe(call, record);
    const ferry::sim::Picoseconds elapsed = records[1]->time->end - records[0]->time->end;
    *milliseconds = static_cast<float>(static_cast<double>(elapsed) * 1e-9);
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult cuEventElapsedTime(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
  return elapsed_time(Symbol::cuEventElapsedTime, pMilliseconds, hStart, hEnd);
}

CUresult cuEventElapsedTime_v2(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
  return elapsed_time(Symbol::cuEventElapsedTime_v2, pMilliseconds, hStart, hEnd);
}
