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
  SlabCache() {
    partial_.fill(kNoSlab);
    empty_.fill(kNoSlab);
  }

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
  // Whether the address lies in a slab, but not where one of its blocks starts. Linear.
  [[nodiscard]] bool is_inside_block(DeviceAddress address) const;
  [[nodiscard]] std::uint64_t free_bytes() const;  // in all slabs
  [[nodiscard]] std::size_t slab_count() const { return slabs_.size() - unused_.size(); }

 private:
  struct Slab {
    SlabHome home;
    std::uint64_t free_blocks = 0;  // one bit a block
    std::size_t size_class = 0;
    SlabId prev = kNoSlab;  // neighbours in the list that it is in
    SlabId next = kNoSlab;
  };

  using Lists = std::array<SlabId, kSizeClasses>;  // the first slab of each class

  [[nodiscard]] Lists* list_of(const Slab& slab);
  void set_free_blocks(SlabId id, std::uint64_t free_blocks);
  void link(Lists& list, SlabId id);
  void unlink(Lists& list, SlabId id);

  std::vector<Slab> slabs_;
  std::vector<SlabId> unused_;
  Lists partial_;  // slabs with free and taken blocks
  Lists empty_;    // slabs without taken blocks
};

}  // namespace ferry
