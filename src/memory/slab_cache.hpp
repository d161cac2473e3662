// SPDX-License-Identifier: Apache-2.0
// The slabs of one heap: stretches cut into equal blocks, so that small blocks never pin memory
// that a large one needs. Pure bookkeeping: where a slab's memory comes from is the owner's
// business.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "memory/segment.hpp"
#include "memory/size_class.hpp"

namespace ferry {

using SlabId = std::uint32_t;
inline constexpr SlabId kNoSlab = ~SlabId{0};

// Where a slab's memory lies: a live block of one of the heap's spaces.
struct SlabHome {
  std::uint32_t space = 0;
  BlockId block = kNoBlock;
  DeviceAddress base;
};

struct SlabSlot {
  SlabId slab = kNoSlab;
  unsigned index = 0;
};

class SlabCache {
 public:
  SlabCache() { available_.fill(kNoSlab); }

  // A free block of the class; nothing when every slab of it is full.
  [[nodiscard]] std::optional<SlabSlot> take(std::size_t size_class);

  // Adds an empty slab of slab_bytes(size_class) bytes.
  void add(std::size_t size_class, const SlabHome& home);

  // Frees a block. Requires: it is taken.
  void put_back(SlabSlot slot);

  // Removes one slab without taken blocks, and says where its memory lies. With `keep_spares`, only
  // a slab whose class has another one with free blocks, so that a class in use keeps one at hand.
  [[nodiscard]] std::optional<SlabHome> remove_empty(std::size_t size_class, bool keep_spares);

  [[nodiscard]] DeviceAddress address_of(SlabSlot slot) const;
  [[nodiscard]] std::size_t class_of_slab(SlabId slab) const { return slabs_[slab].size_class; }
  [[nodiscard]] bool is_taken(SlabSlot slot) const;
  [[nodiscard]] std::uint64_t free_bytes() const;  // in all slabs
  [[nodiscard]] std::size_t slab_count() const { return slabs_.size() - unused_.size(); }

 private:
  struct Slab {
    SlabHome home;
    std::uint64_t free_blocks = 0;  // one bit a block
    std::size_t size_class = 0;
    SlabId prev = kNoSlab;  // neighbours among the slabs of the class that have free blocks
    SlabId next = kNoSlab;
  };

  void link(SlabId id);
  void unlink(SlabId id);

  std::vector<Slab> slabs_;
  std::vector<SlabId> unused_;
  std::array<SlabId, kSizeClasses> available_;
};

}  // namespace ferry
