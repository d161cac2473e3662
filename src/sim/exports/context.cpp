// SPDX-License-Identifier: Apache-2.0
// Exported: primary and ordinary contexts, and each thread's stack of current ones.
#include "sim/machine/capture_access.hpp"
#include "sim/machine/event_access.hpp"
#include "sim/machine/stream_access.hpp"

using ferry::sim::are_context_flags;
using ferry::sim::Call;
using ferry::sim::Context;
using ferry::sim::Contexts;
using ferry::sim::Library;
using ferry::sim::Need;
using ferry::sim::Symbol;
using ferry::sim::to_handle;
using ferry::sim::value_of;

namespace {

template <typename Body>
CUresult with_device(Symbol symbol, CUdevice dev, Body&& body) {
  return Library::get().call(symbol, Need::initialised, [&](Call& call) {
    return call.machine.has_device(dev) ? body(call) : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult create_context(Call& call, CUcontext* out, unsigned flags, CUdevice device) {
  if (out == nullptr || !are_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
  if (!call.machine.has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (const int lost = call.machine.contexts.lost(device); lost != 0)
    return static_cast<CUresult>(lost);
  const Context& context = call.machine.contexts.create(device, flags);
  call.thread.contexts.push_back(context.handle);
  *out = to_handle<CUcontext>(context.handle);
  return CUDA_SUCCESS;
}

// Runs body(Call&, Context&) with the named context, or the current one where none is named.
template <typename Body>
CUresult with_context(Symbol symbol, CUcontext handle, Body&& body) {
  return Library::get().call(symbol, Need::initialised, [&](Call& call) {
    if (handle == nullptr && call.context == nullptr) return call.no_context;
    Context* const context =
        handle == nullptr ? call.context : call.machine.contexts.find(value_of(handle));
    return context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : body(call, *context);
  });
}

CUresult device_of(Symbol symbol, CUdevice* device, CUcontext handle) {
  return with_context(symbol, handle, [&](Call&, const Context& context) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = context.device;
    return CUDA_SUCCESS;
  });
}

// Requires: no primary context.
CUresult destroy_context(Call& call, Context& context) {
  const std::uint64_t handle = context.handle;
  call.machine.empty_context(call.lock, context, true);
  std::vector<std::uint64_t>& stack = call.thread.contexts;
  if (!stack.empty() && stack.back() == handle) stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult synchronize(Symbol symbol, CUcontext handle) {
  return with_context(symbol, handle, [](Call& call, Context& context) {
    if (context.streams->fault != 0) return static_cast<CUresult>(context.streams->fault);
    return ferry::sim::finish_context(call, context);
  });
}

}  // namespace

CUresult cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice dev) {
  return with_device(Symbol::cuDevicePrimaryCtxRetain, dev, [&](Call& call) {
    if (pctx == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const int lost = call.machine.contexts.lost(dev); lost != 0)
      return static_cast<CUresult>(lost);
    *pctx = to_handle<CUcontext>(call.machine.contexts.retain_primary(dev).handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
  return with_device(Symbol::cuDevicePrimaryCtxRelease_v2, dev, [&](Call& call) {
    Contexts::Primary& primary = call.machine.contexts.primary(dev);
    if (primary.references == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--primary.references > 0) return CUDA_SUCCESS;
    call.machine.empty_context(call.lock, *call.machine.contexts.active_primary(dev), true);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int* flags, int* active) {
  return with_device(Symbol::cuDevicePrimaryCtxGetState, dev, [&](Call& call) {
    if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = call.machine.contexts.primary(dev).flags;
    *active = call.machine.contexts.active_primary(dev) != nullptr ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags) {
  return with_device(Symbol::cuDevicePrimaryCtxSetFlags_v2, dev, [&](Call& call) {
    if (!are_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    call.machine.contexts.primary(dev).flags = flags;
    if (Context* const context = call.machine.contexts.active_primary(dev)) context->flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) {
  return with_device(Symbol::cuDevicePrimaryCtxReset_v2, dev, [&](Call& call) {
    // A reset takes everything but the references: who retained the context must still release it.
    if (Context* const context = call.machine.contexts.active_primary(dev)) {
      call.machine.empty_context(call.lock, *context, false);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxCreate_v2(CUcontext* pctx, unsigned int flags, CUdevice dev) {
  return Library::get().call(Symbol::cuCtxCreate_v2, Need::initialised,
                             [&](Call& call) { return create_context(call, pctx, flags, dev); });
}

CUresult cuCtxCreate_v3(CUcontext* pctx, CUexecAffinityParam* paramsArray, int numParams,
                        unsigned int flags, CUdevice dev) {
  return Library::get().call(Symbol::cuCtxCreate_v3, Need::initialised, [&](Call& call) {
    if (numParams < 0 || (numParams > 0 && paramsArray == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    if (numParams > 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return create_context(call, pctx, flags, dev);
  });
}

CUresult cuCtxCreate_v4(CUcontext* pctx, CUctxCreateParams* ctxCreateParams, unsigned int flags,
                        CUdevice dev) {
  return Library::get().call(Symbol::cuCtxCreate_v4, Need::initialised, [&](Call& call) {
    if (ctxCreateParams != nullptr) {
      if (ctxCreateParams->cigParams != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
      if (ctxCreateParams->numExecAffinityParams != 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    }
    return create_context(call, pctx, flags, dev);
  });
}

CUresult cuCtxDestroy_v2(CUcontext ctx) {
  return Library::get().call(Symbol::cuCtxDestroy_v2, Need::initialised, [&](Call& call) {
    Context* const context = call.machine.contexts.find(value_of(ctx));
    if (context == nullptr || call.machine.contexts.is_primary(*context))
      return CUDA_ERROR_INVALID_CONTEXT;
    return destroy_context(call, *context);
  });
}

CUresult cuCtxAttach(CUcontext* pctx, unsigned int flags) {
  return Library::get().call(Symbol::cuCtxAttach, Need::context, [&](Call& call) {
    if (pctx == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    ++call.context->attached;
    *pctx = to_handle<CUcontext>(call.context->handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxDetach(CUcontext ctx) {
  return Library::get().call(Symbol::cuCtxDetach, Need::initialised, [&](Call& call) {
    if (call.context == nullptr || call.context->handle != value_of(ctx))
      return CUDA_ERROR_INVALID_CONTEXT;
    Context& context = *call.context;
    if (context.attached > 0) {
      --context.attached;
      return CUDA_SUCCESS;
    }
    return call.machine.contexts.is_primary(context) ? CUDA_ERROR_INVALID_CONTEXT
                                                     : destroy_context(call, context);
  });
}

CUresult cuCtxGetCurrent(CUcontext* pctx) {
  return Library::get().call(Symbol::cuCtxGetCurrent, Need::initialised, [&](Call& call) {
    if (pctx == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::vector<std::uint64_t>& stack = call.thread.contexts;
    *pctx = stack.empty() ? nullptr : to_handle<CUcontext>(stack.back());
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext ctx) {
  return Library::get().call(Symbol::cuCtxSetCurrent, Need::initialised, [&](Call& call) {
    std::vector<std::uint64_t>& stack = call.thread.contexts;
    if (ctx != nullptr && call.machine.contexts.find(value_of(ctx)) == nullptr)
      return CUDA_ERROR_INVALID_CONTEXT;
    if (!stack.empty()) stack.pop_back();
    if (ctx != nullptr) stack.push_back(value_of(ctx));
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx) {
  return Library::get().call(Symbol::cuCtxPushCurrent_v2, Need::initialised, [&](Call& call) {
    if (call.machine.contexts.find(value_of(ctx)) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    call.thread.contexts.push_back(value_of(ctx));
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent_v2(CUcontext* pctx) {
  return Library::get().call(Symbol::cuCtxPopCurrent_v2, Need::initialised, [&](Call& call) {
    std::vector<std::uint64_t>& stack = call.thread.contexts;
    if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (pctx != nullptr) *pctx = to_handle<CUcontext>(stack.back());
    stack.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return device_of(Symbol::cuCtxGetDevice, device, nullptr);
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext ctx) {
  return device_of(Symbol::cuCtxGetDevice_v2, device, ctx);
}

CUresult cuCtxSynchronize() {
  return synchronize(Symbol::cuCtxSynchronize, nullptr);
}

CUresult cuCtxSynchronize_v2(CUcontext ctx) {
  return synchronize(Symbol::cuCtxSynchronize_v2, ctx);
}

CUresult cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent) {
  return Library::get().call(Symbol::cuCtxRecordEvent, Need::initialised, [&](Call& call) {
    Context* const context =
        hCtx == nullptr ? call.context : call.machine.contexts.find(value_of(hCtx));
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    ferry::sim::EventEntry* const event = ferry::sim::find_event(call, hEvent);
    if (event == nullptr || event->context != context->handle) return CUDA_ERROR_INVALID_HANDLE;
    if (context->streams->fault != 0) return static_cast<CUresult>(context->streams->fault);
    if (const CUresult result = ferry::sim::check_not_capturing(call, *context);
        result != CUDA_SUCCESS) {
      return result;
    }
    ferry::sim::record_in(call, *event, *context->streams);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent) {
  return with_context(Symbol::cuCtxWaitEvent, hCtx, [&](Call& call, Context& context) {
    const ferry::sim::EventEntry* const event = ferry::sim::find_event(call, hEvent);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (context.streams->fault != 0) return static_cast<CUresult>(context.streams->fault);
    if (event->in_capture != nullptr) return ferry::sim::refuse_captured_event(*event);
    if (const CUresult result = ferry::sim::check_not_capturing(call, context);
        result != CUDA_SUCCESS) {
      return result;
    }
    const ferry::sim::Ticket record = ferry::sim::latest_record(call, *event, *context.streams);
    if (record == nullptr) return CUDA_SUCCESS;
    call.machine.engine.hold_group(*context.streams, record);
    call.machine.engine.progress(call.lock);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
  return Library::get().call(Symbol::cuCtxGetStreamPriorityRange, Need::context, [&](Call&) {
    if (leastPriority != nullptr) *leastPriority = ferry::sim::kLeastPriority;
    if (greatestPriority != nullptr) *greatestPriority = ferry::sim::kGreatestPriority;
    return CUDA_SUCCESS;
  });
}
