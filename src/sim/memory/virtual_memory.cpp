// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/virtual_memory.hpp"

#include <algorithm>

#include "base/bytes.hpp"

namespace ferry::sim {

namespace {

constexpr std::uint64_t kHostPage = 4096;

// Far from small integers, so that an index or an ordinal passed by mistake is no handle.
CUmemGenericAllocationHandle handle_of(const PhysicalBlock& block) {
  return (std::uint64_t{0x5e} << 40) + block.id * 16;
}

}  // namespace

CUresult VirtualMemory::check_device(const CUmemLocation& location) const {
  if (location.type == CU_MEM_LOCATION_TYPE_INVALID) return CUDA_ERROR_INVALID_VALUE;
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  return location.id >= 0 && location.id < devices_ ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult VirtualMemory::check_prop(const CUmemAllocationProp* prop) const {
  if (prop == nullptr || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
    return CUDA_ERROR_INVALID_VALUE;
  if (prop->win32HandleMetaData != nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = check_device(prop->location); result != CUDA_SUCCESS) return result;
  const unsigned char rdma = prop->allocFlags.gpuDirectRDMACapable;
  const unsigned other_types =
      prop->requestedHandleTypes & ~unsigned{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
  // What the device attributes deny: other ways of export, RDMA, tile pools. Compression is only a
  // hint.
  const bool wanted_more =
      other_types != 0 || (rdma != 0 && limits_.rdma == Rdma::off) || prop->allocFlags.usage != 0;
  return wanted_more ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

CUresult VirtualMemory::granularity(std::size_t* out, const CUmemAllocationProp* prop,
                                    CUmemAllocationGranularity_flags option) const {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
      option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (const CUresult result = check_prop(prop); result != CUDA_SUCCESS) return result;
  *out = limits_.granularity.count;
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::reserve(CUdeviceptr* out, std::uint64_t size, std::uint64_t alignment,
                                CUdeviceptr hint, unsigned long long flags) {
  if (out == nullptr || size == 0 || size % kHostPage != 0 || hint % kHostPage != 0 || flags != 0 ||
      (alignment != 0 && !is_power_of_two(alignment))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (limits_.reserve_total &&
      (size > limits_.reserve_total->count || reserved_ > limits_.reserve_total->count - size)) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const std::optional<std::uint64_t> start =
      addresses_.take(size, std::max(alignment, limits_.granularity.count), hint);
  if (!start) return CUDA_ERROR_OUT_OF_MEMORY;
  reserved_ += size;
  reservations_.emplace(*start, Reservation{*start, size});
  *out = *start;
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::free_reservation(CUdeviceptr address, std::uint64_t size) {
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second.size != size) return CUDA_ERROR_INVALID_VALUE;
  if (pages_.any_in(address, size)) return CUDA_ERROR_INVALID_VALUE;
  addresses_.give(address, size);
  reserved_ -= size;
  reservations_.erase(found);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::create(CUmemGenericAllocationHandle* out, std::uint64_t size,
                               const CUmemAllocationProp* prop, unsigned long long flags) {
  if (out == nullptr || size == 0 || !is_granular(size) || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = check_prop(prop); result != CUDA_SUCCESS) return result;
  std::shared_ptr<PhysicalBlock> block = physical_.create(prop->location.id, size);
  if (!block) return CUDA_ERROR_OUT_OF_MEMORY;
  block->rdma = prop->allocFlags.gpuDirectRDMACapable != 0;
  block->handle_types = prop->requestedHandleTypes;
  *out = handle_of(*block);
  handles_.emplace(*out, Handle{std::move(block), 1});
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::release(CUmemGenericAllocationHandle handle) {
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return CUDA_ERROR_INVALID_VALUE;
  if (--found->second.references == 0) handles_.erase(found);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::retain(CUmemGenericAllocationHandle* out, CUdeviceptr address) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Mapping* const mapping = pages_.find(address);
  if (mapping == nullptr || mapping->kind != Mapping::Kind::virtual_memory)
    return CUDA_ERROR_INVALID_VALUE;
  *out = refer_to(mapping->block);
  return CUDA_SUCCESS;
}

CUmemGenericAllocationHandle VirtualMemory::refer_to(const std::shared_ptr<PhysicalBlock>& block) {
  const CUmemGenericAllocationHandle handle = handle_of(*block);
  ++handles_.try_emplace(handle, Handle{block, 0}).first->second.references;
  return handle;
}

std::shared_ptr<PhysicalBlock> VirtualMemory::block_of(CUmemGenericAllocationHandle handle) const {
  const auto found = handles_.find(handle);
  return found == handles_.end() ? nullptr : found->second.block;
}

CUresult VirtualMemory::properties(CUmemAllocationProp* out,
                                   CUmemGenericAllocationHandle handle) const {
  const auto found = handles_.find(handle);
  if (out == nullptr || found == handles_.end()) return CUDA_ERROR_INVALID_VALUE;
  *out = CUmemAllocationProp{};
  out->type = CU_MEM_ALLOCATION_TYPE_PINNED;
  out->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  out->location.id = found->second.block->device;
  out->requestedHandleTypes =
      static_cast<CUmemAllocationHandleType>(found->second.block->handle_types);
  out->allocFlags.gpuDirectRDMACapable = found->second.block->rdma ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::map(CUdeviceptr address, std::uint64_t size, std::uint64_t offset,
                            CUmemGenericAllocationHandle handle, unsigned long long flags) {
  if (size == 0 || !is_granular(address) || !is_granular(size) || offset != 0 || flags != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto found = handles_.find(handle);
  if (found == handles_.end() || size > found->second.block->size) return CUDA_ERROR_INVALID_VALUE;
  const Reservation* const reservation = reservation_of(address);
  if (reservation == nullptr || size > reservation->start + reservation->size - address) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (pages_.any_in(address, size)) return CUDA_ERROR_INVALID_VALUE;
  Mapping mapping;
  mapping.start = address;
  mapping.size = size;
  mapping.block = found->second.block;
  pages_.add(std::move(mapping));
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::unmap(CUdeviceptr address, std::uint64_t size) {
  if (reservation_of(address) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const PageTable::Run run = pages_.whole_mappings(address, size);
  if (run.empty()) return CUDA_ERROR_INVALID_VALUE;
  pages_.remove(run.first, run.last);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::set_access(CUdeviceptr address, std::uint64_t size,
                                   const CUmemAccessDesc* descriptions, std::size_t count) {
  if (descriptions == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    const CUmemAccess_flags flags = descriptions[i].flags;
    if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (const CUresult result = check_device(descriptions[i].location); result != CUDA_SUCCESS)
      return result;
  }
  if (reservation_of(address) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const PageTable::Run run = pages_.whole_mappings(address, size);
  if (run.empty()) return CUDA_ERROR_INVALID_VALUE;
  for (auto mapping = run.first; mapping != run.last; ++mapping) {
    if (mapping->second.block->rdma && limits_.rdma == Rdma::refused) return CUDA_ERROR_UNKNOWN;
  }
  for (auto mapping = run.first; mapping != run.last; ++mapping) {
    ++access_changes_;
    for (std::size_t i = 0; i < count; ++i) {
      mapping->second.rights.set(descriptions[i].location.id,
                                 static_cast<Access>(descriptions[i].flags));
    }
  }
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::get_access(unsigned long long* out, const CUmemLocation* location,
                                   CUdeviceptr address) const {
  if (out == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = check_device(*location); result != CUDA_SUCCESS) return result;
  const Mapping* const mapping = pages_.find(address);
  if (mapping == nullptr || mapping->kind != Mapping::Kind::virtual_memory)
    return CUDA_ERROR_INVALID_VALUE;
  *out = static_cast<unsigned long long>(mapping->rights.of(location->id));
  return CUDA_SUCCESS;
}

const VirtualMemory::Reservation* VirtualMemory::reservation_of(std::uint64_t address) const {
  auto found = reservations_.upper_bound(address);
  if (found == reservations_.begin()) return nullptr;
  --found;
  const Reservation& reservation = found->second;
  return address - reservation.start < reservation.size ? &reservation : nullptr;
}

}  // namespace ferry::sim
