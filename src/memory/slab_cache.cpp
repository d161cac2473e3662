// SPDX-License-Identifier: Apache-2.0
#include "memory/slab_cache.hpp"

#include <bit>

namespace ferry {

namespace {

constexpr std::uint64_t all_free(std::size_t size_class) {
  return ~std::uint64_t{0} >> (64 - blocks_per_slab(size_class));
}

}  // namespace

std::optional<SlabSlot> SlabCache::take(std::size_t size_class) {
  const SlabId id = available_[size_class];
  if (id == kNoSlab) return std::nullopt;
  Slab& slab = slabs_[id];
  const auto index = static_cast<unsigned>(std::countr_zero(slab.free_blocks));
  slab.free_blocks &= slab.free_blocks - 1;
  if (slab.free_blocks == 0) unlink(id);
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
  slabs_[id] = Slab{.home = home, .free_blocks = all_free(size_class), .size_class = size_class};
  link(id);
}

void SlabCache::put_back(SlabSlot slot) {
  Slab& slab = slabs_[slot.slab];
  const bool was_full = slab.free_blocks == 0;
  slab.free_blocks |= std::uint64_t{1} << slot.index;
  if (was_full) link(slot.slab);
}

std::optional<SlabHome> SlabCache::remove_empty(std::size_t size_class, bool keep_spares) {
  const SlabId first = available_[size_class];
  if (first == kNoSlab || (keep_spares && slabs_[first].next == kNoSlab)) return std::nullopt;
  for (SlabId id = first; id != kNoSlab; id = slabs_[id].next) {
    if (slabs_[id].free_blocks != all_free(size_class)) continue;
    unlink(id);
    unused_.push_back(id);
    const SlabHome home = slabs_[id].home;
    slabs_[id].home = SlabHome{};
    slabs_[id].free_blocks = 0;
    return home;
  }
  return std::nullopt;
}

DeviceAddress SlabCache::address_of(SlabSlot slot) const {
  const Slab& slab = slabs_[slot.slab];
  return slab.home.base + Bytes{slot.index * kClassSizes[slab.size_class]};
}

bool SlabCache::is_taken(SlabSlot slot) const {
  return (slabs_[slot.slab].free_blocks >> slot.index & 1) == 0;
}

std::uint64_t SlabCache::free_bytes() const {
  std::uint64_t bytes = 0;
  for (const Slab& slab : slabs_) {
    bytes +=
        static_cast<std::uint64_t>(std::popcount(slab.free_blocks)) * kClassSizes[slab.size_class];
  }
  return bytes;
}

void SlabCache::link(SlabId id) {
  Slab& slab = slabs_[id];
  slab.prev = kNoSlab;
  slab.next = available_[slab.size_class];
  if (slab.next != kNoSlab) slabs_[slab.next].prev = id;
  available_[slab.size_class] = id;
}

void SlabCache::unlink(SlabId id) {
  Slab& slab = slabs_[id];
  (slab.prev == kNoSlab ? available_[slab.size_class] : slabs_[slab.prev].next) = slab.next;
  if (slab.next != kNoSlab) slabs_[slab.next].prev = slab.prev;
  slab.prev = slab.next = kNoSlab;
}

}  // namespace ferry
