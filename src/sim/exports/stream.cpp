// SPDX-License-Identifier: Apache-2.0
// Exported: streams and host functions.
#include <algorithm>

#include "sim/machine/capture_access.hpp"
#include "sim/machine/event_access.hpp"
#include "sim/machine/stream_access.hpp"

using ferry::sim::as_host_function;
using ferry::sim::Call;
using ferry::sim::Clock;
using ferry::sim::Library;
using ferry::sim::Need;
using ferry::sim::StreamEngine;
using ferry::sim::StreamEntry;
using ferry::sim::StreamUse;
using ferry::sim::Symbol;
using ferry::sim::Ticket;
using ferry::sim::value_of;
using ferry::sim::with_stream;

namespace {

// The same for what asks about a stream's work: no capture may be part of it.
template <typename Body>
CUresult with_stream_outside_captures(Symbol symbol, CUstream stream, Body&& body) {
  return with_stream(symbol, stream, [&](Call& call, StreamUse& use) {
    const CUresult result = ferry::sim::check_not_capturing(call, use);
    return result == CUDA_SUCCESS ? body(call, use) : result;
  });
}

CUresult context_of_stream(Symbol symbol, CUstream stream, CUcontext* out) {
  return with_stream(symbol, stream, [&](Call&, StreamUse& use) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = ferry::sim::to_handle<CUcontext>(use.context->handle);
    return CUDA_SUCCESS;
  });
}

CUresult create_stream(Symbol symbol, CUstream* out, unsigned flags, int priority) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    if (out == nullptr || (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    const bool blocking = (flags & CU_STREAM_NON_BLOCKING) == 0;
    StreamEntry entry;
    entry.stream = &call.machine.engine.create_stream(*call.context->streams, blocking);
    entry.context = call.context->handle;
    entry.flags = flags;
    entry.priority =
        std::clamp(priority, ferry::sim::kGreatestPriority, ferry::sim::kLeastPriority);
    *out = ferry::sim::to_handle<CUstream>(call.machine.streams.add(entry));
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult cuStreamCreate(CUstream* phStream, unsigned int Flags) {
  return create_stream(Symbol::cuStreamCreate, phStream, Flags, 0);
}

CUresult cuStreamCreateWithPriority(CUstream* phStream, unsigned int flags, int priority) {
  return create_stream(Symbol::cuStreamCreateWithPriority, phStream, flags, priority);
}

CUresult cuStreamDestroy_v2(CUstream hStream) {
  return Library::get().call(Symbol::cuStreamDestroy_v2, Need::initialised, [&](Call& call) {
    const StreamEntry* const entry = call.machine.streams.find(value_of(hStream));
    if (entry == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const std::uint64_t context = entry->context;
    call.machine.contexts.find(context)->stream_attributes.erase(entry->stream->number);
    call.machine.captures.forget(*entry->stream);
    call.machine.engine.destroy_stream(*entry->stream);
    call.machine.streams.erase(value_of(hStream));
    return ferry::sim::fault_of(call, context);
  });
}

CUresult cuStreamQuery(CUstream hStream) {
  return with_stream_outside_captures(
      Symbol::cuStreamQuery, hStream, [&](Call& call, StreamUse& use) {
        const std::uint64_t context = use.context->handle;
        const Clock asked_for = StreamEngine::clock_of(*use.stream);
        const std::vector<Ticket> tickets = call.machine.engine.unfinished(*use.stream);
        const bool done = call.machine.engine.poll(call.lock, tickets, use.stream->polls);
        if (done) call.machine.engine.observe(asked_for);
        const CUresult fault = ferry::sim::fault_of(call, context);
        if (fault != CUDA_SUCCESS) return fault;
        return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
      });
}

CUresult cuStreamSynchronize(CUstream hStream) {
  return with_stream_outside_captures(
      Symbol::cuStreamSynchronize, hStream, [&](Call& call, StreamUse& use) {
        const std::uint64_t context = use.context->handle;
        const Clock waited_for = StreamEngine::clock_of(*use.stream);
        call.machine.engine.finish(call.lock, call.machine.engine.unfinished(*use.stream));
        call.machine.engine.observe(waited_for);
        call.machine.pools.release_unused();
        return ferry::sim::fault_of(call, context);
      });
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags) {
  return with_stream(Symbol::cuStreamWaitEvent, hStream, [&](Call& call, StreamUse& use) {
    const ferry::sim::EventEntry* const event = ferry::sim::find_event(call, hEvent);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (Flags > CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
    ferry::sim::CapturingStream* const in = ferry::sim::capture_of(call, use);
    if (Flags == CU_EVENT_WAIT_EXTERNAL) {
      if (in == nullptr) return CUDA_ERROR_INVALID_VALUE;
      return capture_node(call, use, *in, ferry::sim::WaitNode{hEvent});
    }
    if (in != nullptr) return ferry::sim::capture_wait(*in, *event);
    if (event->in_capture != nullptr)
      return ferry::sim::join_capture(call, use, *event->in_capture);
    if (const CUresult result = ferry::sim::check_implicit(call, use); result != CUDA_SUCCESS)
      return result;
    const Ticket record = ferry::sim::latest_record(call, *event, use.stream->group);
    if (record == nullptr) return CUDA_SUCCESS;
    call.machine.engine.enqueue(*use.stream, {}, std::span(&record, 1));
    call.machine.engine.progress(call.lock);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetPriority(CUstream hStream, int* priority) {
  return with_stream(Symbol::cuStreamGetPriority, hStream, [&](Call& call, StreamUse&) {
    if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const StreamEntry* const entry = call.machine.streams.find(value_of(hStream));
    *priority = entry == nullptr ? 0 : entry->priority;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetFlags(CUstream hStream, unsigned int* flags) {
  return with_stream(Symbol::cuStreamGetFlags, hStream, [&](Call& call, StreamUse&) {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const StreamEntry* const entry = call.machine.streams.find(value_of(hStream));
    *flags = entry == nullptr ? unsigned{CU_STREAM_DEFAULT} : entry->flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetCtx(CUstream hStream, CUcontext* pctx) {
  return context_of_stream(Symbol::cuStreamGetCtx, hStream, pctx);
}

CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx) {
  if (pGreenCtx == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pGreenCtx = nullptr;  // there are none here
  return context_of_stream(Symbol::cuStreamGetCtx_v2, hStream, pCtx);
}

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void* userData) {
  return with_stream(Symbol::cuLaunchHostFunc, hStream, [&](Call& call, StreamUse& use) {
    if (fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = ferry::sim::check_implicit(call, use); result != CUDA_SUCCESS)
      return result;
    if (ferry::sim::CapturingStream* const in = ferry::sim::capture_of(call, use))
      return capture_node(call, use, *in, ferry::sim::HostNode{fn, userData});
    call.machine.engine.enqueue_host_function(
        *use.stream, [fn, userData] { as_host_function([&] { fn(userData); }); });
    call.machine.engine.progress(call.lock);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void* userData,
                             unsigned int flags) {
  return with_stream(Symbol::cuStreamAddCallback, hStream, [&](Call& call, StreamUse& use) {
    if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = ferry::sim::check_not_capturing(call, use);
        result != CUDA_SUCCESS) {
      return result;
    }
    // Unlike a host function it runs after a failure too, and is told.
    call.machine.engine.enqueue_callback(*use.stream, [hStream, callback, userData](int fault) {
      as_host_function([&] { callback(hStream, static_cast<CUresult>(fault), userData); });
    });
    call.machine.engine.progress(call.lock);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetId(CUstream hStream, unsigned long long* streamId) {
  return with_stream(Symbol::cuStreamGetId, hStream, [&](Call&, StreamUse& use) {
    if (streamId == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *streamId = use.stream->number;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetDevice(CUstream hStream, CUdevice* device) {
  return with_stream(Symbol::cuStreamGetDevice, hStream, [&](Call&, StreamUse& use) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = use.context->device;
    return CUDA_SUCCESS;
  });
}
