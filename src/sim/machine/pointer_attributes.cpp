// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/pointer_attributes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace ferry::sim {

namespace {

// The parts of an address's answer; null where there is none. Unmapped addresses of a reservation
// have only the reservation.
struct Known {
  const Mapping* mapping = nullptr;
  const VirtualMemory::Reservation* reservation = nullptr;
  const HostRange* host = nullptr;

  [[nodiscard]] bool anything() const {
    return mapping != nullptr || reservation != nullptr || host != nullptr;
  }
  [[nodiscard]] bool has_memory() const { return mapping != nullptr || host != nullptr; }
};

template <typename Value>
CUresult give(void* data, Value value) {
  std::ranges::copy(std::as_bytes(std::span(&value, 1)), static_cast<std::byte*>(data));
  return CUDA_SUCCESS;
}

std::uint64_t context_of(const Known& known) {
  return known.mapping != nullptr ? known.mapping->context : known.host->context;
}

CUresult give_range(const Known& known, bool want_size, void* data) {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  if (known.reservation != nullptr) {
    start = known.reservation->start;
    size = known.reservation->size;
  } else if (known.mapping != nullptr) {
    start = known.mapping->start;
    size = known.mapping->size;
  } else {
    start = known.host->start;
    size = known.host->size;
  }
  return want_size ? give(data, static_cast<std::size_t>(size))
                   : give(data, static_cast<CUdeviceptr>(start));
}

CUresult give_access(const Call& call, const Known& known, void* data) {
  if (call.context == nullptr) return call.no_context;
  const Access access = known.mapping != nullptr ? known.mapping->rights.of(call.context->device)
                                                 : Access::read_write;
  return give(data, static_cast<unsigned long long>(access));
}

// Requires: the address has memory behind it.
CUresult memory_attribute(const Call& call, const Known& known, CUpointer_attribute attribute,
                          CUdeviceptr address, void* data) {
  const bool on_device = known.mapping != nullptr;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return give(data, to_handle<CUcontext>(context_of(known)));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give(data,
                  static_cast<unsigned>(on_device || known.host->managed ? CU_MEMORYTYPE_DEVICE
                                                                         : CU_MEMORYTYPE_HOST));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return call.context == nullptr ? call.no_context : give(data, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return on_device ? CUDA_ERROR_INVALID_VALUE : give(data, reinterpret_cast<void*>(address));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return give(data, on_device ? known.mapping->buffer_id : known.host->id);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return give(data, on_device ? known.mapping->block->id : known.host->id);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give(data, on_device ? known.mapping->block->device : known.host->device);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return give_access(call, known, data);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return give(data,
                  static_cast<std::size_t>(on_device ? known.mapping->size : known.host->size));
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return give(data,
                  static_cast<CUdeviceptr>(on_device ? known.mapping->start : known.host->start));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return give(data, !on_device && known.host->managed);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return give(data, on_device ? known.mapping->sync_memops : known.host->sync_memops);
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return give(data, false);  // features that the stand-in does not have
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return give(data, on_device && known.mapping->kind == Mapping::Kind::allocation);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return give(data, static_cast<unsigned long long>(
                            on_device ? known.mapping->block->handle_types : 0U));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return give(data, to_handle<CUmemoryPool>(on_device ? known.mapping->pool : 0));
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

Known look_up(Call& call, CUdeviceptr address) {
  return {call.machine.pages.find_living(address),
          call.machine.virtual_memory.reservation_of(address), call.machine.host.find(address)};
}

// The size of an attribute's value; 0 for one that cannot be asked for.
std::size_t size_of(CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return sizeof(int);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return sizeof(bool);
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return sizeof(std::uint64_t);
    default:
      return 0;
  }
}

}  // namespace

CUresult pointer_attribute(Call& call, CUpointer_attribute attribute, CUdeviceptr address,
                           void* data) {
  if (data == nullptr || size_of(attribute) == 0) return CUDA_ERROR_INVALID_VALUE;
  const Known known = look_up(call, address);
  if (!known.anything()) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return give(data, known.has_memory());
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return give_range(known, false, data);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return give_range(known, true, data);
    default:
      return known.has_memory() ? memory_attribute(call, known, attribute, address, data)
                                : CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult set_pointer_attribute(Call& call, CUpointer_attribute attribute, CUdeviceptr address,
                               const void* value) {
  if (value == nullptr || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
    return CUDA_ERROR_INVALID_VALUE;
  unsigned on = 0;
  std::memcpy(&on, value, sizeof on);
  Machine& machine = call.machine;
  if (!look_up(call, address).has_memory()) return CUDA_ERROR_INVALID_VALUE;
  // Those that are queued must have ended when the call returns.
  if (on != 0) machine.engine.finish(call.lock, *call.context->streams);
  if (Mapping* const mapping = machine.pages.find_living(address)) {
    mapping->sync_memops = on != 0;
  } else if (machine.host.find(address) != nullptr) {
    machine.host.set_sync_memops(address, on != 0);
  } else {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

bool has_sync_memops(Machine& machine, std::uint64_t address) {
  const Mapping* const mapping = machine.pages.find(address);
  return mapping != nullptr && mapping->sync_memops;
}

CUresult pointer_attribute_or_default(Call& call, CUpointer_attribute attribute,
                                      CUdeviceptr address, void* data) {
  const std::size_t size = size_of(attribute);
  if (data == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
  if (pointer_attribute(call, attribute, address, data) != CUDA_SUCCESS) std::memset(data, 0, size);
  return CUDA_SUCCESS;
}

}  // namespace ferry::sim
