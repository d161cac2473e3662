// SPDX-License-Identifier: Apache-2.0
// Exported: plain device memory, page-locked host memory, and questions about pointers.
#include <limits>

#include "base/bytes.hpp"
#include "sim/machine/peer_access.hpp"
#include "sim/machine/pointer_attributes.hpp"
#include "sim/machine/stream_access.hpp"

using ferry::sim::Call;
using ferry::sim::Clock;
using ferry::sim::HostMemory;
using ferry::sim::HostRange;
using ferry::sim::Library;
using ferry::sim::Machine;
using ferry::sim::Mapping;
using ferry::sim::Need;
using ferry::sim::Symbol;

namespace {

// Takes page-locked memory away by `take`, after the work of all contexts. It is finished, but no
// program may rely on it: cuda.h does not promise that these calls wait.
CUresult take_host_memory(Call& call, Symbol symbol, void* pointer,
                          CUresult (HostMemory::*take)(void*)) {
  const std::uint64_t context = call.context->handle;
  const HostRange* const found = call.machine.host.find(reinterpret_cast<std::uintptr_t>(pointer));
  const HostRange ended = found == nullptr ? HostRange{} : *found;
  const Clock seen = call.machine.engine.seen();
  call.machine.engine.finish_all(call.lock);
  if (const CUresult fault = ferry::sim::fault_of(call, context); fault != CUDA_SUCCESS)
    return fault;
  if (const CUresult result = (call.machine.host.*take)(pointer); result != CUDA_SUCCESS)
    return result;
  call.machine.hazards.note_host_end({symbol, call.site}, ended.start, ended.size, seen);
  return CUDA_SUCCESS;
}

CUresult end_host_memory(Symbol symbol, void* pointer, CUresult (HostMemory::*take)(void*)) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    return take_host_memory(call, symbol, pointer, take);
  });
}

// Memory that becomes page-locked lies where the thread takes its memory, or else near the device;
// where the program has said so before, there.
CUresult settle(Call& call, const void* pointer, std::size_t bytes, CUresult result) {
  Machine& machine = call.machine;
  if (result != CUDA_SUCCESS || machine.host_node_count() == 1) return result;
  const int node = call.thread.host_node.value_or(machine.host_node_near(call.context->device));
  machine.host.nodes().settle(reinterpret_cast<std::uintptr_t>(pointer), bytes, node);
  return result;
}

CUresult allocate_host(Call& call, void** out, std::size_t bytes, unsigned flags) {
  const CUresult result =
      call.machine.host.allocate(out, bytes, flags, call.context->handle, call.context->device);
  return settle(call, result == CUDA_SUCCESS ? *out : nullptr, bytes, result);
}

CUresult allocate(Call& call, std::size_t bytes, CUdeviceptr& out) {
  Machine& machine = call.machine;
  const auto address =
      machine.allocations.allocate(call.context->handle, call.context->device, bytes);
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  machine.pages.find(*address)->rights = ferry::sim::rights_to_memory_of(machine, *call.context);
  out = *address;
  return CUDA_SUCCESS;
}

// By cuda.h it waits for nothing: the program must know that the memory is no longer used.
CUresult free_pool_memory(Call& call, const Mapping& mapping) {
  Machine& machine = call.machine;
  machine.hazards.note_end({Symbol::cuMemFree_v2, call.site}, mapping, machine.engine.seen());
  machine.pools.free_now(mapping);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return Library::get().call(Symbol::cuMemGetInfo_v2, Need::context, [&](Call& call) {
    if (free == nullptr || total == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto& physical = call.machine.physical;
    *total = physical.capacity().count;
    *free = physical.free(call.context->device).count;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* dptr, size_t bytesize) {
  return Library::get().call(
      Symbol::cuMemAlloc_v2, Need::context,
      [&](Call& call) {
        if (dptr == nullptr || bytesize == 0) return CUDA_ERROR_INVALID_VALUE;
        return allocate(call, bytesize, *dptr);
      },
      bytesize);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* dptr, size_t* pPitch, size_t WidthInBytes, size_t Height,
                            unsigned int ElementSizeBytes) {
  return Library::get().call(
      Symbol::cuMemAllocPitch_v2, Need::context,
      [&](Call& call) {
        constexpr std::size_t kPitchStep = 512;  // CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT
        constexpr std::size_t kMost = std::numeric_limits<std::int32_t>::max();
        const bool element =
            ElementSizeBytes == 4 || ElementSizeBytes == 8 || ElementSizeBytes == 16;
        if (dptr == nullptr || pPitch == nullptr || WidthInBytes == 0 || Height == 0 || !element ||
            WidthInBytes > kMost - kPitchStep) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        const std::size_t pitch = ferry::align_up(WidthInBytes, kPitchStep);
        std::size_t bytes = 0;
        if (__builtin_mul_overflow(pitch, Height, &bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
        const CUresult result = allocate(call, bytes, *dptr);
        if (result == CUDA_SUCCESS) *pPitch = pitch;
        return result;
      },
      WidthInBytes * Height);
}

CUresult cuMemFree_v2(CUdeviceptr dptr) {
  return Library::get().call(Symbol::cuMemFree_v2, Need::context, [&](Call& call) {
    const HostRange* const managed = call.machine.host.find(dptr);
    if (managed != nullptr && managed->managed && !managed->of_module) {
      return take_host_memory(call, Symbol::cuMemFree_v2, reinterpret_cast<void*>(dptr),
                              &HostMemory::free_managed);
    }
    const Mapping* const mapping = call.machine.pages.find_living(dptr);
    if (mapping == nullptr || mapping->start != dptr) return CUDA_ERROR_INVALID_VALUE;
    if (mapping->pool != 0) return free_pool_memory(call, *mapping);
    if (mapping->kind != Mapping::Kind::allocation) return CUDA_ERROR_INVALID_VALUE;
    // The owner's work, whichever context is current. It is finished, but no program may rely on
    // it: cuda.h does not promise that a free waits.
    const Mapping ended = *mapping;
    const Clock seen = call.machine.engine.seen();
    call.machine.engine.finish(call.lock, *call.machine.contexts.find(ended.context)->streams);
    if (const CUresult fault = ferry::sim::fault_of(call, ended.context); fault != CUDA_SUCCESS)
      return fault;
    if (!call.machine.allocations.free(dptr)) return CUDA_ERROR_INVALID_VALUE;
    call.machine.hazards.note_end({Symbol::cuMemFree_v2, call.site}, ended, seen);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* pbase, size_t* psize, CUdeviceptr dptr) {
  return Library::get().call(Symbol::cuMemGetAddressRange_v2, Need::context, [&](Call& call) {
    CUdeviceptr base = 0;
    size_t size = 0;
    if (const Mapping* const mapping = call.machine.pages.find_living(dptr)) {
      base = mapping->start;
      size = mapping->size;
    } else if (const HostRange* const range = call.machine.host.find(dptr)) {
      base = range->start;
      size = range->size;
    } else {
      return CUDA_ERROR_NOT_FOUND;
    }
    if (pbase != nullptr) *pbase = base;
    if (psize != nullptr) *psize = size;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostAlloc(void** pp, size_t bytesize, unsigned int Flags) {
  return Library::get().call(
      Symbol::cuMemHostAlloc, Need::context,
      [&](Call& call) { return allocate_host(call, pp, bytesize, Flags); }, bytesize);
}

CUresult cuMemAllocHost_v2(void** pp, size_t bytesize) {
  return Library::get().call(
      Symbol::cuMemAllocHost_v2, Need::context,
      [&](Call& call) { return allocate_host(call, pp, bytesize, 0); }, bytesize);
}

CUresult cuMemFreeHost(void* p) {
  return end_host_memory(Symbol::cuMemFreeHost, p, &HostMemory::free);
}

CUresult cuMemHostRegister_v2(void* p, size_t bytesize, unsigned int Flags) {
  return Library::get().call(
      Symbol::cuMemHostRegister_v2, Need::context,
      [&](Call& call) {
        if (call.machine.addresses.contains(reinterpret_cast<std::uintptr_t>(p)))
          return CUDA_ERROR_INVALID_VALUE;
        const CUresult result = call.machine.host.register_range(
            p, bytesize, Flags, call.context->handle, call.context->device);
        return settle(call, p, bytesize, result);
      },
      bytesize);
}

CUresult cuMemHostUnregister(void* p) {
  return end_host_memory(Symbol::cuMemHostUnregister, p, &HostMemory::unregister);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* pdptr, void* p, unsigned int Flags) {
  return Library::get().call(Symbol::cuMemHostGetDevicePointer_v2, Need::context, [&](Call& call) {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    if (pdptr == nullptr || Flags != 0 || call.machine.host.find(address) == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    // One address for both sides, whatever the flags: the device has unified addressing.
    *pdptr = address;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostGetFlags(unsigned int* pFlags, void* p) {
  return Library::get().call(Symbol::cuMemHostGetFlags, Need::context, [&](Call& call) {
    const HostRange* const range = call.machine.host.find(reinterpret_cast<std::uintptr_t>(p));
    if (pFlags == nullptr || range == nullptr || !range->allocated) return CUDA_ERROR_INVALID_VALUE;
    // With unified addressing every allocation is mapped, asked for or not.
    *pFlags = range->flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr) {
  return Library::get().call(Symbol::cuPointerGetAttribute, Need::no_fault, [&](Call& call) {
    return ferry::sim::pointer_attribute(call, attribute, ptr, data);
  });
}

CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute* attributes,
                                void** data, CUdeviceptr ptr) {
  return Library::get().call(Symbol::cuPointerGetAttributes, Need::no_fault, [&](Call& call) {
    if (numAttributes == 0 || attributes == nullptr || data == nullptr)
      return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < numAttributes; ++i) {
      const CUresult result =
          ferry::sim::pointer_attribute_or_default(call, attributes[i], ptr, data[i]);
      if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr ptr) {
  return Library::get().call(Symbol::cuPointerSetAttribute, Need::context, [&](Call& call) {
    return ferry::sim::set_pointer_attribute(call, attribute, ptr, value);
  });
}
