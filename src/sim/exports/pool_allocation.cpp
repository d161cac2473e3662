// SPDX-License-Identifier: Apache-2.0
// Exported: memory that is allocated and freed in the order of a stream.
#include "sim/machine/capture_access.hpp"
#include "sim/words/say_once.hpp"

using ferry::sim::AccessKind;
using ferry::sim::Call;
using ferry::sim::Library;
using ferry::sim::Machine;
using ferry::sim::Mapping;
using ferry::sim::MemoryPool;
using ferry::sim::Need;
using ferry::sim::StreamUse;
using ferry::sim::Submission;
using ferry::sim::Symbol;
using ferry::sim::Ticket;

namespace {

// An operation that takes no time of its own and stands for a use of the whole range: what is not
// ordered with it is a hazard.
Submission whole_range(Symbol symbol, CUstream stream, std::uint64_t address, std::uint64_t bytes) {
  Submission submission;
  submission.symbol = symbol;
  submission.stream = stream;
  submission.touches = {{address, bytes, AccessKind::write}};
  submission.work = [](int) { return CUDA_SUCCESS; };
  submission.in_anothers_time = true;
  return submission;
}

// Nodes that allocate and free are not there: neither is captured.
CUresult check_stream(Call& call, const StreamUse& use) {
  if (const CUresult result = ferry::sim::check_implicit(call, use); result != CUDA_SUCCESS)
    return result;
  ferry::sim::CapturingStream* const in = ferry::sim::capture_of(call, use);
  if (in == nullptr) return CUDA_SUCCESS;
  ferry::sim::say_once(
      "memory of pools in a capture (cuMemAllocAsync, cuMemFreeAsync) is not supported by the "
      "stand-in");
  return ferry::sim::refuse(*in->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CUresult allocate(Call& call, Symbol symbol, CUdeviceptr* out, std::size_t bytes, MemoryPool& pool,
                  CUstream stream, const StreamUse& use) {
  if (const CUresult result = check_stream(call, use); result != CUDA_SUCCESS) return result;
  auto allocation = call.machine.pools.allocate(pool, *use.stream, bytes);
  if (!allocation) return CUDA_ERROR_OUT_OF_MEMORY;
  *out = allocation->address;
  Submission submission = whole_range(symbol, stream, allocation->address, bytes);
  submission.after = std::move(allocation->after);
  return submit_on(call, use, std::move(submission));
}

// What the free does when its turn comes: the bytes of a pool's memory are gone, those of another
// process's stay, other memory goes back to the device.
std::function<CUresult(int)> work_of_free(Machine& machine, const Mapping& mapping) {
  if (mapping.kind == Mapping::Kind::imported) return [](int) { return CUDA_SUCCESS; };
  if (mapping.kind == Mapping::Kind::pool_allocation) {
    return [&machine, block = mapping.block, offset = mapping.offset, size = mapping.size](int) {
      if (machine.physical.with_data()) machine.physical.discard(*block, offset, size);
      return CUDA_SUCCESS;
    };
  }
  return [&machine, start = mapping.start, id = mapping.buffer_id](int) {
    const Mapping* const found = machine.pages.find(start);
    if (found == nullptr || found->buffer_id != id) return CUDA_SUCCESS;  // with its context
    machine.hazards.forget_mapping(*found);
    static_cast<void>(machine.allocations.free(start));
    return CUDA_SUCCESS;
  };
}

// What goes by other calls, or with its module, does not.
bool can_be_freed(Mapping::Kind kind) {
  return kind == Mapping::Kind::allocation || kind == Mapping::Kind::pool_allocation ||
         kind == Mapping::Kind::imported;
}

CUresult free_in_order(Call& call, CUdeviceptr address, CUstream stream, const StreamUse& use) {
  Machine& machine = call.machine;
  if (const CUresult result = check_stream(call, use); result != CUDA_SUCCESS) return result;
  const Mapping* const mapping = machine.pages.find_living(address);
  if (mapping == nullptr || mapping->start != address || !can_be_freed(mapping->kind))
    return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t id = mapping->buffer_id;
  Submission submission = whole_range(Symbol::cuMemFreeAsync, stream, address, mapping->size);
  submission.work = work_of_free(machine, *mapping);
  Ticket free;
  const CUresult result = submit_on(call, use, std::move(submission), &free);
  // Host code may have run meanwhile on other threads, and plain memory may be gone by now.
  Mapping* const freed = machine.pages.find_living(address);
  if (freed == nullptr || freed->buffer_id != id) return result;
  if (freed->pool != 0) {
    machine.pools.free_after(*freed, free);
  } else {
    freed->end_in_order(free->number);
  }
  return result;
}

}  // namespace

CUresult cuMemAllocAsync(CUdeviceptr* dptr, size_t bytesize, CUstream hStream) {
  return Library::get().call(
      Symbol::cuMemAllocAsync, Need::initialised,
      [&](Call& call) {
        StreamUse use;
        if (dptr == nullptr || bytesize == 0) return CUDA_ERROR_INVALID_VALUE;
        if (const CUresult result = find_stream(call, hStream, use); result != CUDA_SUCCESS)
          return result;
        MemoryPool& pool = call.machine.pools.current_of(use.context->device);
        return allocate(call, Symbol::cuMemAllocAsync, dptr, bytesize, pool, hStream, use);
      },
      bytesize);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* dptr, size_t bytesize, CUmemoryPool pool,
                                 CUstream hStream) {
  return Library::get().call(
      Symbol::cuMemAllocFromPoolAsync, Need::initialised,
      [&](Call& call) {
        StreamUse use;
        MemoryPool* const from = call.machine.pools.find(ferry::sim::value_of(pool));
        if (dptr == nullptr || bytesize == 0 || from == nullptr || from->imported)
          return CUDA_ERROR_INVALID_VALUE;
        if (const CUresult result = find_stream(call, hStream, use); result != CUDA_SUCCESS)
          return result;
        return allocate(call, Symbol::cuMemAllocFromPoolAsync, dptr, bytesize, *from, hStream, use);
      },
      bytesize);
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
  return Library::get().call(Symbol::cuMemFreeAsync, Need::initialised, [&](Call& call) {
    StreamUse use;
    if (const CUresult result = find_stream(call, hStream, use); result != CUDA_SUCCESS)
      return result;
    return free_in_order(call, dptr, hStream, use);
  });
}
