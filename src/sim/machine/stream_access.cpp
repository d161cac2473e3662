// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/stream_access.hpp"

namespace ferry::sim {

namespace {

Stream& per_thread_stream(Call& call) {
  Stream*& stream = call.context->per_thread[call.thread.number];
  if (stream == nullptr) stream = &call.machine.engine.create_stream(*call.context->streams, true);
  return *stream;
}

}  // namespace

CUresult find_stream(Call& call, CUstream handle, StreamUse& use) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
    if (call.context == nullptr) return call.no_context;
    use.context = call.context;
    use.stream =
        handle == CU_STREAM_PER_THREAD ? &per_thread_stream(call) : call.context->streams->legacy;
  } else {
    const StreamEntry* const entry = call.machine.streams.find(value_of(handle));
    if (entry == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    use.stream = entry->stream;
    use.context = call.machine.contexts.find(entry->context);
  }
  return static_cast<CUresult>(use.context->streams->fault);
}

EventEntry* find_event(Call& call, CUevent handle) {
  return call.machine.events.find(value_of(handle));
}

CUresult fault_of(Call& call, std::uint64_t context) {
  const Context* const found = call.machine.contexts.find(context);
  return found == nullptr ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                          : static_cast<CUresult>(found->streams->fault);
}

CUresult submit(Call& call, CUstream handle, Wait wait, std::function<CUresult(int device)> work) {
  StreamUse use;
  if (const CUresult result = find_stream(call, handle, use); result != CUDA_SUCCESS) return result;
  const std::uint64_t context = use.context->handle;
  const Ticket ticket = call.machine.engine.enqueue(
      *use.stream, [work = std::move(work), device = use.context->device] { return work(device); });
  call.machine.engine.progress(call.lock);
  if (wait == Wait::no) return CUDA_SUCCESS;
  call.machine.engine.finish(call.lock, std::span(&ticket, 1));
  return fault_of(call, context);
}

CUresult finish_context(Call& call) {
  const std::uint64_t context = call.context->handle;
  call.machine.engine.finish(call.lock, *call.context->streams);
  return fault_of(call, context);
}

}  // namespace ferry::sim
