// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/sharing.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>

namespace ferry::sim {

int descriptor_in(const void* os_handle) {
  const auto value = reinterpret_cast<std::intptr_t>(os_handle);
  return value < 0 || value > std::numeric_limits<int>::max() ? -1 : static_cast<int>(value);
}

SharedDescription describe_memory(const Machine& machine, int device) {
  SharedDescription description;
  description.device = machine.physical_index(device);
  description.with_data = machine.physical.with_data() ? 1 : 0;
  return description;
}

CUresult check_handle_type(unsigned type) {
  switch (type) {
    case CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR:
      return CUDA_SUCCESS;
    case CU_MEM_HANDLE_TYPE_WIN32:
    case CU_MEM_HANDLE_TYPE_WIN32_KMT:
    case CU_MEM_HANDLE_TYPE_FABRIC:
      return CUDA_ERROR_NOT_SUPPORTED;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

std::optional<int> ordinal_of(const Machine& machine, int physical_index) {
  const auto found = std::ranges::find(machine.visible, physical_index);
  if (found == machine.visible.end()) return std::nullopt;
  return static_cast<int>(found - machine.visible.begin());
}

bool make_shareable(Machine& machine, const std::shared_ptr<PhysicalBlock>& block,
                    SharedKind kind) {
  if (block->shared() != nullptr) return true;
  SharedDescription description = describe_memory(machine, block->device);
  description.kind = kind;
  description.rdma = block->rdma ? 1 : 0;
  description.size = block->size;
  auto memory = SharedMemory::create(description);
  return memory && machine.physical.share(block, std::move(memory), 0);
}

CUresult check_usable(const Machine& machine, const SharedDescription& description, int& device) {
  const std::optional<int> ordinal = ordinal_of(machine, description.device);
  if (!ordinal || machine.physical.with_data() != (description.with_data != 0))
    return CUDA_ERROR_NOT_SUPPORTED;
  device = *ordinal;
  return CUDA_SUCCESS;
}

CUresult open_file_of(const IpcHandle& handle, std::string_view function,
                      std::shared_ptr<SealedFile>& out) {
  if (handle.process == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
  SealedFile::Opening what{};
  out = SealedFile::open_of(handle.process, handle.descriptor, handle.file, handle.kind, what);
  if (what == SealedFile::Opening::refused) {
    fmt::print(stderr,
               "ferry-sim: {}: the system lets nobody see what process {} has open; it must have "
               "the same user\n",
               function, handle.process);
    return CUDA_ERROR_MAP_FAILED;
  }
  return out == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult export_memory(Machine& machine, void* out, CUmemGenericAllocationHandle handle,
                       unsigned type, unsigned long long flags) {
  const std::shared_ptr<PhysicalBlock> block = machine.virtual_memory.block_of(handle);
  if (out == nullptr || block == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = check_handle_type(type); result != CUDA_SUCCESS) return result;
  if ((block->handle_types & type) == 0) return CUDA_ERROR_INVALID_VALUE;
  if (!make_shareable(machine, block, SharedKind::created)) return CUDA_ERROR_OUT_OF_MEMORY;
  const int descriptor = block->shared()->memory().file().give_descriptor();
  if (descriptor < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  std::memcpy(out, &descriptor, sizeof descriptor);
  return CUDA_SUCCESS;
}

CUresult import_memory(Machine& machine, CUmemGenericAllocationHandle* out, void* os_handle,
                       unsigned type) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = check_handle_type(type); result != CUDA_SUCCESS) return result;
  auto memory = SharedMemory::open(SealedFile::open(descriptor_in(os_handle), SharedKind::created));
  if (!memory) return CUDA_ERROR_INVALID_VALUE;
  int device = 0;
  const CUresult usable = check_usable(machine, memory->description(), device);
  if (usable != CUDA_SUCCESS) return usable;
  const std::uint64_t size = memory->size();
  if (size % machine.limits().granularity.count != 0) return CUDA_ERROR_NOT_SUPPORTED;
  const std::shared_ptr<PhysicalBlock> block =
      machine.physical.adopt(std::move(memory), 0, size, device);
  block->handle_types |= type;
  *out = machine.virtual_memory.refer_to(block);
  return CUDA_SUCCESS;
}

}  // namespace ferry::sim
