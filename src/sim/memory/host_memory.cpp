// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/host_memory.hpp"

#include <sys/mman.h>

#include "base/bytes.hpp"

namespace ferry::sim {

namespace {

constexpr std::uint64_t kHostPage = 4096;
constexpr unsigned kAllocFlags =
    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
constexpr unsigned kRegisterFlags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                                    CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
// The device attributes say that these are not supported.
constexpr unsigned kUnsupportedRegisterFlags =
    CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

// True when every page of the range is mapped in this process.
bool is_mapped(std::uint64_t start, std::uint64_t size) {
  const std::uint64_t first = align_down(start, kHostPage);
  const std::uint64_t last = align_up(start + size, kHostPage);
  // Nothing is written back from memory without a file; the call is the cheapest way to ask the
  // kernel.
  return msync(reinterpret_cast<void*>(first), last - first, MS_ASYNC) == 0;
}

}  // namespace

HostMemory::~HostMemory() {
  while (!ranges_.empty()) remove(ranges_.begin());
}

void HostMemory::add(const HostRange& range) {
  ranges_.emplace(range.start, range);
  bytes_ += range.size;
  if (!range.allocated) registered_ += range.size;
}

void HostMemory::remove(Ranges::iterator range) {
  const HostRange& gone = range->second;
  bytes_ -= gone.size;
  nodes_.forget(gone.start, gone.size);
  if (gone.managed) advice_.forget(gone.start, gone.size);
  if (gone.allocated) {
    munmap(reinterpret_cast<void*>(gone.start), align_up(gone.size, kHostPage));
  } else {
    registered_ -= gone.size;
  }
  ranges_.erase(range);
}

CUresult HostMemory::add_new(void** out, HostRange range) {
  if (out == nullptr || range.size == 0 || (range.flags & ~kAllocFlags) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (range.size > std::uint64_t{1} << 47) return CUDA_ERROR_OUT_OF_MEMORY;
  // Managed memory may be as large as a device's, whatever this machine has: pages are taken when
  // they are touched.
  const int lazily = range.managed ? MAP_NORESERVE : 0;
  void* const memory = mmap(nullptr, align_up(range.size, kHostPage), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | lazily, -1, 0);
  if (memory == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  range.start = address_of(memory);
  range.id = next_id_++;
  range.allocated = true;
  add(range);
  *out = memory;
  return CUDA_SUCCESS;
}

CUresult HostMemory::allocate(void** out, std::uint64_t bytes, unsigned flags,
                              std::uint64_t context, int device) {
  HostRange range;
  range.size = bytes;
  range.context = context;
  range.flags = flags;
  range.device = device;
  return add_new(out, range);
}

CUresult HostMemory::allocate_managed(void** out, std::uint64_t bytes, std::uint64_t context,
                                      int device, bool of_module) {
  HostRange range;
  range.size = bytes;
  range.context = context;
  range.device = device;
  range.managed = true;
  range.of_module = of_module;
  return add_new(out, range);
}

CUresult HostMemory::free(void* pointer, bool managed) {
  const auto found = ranges_.find(address_of(pointer));
  if (found == ranges_.end() || !found->second.allocated || found->second.managed != managed)
    return CUDA_ERROR_INVALID_VALUE;
  remove(found);
  return CUDA_SUCCESS;
}

CUresult HostMemory::register_range(void* pointer, std::uint64_t bytes, unsigned flags,
                                    std::uint64_t context, int device) {
  const std::uint64_t start = address_of(pointer);
  if (pointer == nullptr || bytes == 0 || (flags & ~kRegisterFlags) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if ((flags & kUnsupportedRegisterFlags) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  if (bytes > std::uint64_t{1} << 47 || start + bytes < start) return CUDA_ERROR_INVALID_VALUE;
  const auto next = ranges_.lower_bound(start);
  if (find(start) != nullptr || (next != ranges_.end() && next->first - start < bytes)) {
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  }
  if (!is_mapped(start, bytes)) return CUDA_ERROR_INVALID_VALUE;
  if ((register_call_ && bytes > register_call_->count) ||
      (register_total_ && registered_ + bytes > register_total_->count)) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  add(HostRange{start, bytes, context, next_id_++, flags, device, false});
  return CUDA_SUCCESS;
}

CUresult HostMemory::unregister(void* pointer) {
  if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto found = ranges_.find(address_of(pointer));
  if (found == ranges_.end() || found->second.allocated)
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  remove(found);
  return CUDA_SUCCESS;
}

void HostMemory::forget_all_of(std::uint64_t context) {
  for (auto range = ranges_.begin(); range != ranges_.end();) {
    const auto next = std::next(range);
    if (range->second.context == context) remove(range);
    range = next;
  }
}

const HostRange* HostMemory::find(std::uint64_t address) const {
  auto found = ranges_.upper_bound(address);
  if (found == ranges_.begin()) return nullptr;
  --found;
  return address - found->second.start < found->second.size ? &found->second : nullptr;
}

bool HostMemory::covers(std::uint64_t address, std::uint64_t bytes) const {
  while (bytes > 0) {
    const HostRange* const range = find(address);
    if (range == nullptr) return false;
    const std::uint64_t step = std::min(bytes, range->start + range->size - address);
    address += step;
    bytes -= step;
  }
  return true;
}

}  // namespace ferry::sim
