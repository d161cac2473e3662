// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/pool_sharing.hpp"

#include <cstring>

#include "sim/machine/ipc_handle.hpp"
#include "sim/machine/sharing.hpp"

namespace ferry::sim {

CUresult export_pool(Machine& machine, void* out, CUmemoryPool handle, unsigned type,
                     unsigned long long flags) {
  MemoryPool* const pool = machine.pools.find(value_of(handle));
  if (out == nullptr || pool == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = check_handle_type(type); result != CUDA_SUCCESS) return result;
  if ((pool->handle_types & type) == 0 || pool->imported) return CUDA_ERROR_INVALID_VALUE;
  if (!machine.pools.share(*pool, describe_memory(machine, pool->device)))
    return CUDA_ERROR_OUT_OF_MEMORY;
  const int descriptor = pool->shared->file().give_descriptor();
  if (descriptor < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  std::memcpy(out, &descriptor, sizeof descriptor);
  return CUDA_SUCCESS;
}

CUresult import_pool(Machine& machine, CUmemoryPool* out, void* os_handle, unsigned type,
                     unsigned long long flags) {
  if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = check_handle_type(type); result != CUDA_SUCCESS) return result;
  auto shared = SharedMemory::open(SealedFile::open(descriptor_in(os_handle), SharedKind::pool));
  if (!shared) return CUDA_ERROR_INVALID_VALUE;
  int device = 0;
  const CUresult usable = check_usable(machine, shared->description(), device);
  if (usable != CUDA_SUCCESS) return usable;
  *out = to_handle<CUmemoryPool>(machine.pools.import_pool(std::move(shared), device, type).handle);
  return CUDA_SUCCESS;
}

CUresult export_pool_memory(Machine& machine, void* out, CUdeviceptr address) {
  Mapping* const mapping = machine.pages.find_living(address);
  if (out == nullptr || mapping == nullptr || mapping->start != address ||
      mapping->kind != Mapping::Kind::pool_allocation) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // The pool must have been shared before.
  if (mapping->block->shared() == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto offer = machine.physical.offer(*mapping->block, mapping->offset, mapping->size);
  if (!offer) return CUDA_ERROR_OUT_OF_MEMORY;
  const FileId& file = mapping->block->shared()->memory().file().id();
  write_ipc_handle({SharedKind::pool, 0, 0, file, *offer}, out);
  return CUDA_SUCCESS;
}

CUresult import_pool_memory(Machine& machine, CUdeviceptr* out, CUmemoryPool handle,
                            const void* data) {
  MemoryPool* const pool = machine.pools.find(value_of(handle));
  if (out == nullptr || data == nullptr || pool == nullptr || !pool->imported)
    return CUDA_ERROR_INVALID_VALUE;
  const auto said = read_ipc_handle(data, SharedKind::pool);
  if (!said || said->file != pool->shared->file().id()) return CUDA_ERROR_INVALID_VALUE;
  const auto offer = pool->shared->find(said->offer);
  if (!offer) return CUDA_ERROR_INVALID_VALUE;
  const auto address = machine.pools.import_memory(*pool, *offer);
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  *out = *address;
  return CUDA_SUCCESS;
}

}  // namespace ferry::sim
