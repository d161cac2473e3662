// SPDX-License-Identifier: Apache-2.0
// Exported: the pools of the stream-ordered allocator, what they hold, and who may use it.
#include <algorithm>
#include <cstring>

#include "sim/machine/library.hpp"

using ferry::sim::Access;
using ferry::sim::Call;
using ferry::sim::Library;
using ferry::sim::MemoryPool;
using ferry::sim::Need;
using ferry::sim::Symbol;
using ferry::sim::to_handle;
using ferry::sim::value_of;

namespace {

// Runs body(Call&, MemoryPool&) where the handle is that of a pool.
template <typename Body>
CUresult with_pool(Symbol symbol, CUmemoryPool handle, Body&& body) {
  return Library::get().call(symbol, Need::no_fault, [&](Call& call) {
    MemoryPool* const pool = call.machine.pools.find(value_of(handle));
    return pool == nullptr ? CUDA_ERROR_INVALID_VALUE : body(call, *pool);
  });
}

CUresult check_props(const Call& call, const CUmemPoolProps* props) {
  if (props == nullptr || props->win32SecurityAttributes != nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  const auto is_set = [](unsigned char byte) { return byte != 0; };
  if (std::any_of(std::begin(props->reserved), std::end(props->reserved), is_set))
    return CUDA_ERROR_INVALID_VALUE;
  switch (props->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      if (!call.machine.has_device(props->location.id)) return CUDA_ERROR_INVALID_VALUE;
      break;
    case CU_MEM_LOCATION_TYPE_HOST:
      return props->handleTypes != CU_MEM_HANDLE_TYPE_NONE ? CUDA_ERROR_INVALID_VALUE
                                                           : CUDA_ERROR_NOT_SUPPORTED;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return CUDA_ERROR_NOT_SUPPORTED;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  if (props->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) return CUDA_ERROR_NOT_SUPPORTED;
  if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  // What the device attributes deny: other ways of sharing, decompression.
  const unsigned other_types =
      props->handleTypes & ~unsigned{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
  return other_types != 0 || props->usage != 0 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

template <typename Value>
CUresult give(void* out, Value value) {
  std::memcpy(out, &value, sizeof value);
  return CUDA_SUCCESS;
}

template <typename Value>
Value taken_from(const void* in) {
  Value value{};
  std::memcpy(&value, in, sizeof value);
  return value;
}

CUresult get_attribute(const MemoryPool& pool, CUmemPool_attribute attribute, void* out) {
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      return give(out, int{pool.follow_events});
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      return give(out, int{pool.opportunistic});
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return give(out, int{pool.internal_dependencies});
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      return give(out, cuuint64_t{pool.release_threshold});
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      return give(out, cuuint64_t{pool.space.reserved().current});
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return give(out, cuuint64_t{pool.space.reserved().high});
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return give(out, cuuint64_t{pool.space.used().current});
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return give(out, cuuint64_t{pool.space.used().high});
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult set_attribute(MemoryPool& pool, CUmemPool_attribute attribute, const void* value) {
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      pool.follow_events = taken_from<int>(value) != 0;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      pool.opportunistic = taken_from<int>(value) != 0;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      pool.internal_dependencies = taken_from<int>(value) != 0;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      pool.release_threshold = taken_from<cuuint64_t>(value);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      if (taken_from<cuuint64_t>(value) != 0) return CUDA_ERROR_INVALID_VALUE;
      pool.space.reset_reserved_high();
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      if (taken_from<cuuint64_t>(value) != 0) return CUDA_ERROR_INVALID_VALUE;
      pool.space.reset_used_high();
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult check_access(const Call& call, const MemoryPool& pool, const CUmemAccessDesc& wanted) {
  if (wanted.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      !call.machine.has_device(wanted.location.id)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  switch (wanted.flags) {
    case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
      return CUDA_SUCCESS;
    case CU_MEM_ACCESS_FLAGS_PROT_NONE:
    case CU_MEM_ACCESS_FLAGS_PROT_READ:
      // The device that the memory is on always has it.
      return wanted.location.id == pool.device ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// For which device's pools the location and the type stand.
CUresult check_location(const CUmemLocation* location, CUmemAllocationType type) {
  if (location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool managed = type == CU_MEM_ALLOCATION_TYPE_MANAGED;
  if (!managed && type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return managed ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_NONE:
      return managed ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return CUDA_ERROR_NOT_SUPPORTED;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult default_pool(Call& call, CUmemoryPool* out, CUdevice device) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!call.machine.has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *out = to_handle<CUmemoryPool>(call.machine.pools.default_of(device).handle);
  return CUDA_SUCCESS;
}

CUresult current_pool(Call& call, CUmemoryPool* out, CUdevice device) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!call.machine.has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *out = to_handle<CUmemoryPool>(call.machine.pools.current_of(device).handle);
  return CUDA_SUCCESS;
}

CUresult set_current_pool(Call& call, CUdevice device, CUmemoryPool handle) {
  MemoryPool* const pool = call.machine.pools.find(value_of(handle));
  if (pool == nullptr || pool->device != device || pool->imported) return CUDA_ERROR_INVALID_VALUE;
  call.machine.pools.set_current(*pool);
  return CUDA_SUCCESS;
}

// Runs body(Call&) behind the gate.
template <typename Body>
CUresult of_device(Symbol symbol, Body&& body) {
  return Library::get().call(symbol, Need::no_fault, body);
}

// The same, where there are pools for this kind of memory.
template <typename Body>
CUresult of_location(Symbol symbol, const CUmemLocation* location, CUmemAllocationType type,
                     Body&& body) {
  return of_device(symbol, [&](Call& call) {
    const CUresult result = check_location(location, type);
    return result == CUDA_SUCCESS ? body(call) : result;
  });
}

}  // namespace

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* poolProps) {
  return Library::get().call(Symbol::cuMemPoolCreate, Need::no_fault, [&](Call& call) {
    if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = check_props(call, poolProps); result != CUDA_SUCCESS) return result;
    MemoryPool& made = call.machine.pools.create(poolProps->location.id, poolProps->maxSize);
    made.handle_types = poolProps->handleTypes;
    *pool = to_handle<CUmemoryPool>(made.handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return with_pool(Symbol::cuMemPoolDestroy, pool, [](Call& call, MemoryPool& found) {
    if (call.machine.pools.is_default(found)) return CUDA_ERROR_INVALID_VALUE;
    call.machine.pools.destroy(found);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep) {
  return with_pool(Symbol::cuMemPoolTrimTo, pool, [&](Call& call, MemoryPool& found) {
    call.machine.pools.trim(found, minBytesToKeep);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value) {
  return with_pool(Symbol::cuMemPoolSetAttribute, pool, [&](Call&, MemoryPool& found) {
    return value == nullptr ? CUDA_ERROR_INVALID_VALUE : set_attribute(found, attr, value);
  });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value) {
  return with_pool(Symbol::cuMemPoolGetAttribute, pool, [&](Call&, const MemoryPool& found) {
    return value == nullptr ? CUDA_ERROR_INVALID_VALUE : get_attribute(found, attr, value);
  });
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, size_t count) {
  return with_pool(Symbol::cuMemPoolSetAccess, pool, [&](Call& call, MemoryPool& found) {
    if (map == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i) {
      if (const CUresult result = check_access(call, found, map[i]); result != CUDA_SUCCESS)
        return result;
    }
    for (std::size_t i = 0; i < count; ++i) {
      call.machine.pools.set_access(found, map[i].location.id, static_cast<Access>(map[i].flags));
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool memPool,
                            CUmemLocation* location) {
  return with_pool(Symbol::cuMemPoolGetAccess, memPool, [&](Call& call, const MemoryPool& found) {
    if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (location->type == CU_MEM_LOCATION_TYPE_HOST) {
      *flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;  // the host never reaches device memory
      return CUDA_SUCCESS;
    }
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE || !call.machine.has_device(location->id))
      return CUDA_ERROR_INVALID_VALUE;
    *flags = static_cast<CUmemAccess_flags>(found.rights.of(location->id));
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool_out, CUdevice dev) {
  return of_device(Symbol::cuDeviceGetDefaultMemPool,
                   [&](Call& call) { return default_pool(call, pool_out, dev); });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice dev) {
  return of_device(Symbol::cuDeviceGetMemPool,
                   [&](Call& call) { return current_pool(call, pool, dev); });
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
  return of_device(Symbol::cuDeviceSetMemPool,
                   [&](Call& call) { return set_current_pool(call, dev, pool); });
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool_out, CUmemLocation* location,
                                CUmemAllocationType type) {
  return of_location(Symbol::cuMemGetDefaultMemPool, location, type,
                     [&](Call& call) { return default_pool(call, pool_out, location->id); });
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return of_location(Symbol::cuMemGetMemPool, location, type,
                     [&](Call& call) { return current_pool(call, pool, location->id); });
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return of_location(Symbol::cuMemSetMemPool, location, type,
                     [&](Call& call) { return set_current_pool(call, location->id, pool); });
}
