// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: reservations, physical handles and mappings, with the rules of cuda.h
// enforced as errors. Belongs to no context. Requires: the parts it is built on outlive it.
//
// None of these calls waits for queued work. Work that is still queued when its memory is unmapped
// meets an address that leads nowhere, and fails.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>

#include "sim/memory/address_space.hpp"
#include "sim/memory/page_table.hpp"
#include "sim/memory/physical_memory.hpp"
#include "sim/words/cuda_api.hpp"
#include "sim/words/machine_limits.hpp"

namespace ferry::sim {

class VirtualMemory {
 public:
  VirtualMemory(AddressSpace& addresses, PhysicalMemory& physical, PageTable& pages, int devices)
      : addresses_(addresses), physical_(physical), pages_(pages), devices_(devices) {}

  void set_limits(const MachineLimits& limits) { limits_ = limits; }

  [[nodiscard]] CUresult granularity(std::size_t* out, const CUmemAllocationProp* prop,
                                     CUmemAllocationGranularity_flags option) const;
  [[nodiscard]] CUresult reserve(CUdeviceptr* out, std::uint64_t size, std::uint64_t alignment,
                                 CUdeviceptr hint, unsigned long long flags);
  [[nodiscard]] CUresult free_reservation(CUdeviceptr address, std::uint64_t size);
  [[nodiscard]] CUresult create(CUmemGenericAllocationHandle* out, std::uint64_t size,
                                const CUmemAllocationProp* prop, unsigned long long flags);
  [[nodiscard]] CUresult release(CUmemGenericAllocationHandle handle);
  [[nodiscard]] CUresult retain(CUmemGenericAllocationHandle* out, CUdeviceptr address);
  [[nodiscard]] CUresult properties(CUmemAllocationProp* out,
                                    CUmemGenericAllocationHandle handle) const;
  [[nodiscard]] CUresult map(CUdeviceptr address, std::uint64_t size, std::uint64_t offset,
                             CUmemGenericAllocationHandle handle, unsigned long long flags);
  [[nodiscard]] CUresult unmap(CUdeviceptr address, std::uint64_t size);
  [[nodiscard]] CUresult set_access(CUdeviceptr address, std::uint64_t size,
                                    const CUmemAccessDesc* descriptions, std::size_t count);
  [[nodiscard]] CUresult get_access(unsigned long long* out, const CUmemLocation* location,
                                    CUdeviceptr address) const;

  // One more reference to a block, by the handle that it has or a new one.
  [[nodiscard]] CUmemGenericAllocationHandle refer_to(const std::shared_ptr<PhysicalBlock>& block);
  // Null for a handle of nothing.
  [[nodiscard]] std::shared_ptr<PhysicalBlock> block_of(CUmemGenericAllocationHandle handle) const;

  struct Reservation {
    std::uint64_t start = 0;
    std::uint64_t size = 0;
  };
  // The reservation that contains an address, or null.
  [[nodiscard]] const Reservation* reservation_of(std::uint64_t address) const;

  // How many mappings' rights were set so far, each as often as it was.
  [[nodiscard]] std::uint64_t access_changes() const { return access_changes_; }

 private:
  struct Handle {
    std::shared_ptr<PhysicalBlock> block;
    unsigned references = 0;  // never 0 in the table: a handle without references is no handle
  };

  [[nodiscard]] bool is_granular(std::uint64_t value) const {
    return value % limits_.granularity.count == 0;
  }
  [[nodiscard]] CUresult check_prop(const CUmemAllocationProp* prop) const;
  [[nodiscard]] CUresult check_device(const CUmemLocation& location) const;

  AddressSpace& addresses_;
  PhysicalMemory& physical_;
  PageTable& pages_;
  int devices_;
  MachineLimits limits_;
  std::uint64_t reserved_ = 0;  // bytes of addresses
  std::uint64_t access_changes_ = 0;
  std::map<std::uint64_t, Reservation> reservations_;  // by start
  std::unordered_map<CUmemGenericAllocationHandle, Handle> handles_;
};

}  // namespace ferry::sim
