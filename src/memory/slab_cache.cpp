// SPDX-License-Identifier: Apache-2.0
#include "memory/slab_cache.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace ferry {

namespace {

constexpr std::uint64_t all_free(std::size_t size_class) {
  return ~std::uint64_t{0} >> (64 - blocks_per_slab(size_class));
}

}  // namespace

std::optional<SlabSlot> SlabCache::take(std::size_t size_class) {
  const SlabId id = partial_[size_class] != kNoSlab ? partial_[size_class] : empty_[size_class];
  if (id == kNoSlab) return std::nullopt;
  const Slab& slab = slabs_[id];
  const auto index = static_cast<unsigned>(std::countr_zero(slab.free_blocks));
  set_free_blocks(id, slab.free_blocks & (slab.free_blocks - 1));
  return SlabSlot{id, index};
}

void SlabCache::add(std::size_t size_class, const SlabHome& home) {
  SlabId id;
  if (unused_.empty()) {
    id = static_cast<SlabId>(slabs_.size());
    slabs_.emplace_back();
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  slabs_[id] = Slab{.home = home, .size_class = size_class};
  set_free_blocks(id, all_free(size_class));
}

void SlabCache::put_back(SlabSlot slot) {
  const Slab& slab = slabs_[slot.slab];
  set_free_blocks(slot.slab, slab.free_blocks | std::uint64_t{1} << slot.index);
}

std::optional<SlabHome> SlabCache::remove_empty(std::size_t size_class, bool keep_spares) {
  const SlabId id = empty_[size_class];
  if (id == kNoSlab) return std::nullopt;
  const bool another = partial_[size_class] != kNoSlab || slabs_[id].next != kNoSlab;
  if (keep_spares && !another) return std::nullopt;
  set_free_blocks(id, 0);
  unused_.push_back(id);
  return std::exchange(slabs_[id].home, SlabHome{});
}

DeviceAddress SlabCache::address_of(SlabSlot slot) const {
  const Slab& slab = slabs_[slot.slab];
  return slab.home.base + Bytes{slot.index * kClassSizes[slab.size_class]};
}

bool SlabCache::is_taken(SlabSlot slot) const {
  return (slabs_[slot.slab].free_blocks >> slot.index & 1) == 0;
}

bool SlabCache::is_inside_block(DeviceAddress address) const {
  return std::any_of(slabs_.begin(), slabs_.end(), [&](const Slab& slab) {
    if (slab.home.block == kNoBlock || address < slab.home.base) return false;
    const std::uint64_t offset = (address - slab.home.base).count;
    return offset < slab_bytes(slab.size_class) && offset % kClassSizes[slab.size_class] != 0;
  });
}

std::uint64_t SlabCache::free_bytes() const {
  std::uint64_t bytes = 0;
  for (const Slab& slab : slabs_) {
    bytes +=
        static_cast<std::uint64_t>(std::popcount(slab.free_blocks)) * kClassSizes[slab.size_class];
  }
  return bytes;
}

// Full slabs are in no list.
SlabCache::Lists* SlabCache::list_of(const Slab& slab) {
  if (slab.free_blocks == 0) return nullptr;
  return slab.free_blocks == all_free(slab.size_class) ? &empty_ : &partial_;
}

void SlabCache::set_free_blocks(SlabId id, std::uint64_t free_blocks) {
  Slab& slab = slabs_[id];
  Lists* const before = list_of(slab);
  slab.free_blocks = free_blocks;
  Lists* const after = list_of(slab);
  if (before == after) return;
  if (before != nullptr) unlink(*before, id);
  if (after != nullptr) link(*after, id);
}

void SlabCache::link(Lists& list, SlabId id) {
  Slab& slab = slabs_[id];
  SlabId& first = list[slab.size_class];
  slab.prev = kNoSlab;
  slab.next = first;
  if (first != kNoSlab) slabs_[first].prev = id;
  first = id;
}

void SlabCache::unlink(Lists& list, SlabId id) {
  Slab& slab = slabs_[id];
  (slab.prev == kNoSlab ? list[slab.size_class] : slabs_[slab.prev].next) = slab.next;
  if (slab.next != kNoSlab) slabs_[slab.next].prev = slab.prev;
  slab.prev = slab.next = kNoSlab;
}

}  // namespace ferry
