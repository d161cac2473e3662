// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/memory_pools.hpp"

#include <utility>

#include "base/bytes.hpp"

namespace ferry::sim {

namespace {

// Far more than a device has, because no part is used twice; a file costs what is written to it.
constexpr std::uint64_t kFileBytes = std::uint64_t{2} << 40;

}  // namespace

MemoryPools::MemoryPools(const Parts& parts, int devices)
    : parts_(parts), devices_(static_cast<std::size_t>(devices)) {
  for (int device = 0; device < devices; ++device) {
    MemoryPool& pool = create(device, 0);
    at(device) = {&pool, &pool};
  }
}

MemoryPool* MemoryPools::find(std::uint64_t handle) {
  const auto found = pools_.find(handle);
  return found == pools_.end() || found->second->destroyed ? nullptr : found->second.get();
}

MemoryPool& MemoryPools::create(int device, std::uint64_t max_size) {
  auto pool = std::make_unique<MemoryPool>();
  pool->handle = handles_.next();
  pool->device = device;
  pool->max_size = max_size;
  pool->rights.set(device, Access::read_write);
  return *(pools_[pool->handle] = std::move(pool));
}

void MemoryPools::destroy(MemoryPool& pool) {
  pool.destroyed = true;
  if (at(pool.device).current == &pool) at(pool.device).current = at(pool.device).own;
  release_unused();
}

void MemoryPools::set_access(MemoryPool& pool, int device, Access access) {
  pool.rights.set(device, access);
  for (const auto& [address, place] : pool.live)
    parts_.pages.find(address)->rights.set(device, access);
}

bool MemoryPools::is_seen(const FreedMemory& freed) const {
  return freed.free == nullptr || is_covered(*freed.free, parts_.engine.seen());
}

// Whether the stream's next operation may use freed memory without a wait that it does not have.
bool MemoryPools::may_use_now(const MemoryPool& pool, const Stream& stream, const Clock& before,
                              const FreedMemory& freed) {
  if (is_seen(freed) || freed.free->lane == stream.lane) return true;
  if (pool.follow_events && is_covered(*freed.free, before)) return true;
  return pool.opportunistic && parts_.engine.has_ended(freed.free);
}

std::optional<MemoryPools::Allocation> MemoryPools::allocate(MemoryPool& pool, const Stream& stream,
                                                             std::uint64_t bytes) {
  sweep();
  if (bytes > parts_.physical.capacity().count) return std::nullopt;
  const std::uint64_t addresses = align_up(bytes, kFrameBytes);
  const std::optional<std::uint64_t> start = parts_.addresses.take(addresses, kFrameBytes);
  if (!start) return std::nullopt;
  const Clock before = parts_.engine.clock_before_next(stream);
  const auto now = [&](const FreedMemoryRef& freed) {
    return may_use_now(pool, stream, before, *freed);
  };
  auto taken = pool.space.take(bytes, now);
  if (!taken && grow(pool, bytes)) taken = pool.space.take(bytes, now);
  // Only where the device has no more: memory that the allocation then has to wait for.
  if (!taken && pool.internal_dependencies) {
    taken = pool.space.take(bytes, [](const FreedMemoryRef&) { return true; });
  }
  if (!taken) {
    parts_.addresses.give(*start, addresses);
    return std::nullopt;
  }
  Allocation allocation{*start, {}};
  for (const FreedMemoryRef& freed : taken->replaced) allocation.after.push_back(freed->free);
  unmap_all(taken->replaced);
  Mapping mapping;
  mapping.start = *start;
  mapping.size = bytes;
  mapping.block = taken->place.block;
  mapping.offset = taken->place.offset;
  mapping.rights = pool.rights;
  mapping.kind = Mapping::Kind::pool_allocation;
  mapping.pool = pool.handle;
  parts_.pages.add(std::move(mapping));
  pool.live.emplace(*start, std::move(taken->place));
  return allocation;
}

bool MemoryPools::grow(MemoryPool& pool, std::uint64_t bytes) {
  const auto add = [&](std::uint64_t size) {
    if (pool.max_size != 0 && size > pool.max_size - pool.space.reserved().current) return false;
    auto block = parts_.physical.create(pool.device, size);
    if (!block) return false;
    block->handle_types = pool.handle_types;
    if (pool.shared && !move_into_file(pool, block)) return false;
    pool.space.add(std::move(block));
    return true;
  };
  const auto add_any = [&] {
    return add(align_up(bytes, kBlockStep)) || add(align_up(bytes, kFrameBytes));
  };
  if (add_any()) return true;
  // What lies idle in blocks that are too small can come back as one that is large enough.
  trim(pool, 0);
  return add_any();
}

bool MemoryPools::move_into_file(MemoryPool& pool, const std::shared_ptr<PhysicalBlock>& block) {
  if (block->size > pool.shared->size() - pool.shared_used) return false;
  if (!parts_.physical.share(block, pool.shared, pool.shared_used)) return false;
  pool.shared_used += block->size;
  return true;
}

bool MemoryPools::share(MemoryPool& pool, SharedDescription description) {
  description.kind = SharedKind::pool;
  description.size = kFileBytes;
  if (!pool.shared) pool.shared = SharedMemory::create(description);
  if (!pool.shared) return false;
  bool all = true;
  pool.space.for_each_block([&](const std::shared_ptr<PhysicalBlock>& block) {
    if (block->shared() == nullptr) all = move_into_file(pool, block) && all;
  });
  return all;
}

MemoryPool& MemoryPools::import_pool(std::shared_ptr<SharedMemory> shared, int device,
                                     unsigned handle_types) {
  MemoryPool& pool = create(device, 0);
  pool.imported = true;
  pool.handle_types = handle_types;
  pool.shared = std::move(shared);
  return pool;
}

std::optional<std::uint64_t> MemoryPools::import_memory(MemoryPool& pool, const Offer& offer) {
  sweep();
  const auto start = parts_.addresses.take(align_up(offer.size, kFrameBytes), kFrameBytes);
  if (!start) return std::nullopt;
  Mapping mapping;
  mapping.start = *start;
  mapping.size = offer.size;
  mapping.block =
      parts_.physical.adopt(pool.shared, offer.block_start, offer.block_size, pool.device);
  mapping.block->handle_types = pool.handle_types;
  mapping.offset = offer.offset;
  mapping.rights = pool.rights;
  mapping.kind = Mapping::Kind::imported;
  mapping.pool = pool.handle;
  pool.live.emplace(*start, PoolPlace{mapping.block, offer.offset, offer.size});
  parts_.pages.add(std::move(mapping));
  pool.space.count_import(offer.size);
  return start;
}

void MemoryPools::end_imported(MemoryPool& pool, const Mapping& mapping, Ticket free) {
  pool.live.erase(mapping.start);
  pool.space.uncount_import(mapping.size);
  auto freed = std::make_shared<FreedMemory>();
  freed->address = mapping.start;
  freed->free = std::move(free);
  unmap_all({std::move(freed)});
}

void MemoryPools::give(const Mapping& mapping, Ticket free) {
  MemoryPool& pool = *pools_.at(mapping.pool);
  if (pool.imported) return end_imported(pool, mapping, std::move(free));
  parts_.physical.withdraw(*mapping.block, mapping.offset);
  const auto live = pool.live.find(mapping.start);
  const PoolPlace place = live->second;
  pool.live.erase(live);
  auto freed = std::make_shared<FreedMemory>();
  freed->address = mapping.start;
  freed->free = std::move(free);
  pool.space.give(place, std::move(freed));
}

void MemoryPools::free_after(const Mapping& mapping, const Ticket& free) {
  const Mapping ended = mapping;
  parts_.pages.find(ended.start)->end_in_order(free->number);
  give(ended, free);
}

void MemoryPools::free_now(const Mapping& mapping) {
  const Mapping ended = mapping;
  if (parts_.physical.with_data() && ended.kind != Mapping::Kind::imported)
    parts_.physical.discard(*ended.block, ended.offset, ended.size);
  parts_.pages.find(ended.start)->end_in_order(0);
  give(ended, nullptr);
}

// Takes away the old address of freed memory, or remembers to when queued work may still use it.
void MemoryPools::unmap(FreedMemory& freed) {
  if (!std::exchange(freed.mapped, false)) return;
  const auto found = parts_.pages.mappings().find(freed.address);
  parts_.hazards.forget_users(found->second);
  parts_.addresses.give(freed.address, align_up(found->second.size, kFrameBytes));
  parts_.pages.remove(found, std::next(found));
}

void MemoryPools::unmap_all(const std::vector<FreedMemoryRef>& all) {
  for (const FreedMemoryRef& freed : all) {
    if (freed->free == nullptr || freed->free->done) {
      unmap(*freed);
    } else {
      leaving_.push_back(freed);
    }
  }
}

void MemoryPools::sweep() {
  std::erase_if(leaving_, [&](const FreedMemoryRef& freed) {
    if (!freed->free->done) return false;
    unmap(*freed);
    return true;
  });
}

void MemoryPools::release_unused() {
  sweep();
  for (auto entry = pools_.begin(); entry != pools_.end();) {
    MemoryPool& pool = *entry->second;
    if (pool.destroyed) {
      let_go(pool, 0);
    } else {
      trim(pool, pool.release_threshold);
    }
    const bool is_over = pool.destroyed && pool.live.empty() && pool.space.reserved().current == 0;
    entry = is_over ? pools_.erase(entry) : std::next(entry);
  }
}

void MemoryPools::trim(MemoryPool& pool, std::uint64_t keep) {
  if (pool.handle_types == 0) let_go(pool, keep);
}

void MemoryPools::let_go(MemoryPool& pool, std::uint64_t keep) {
  unmap_all(pool.space.shrink(keep, [&](const FreedMemoryRef& freed) { return is_seen(*freed); }));
}

void MemoryPools::forget_memory_of(int device) {
  for (auto& [handle, pool] : pools_) {
    if (pool->device != device) continue;
    while (!pool->live.empty()) free_now(*parts_.pages.find(pool->live.begin()->first));
  }
  release_unused();
  for (auto& [handle, pool] : pools_) {
    if (pool->device == device) let_go(*pool, 0);
  }
}

}  // namespace ferry::sim
