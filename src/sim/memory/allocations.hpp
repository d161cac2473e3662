// SPDX-License-Identifier: Apache-2.0
// Plain device memory: cuMemAlloc and cuMemFree, and the variables of modules. Physical memory is
// taken in steps of 2 MiB; requests of up to 1 MiB share a step, as the real driver packs them.
// Every allocation keeps the exact size that was asked for: a copy that runs past it fails even
// where real memory would go on.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sim/memory/address_space.hpp"
#include "sim/memory/page_table.hpp"
#include "sim/memory/physical_memory.hpp"
#include "sim/memory/range_allocator.hpp"

namespace ferry::sim {

class Allocations {
 public:
  Allocations(AddressSpace& addresses, PhysicalMemory& physical, PageTable& pages)
      : addresses_(addresses), physical_(physical), pages_(pages) {}

  // Small allocations' addresses are handed out again at once. Those of large ones are the address
  // space's to give.
  void set_reuse_at_once(bool at_once);

  // Memory of `device` owned by a context. Nothing when memory or addresses are used up.
  // Requires: bytes > 0.
  [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t context, int device,
                                                      std::uint64_t bytes);
  // False when no allocation starts at `address`.
  [[nodiscard]] bool free(std::uint64_t address);
  void free_all_of(std::uint64_t context);

 private:
  // 2 MiB cut into small allocations of one context.
  struct Shared {
    Shared(std::uint64_t owner, std::uint64_t address, std::shared_ptr<PhysicalBlock> memory)
        : context(owner), start(address), block(std::move(memory)), free(0, kFrameBytes) {}

    std::uint64_t context;
    std::uint64_t start;
    std::shared_ptr<PhysicalBlock> block;
    RangeAllocator free;  // offsets
  };

  [[nodiscard]] std::optional<std::uint64_t> allocate_shared(std::uint64_t context, int device,
                                                             std::uint64_t bytes);
  [[nodiscard]] std::optional<std::uint64_t> place(Shared& shared, std::uint64_t bytes);
  void add_mapping(std::uint64_t context, std::uint64_t start, std::uint64_t size,
                   std::shared_ptr<PhysicalBlock> block, std::uint64_t offset);

  AddressSpace& addresses_;
  PhysicalMemory& physical_;
  PageTable& pages_;
  std::map<std::uint64_t, Shared> shared_;  // by start address
  bool reuse_at_once_ = false;
};

}  // namespace ferry::sim
