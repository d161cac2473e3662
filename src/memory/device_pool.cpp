// SPDX-License-Identifier: Apache-2.0
#include "memory/device_pool.hpp"

#include <algorithm>
#include <optional>

#include "driver/mutex.hpp"
#include "memory/heap_registry.hpp"
#include "memory/placer.hpp"
#include "memory/pool_audit.hpp"
#include "memory/pool_map.hpp"
#include "memory/pool_report.hpp"
#include "memory/pool_state.hpp"
#include "memory/reclaimer.hpp"
#include "memory/stream_key.hpp"

namespace ferry {

class DevicePool::Impl {
 public:
  Impl(Device& device, Bytes limit, Bytes total_memory)
      : state_(device, limit, total_memory),
        registry_(state_),
        reclaimer_(state_),
        placer_(state_, reclaimer_) {}
  ~Impl();

  Result<DeviceAddress> allocate(Bytes bytes, StreamRef stream, std::uint64_t private_pool);
  Status free(DeviceAddress address, StreamRef stream);
  Status record_use(DeviceAddress address, StreamRef stream);
  void stream_will_end(StreamRef stream);
  void retain_private(std::uint64_t pool);
  Status release_private(std::uint64_t pool);
  std::uint64_t private_uses(std::uint64_t pool) const;
  Result<Bytes> trim(Bytes keep);
  Status open_to(DeviceId peer);
  void set_limit(Bytes limit);
  DevicePoolStats stats() const;
  PoolFigures figures() const;
  void reset(void (Figure::*what)());
  std::vector<PoolBlock> blocks() const;
  std::string report() const;
  Status audit();

 private:
  Status not_live(DeviceAddress address) const FERRY_REQUIRES(mutex_);
  PendingFree collect_fences(DeviceAddress address, const LiveBlock& block, StreamRef stream)
      FERRY_REQUIRES(mutex_);
  void free_at_once(const LiveBlock& block, StreamRef stream) FERRY_REQUIRES(mutex_);
  void count_allocation(const LiveBlock& block) FERRY_REQUIRES(mutex_);
  void audit_now_and_then() FERRY_REQUIRES(mutex_);

  mutable Mutex mutex_{LockRank::memory};
  PoolState state_ FERRY_GUARDED_BY(mutex_);
  HeapRegistry registry_ FERRY_GUARDED_BY(mutex_);
  Reclaimer reclaimer_ FERRY_GUARDED_BY(mutex_);
  Placer placer_ FERRY_GUARDED_BY(mutex_);
};

DevicePool::Impl::~Impl() {
  const MutexLock lock(mutex_);
  // At process exit the driver may be gone already; then no queued work is left either.
  static_cast<void>(reclaimer_.synchronize());
  state_.foreign_uses.give_back_all(state_.events);
}

Result<DeviceAddress> DevicePool::Impl::allocate(Bytes bytes, StreamRef stream,
                                                 std::uint64_t private_pool) {
  if (bytes.count == 0) return DeviceAddress{};
  const MutexLock lock(mutex_);
  const Result<std::uint32_t> user = registry_.heap_for(stream, private_pool);
  if (!user) return user.error();
  Result<LiveBlock> block = placer_.find(*user, bytes.count);
  if (!block) {
    if (block.error().code() == Code::out_of_memory) {
      ++state_.stats.num_ooms;
      state_.out_of_memory_report = describe_out_of_memory(state_, bytes, *state_.heaps[*user]);
    }
    return block.error();
  }
  block->requested = bytes.count;
  const Heap& heap = *state_.heaps[block->heap];
  const DeviceAddress address = block->in_slab()
                                    ? heap.slabs.address_of(SlabSlot{block->id, block->slot})
                                    : heap.address_of(Placement{block->space, block->id});
  state_.live.insert({address.value, *block});
  count_allocation(*block);
  audit_now_and_then();
  return address;
}

Status DevicePool::Impl::free(DeviceAddress address, StreamRef stream) {
  if (address.is_null()) return {};
  const MutexLock lock(mutex_);
  const auto entry = state_.live.find(address.value);
  if (entry == state_.live.end()) return not_live(address);
  const LiveBlock block = entry->second;
  // A stream that is gone cannot be asked; the block is quarantined then.
  if (const Result<bool> ours = registry_.is_ours(stream); ours && !*ours) return kForeignStream;
  const ApartFromCaptures apart(state_);
  PendingFree pending = collect_fences(address, block, stream);
  state_.live.erase(entry);
  --state_.stats.allocations;
  ++state_.stats.frees_total;
  state_.stats.allocated_bytes -= Bytes{block.size};
  state_.stats.requested_bytes -= Bytes{block.requested};
  state_.figures.freed(block.requested, block.size);
  if (pending.events.empty() && !pending.quarantined) {
    state_.figures.deactivated(block.requested, block.size);
    free_at_once(block, stream);
  } else {
    if (!block.in_slab()) state_.heaps[block.heap]->space(block.space).segment().fence(block.id);
    state_.stats.quarantined_blocks += pending.quarantined ? 1 : 0;
    state_.pending.push_back(std::move(pending));
  }
  audit_now_and_then();
  return {};
}

// What must finish before the block may serve its own heap again. Stream order of the heap's own
// stream needs no event when the block is freed there.
PendingFree DevicePool::Impl::collect_fences(DeviceAddress address, const LiveBlock& block,
                                             StreamRef stream) {
  Heap& heap = *state_.heaps[block.heap];
  const std::uint64_t key = stream_key(stream);
  const bool freed_at_home = !heap.ended && heap.key == key;
  PendingFree pending;
  pending.block = block;
  const auto fence_on = [&](StreamRef foreign) {
    // An event on a captured stream would become a part of the graph, and tell of nothing.
    const Result<EventHandle> event =
        state_.captures(foreign)
            ? Result<EventHandle>(Status(Code::capture_active, "the stream is being captured"))
            : state_.events.record(foreign);
    if (event) {
      pending.events.push_back(*event);
    } else {
      pending.quarantined = true;
    }
  };
  if (!freed_at_home) fence_on(stream);
  for (const ForeignUse& use : state_.foreign_uses.take(address)) {
    if (use.has_event()) {
      pending.events.push_back(use.event);
    } else if (use.key != key) {
      fence_on(use.stream);
    }
  }
  if (freed_at_home && !(pending.events.empty() && !pending.quarantined))
    pending.stamp = heap.clock.tick();
  return pending;
}

void DevicePool::Impl::free_at_once(const LiveBlock& block, StreamRef stream) {
  Heap& heap = *state_.heaps[block.heap];
  if (block.in_slab()) {
    const std::size_t size_class = heap.slabs.class_of_slab(block.id);
    heap.slabs.put_back(SlabSlot{block.id, block.slot});
    heap.return_empty_slabs(size_class, true);
    return;
  }
  heap.put_back(Placement{block.space, block.id}, heap.clock.tick());
  // While there is one stream only, nobody else can ask for the memory and no event is needed. If
  // the mark fails, the memory simply stays with its stream until the device is waited for. That of
  // a private pool stays in any case.
  if (state_.heaps.size() > 1 && !heap.is_private() && !state_.captures(stream))
    static_cast<void>(heap.clock.mark_if_few(state_.events, stream));
}

Status DevicePool::Impl::record_use(DeviceAddress address, StreamRef stream) {
  const MutexLock lock(mutex_);
  const auto entry = state_.live.find(address.value);
  if (entry == state_.live.end()) return not_live(address);
  FERRY_TRY(registry_.check_stream(stream));
  if (is_per_thread(stream) && state_.captures(stream))
    return Status(Code::capture_active, "the stream is being captured");
  return state_.foreign_uses.add(address, stream, state_.events);
}

void DevicePool::Impl::stream_will_end(StreamRef stream) {
  const MutexLock lock(mutex_);
  state_.foreign_uses.stream_will_end(stream, state_.events);
  registry_.stream_will_end(stream);
}

void DevicePool::Impl::retain_private(std::uint64_t pool) {
  const MutexLock lock(mutex_);
  registry_.retain(pool);
}

Status DevicePool::Impl::release_private(std::uint64_t pool) {
  const MutexLock lock(mutex_);
  return registry_.release(pool);
}

std::uint64_t DevicePool::Impl::private_uses(std::uint64_t pool) const {
  const MutexLock lock(mutex_);
  const auto known = state_.private_pools.find(pool);
  return known == state_.private_pools.end() ? 0 : known->second.uses;
}

Result<Bytes> DevicePool::Impl::trim(Bytes keep) {
  const MutexLock lock(mutex_);
  const ApartFromCaptures apart(state_);
  const std::uint64_t before = state_.committed;
  reclaimer_.poll_fences();
  FERRY_TRY(reclaimer_.release_down_to(keep.count));
  if (state_.committed > keep.count && reclaimer_.has_waiting() && !state_.captures_anything()) {
    FERRY_TRY(reclaimer_.synchronize());
    FERRY_TRY(reclaimer_.release_down_to(keep.count));
  }
  audit_now_and_then();
  return Bytes{before - state_.committed};
}

Status DevicePool::Impl::open_to(DeviceId peer) {
  const MutexLock lock(mutex_);
  std::vector<DeviceId> peers = state_.peers;
  if (peer == state_.device.id()) return Status(Code::invalid_argument, "the pool's own device");
  if (std::find(peers.begin(), peers.end(), peer) != peers.end()) return {};
  if (!state_.device.can_be_reached_by(peer))
    return Status(Code::invalid_argument, "a device that cannot reach the pool's");
  peers.push_back(peer);
  for (const std::unique_ptr<Heap>& heap : state_.heaps) {
    for (const HeapSpace& entry : heap->spaces) FERRY_TRY(entry.space->open_to(peers));
  }
  state_.peers = std::move(peers);
  return {};
}

void DevicePool::Impl::set_limit(Bytes limit) {
  const MutexLock lock(mutex_);
  state_.limit = limit;
}

Status DevicePool::Impl::not_live(DeviceAddress address) const {
  for (const std::unique_ptr<Heap>& heap : state_.heaps) {
    for (const HeapSpace& entry : heap->spaces) {
      if (!entry.space->contains(address)) continue;
      const Segment& segment = entry.space->segment();
      const Block& block = segment.block(segment.block_at(entry.space->offset_of(address)));
      if (block.state == BlockState::empty) break;
      const bool inside = entry.kind == SpaceKind::blocks ? block.state == BlockState::live
                                                          : heap->slabs.is_inside_block(address);
      return inside ? Status(Code::not_owned, "a pointer into a block, not its start")
                    : Status(Code::already_freed, "device pool");
    }
  }
  return Status(Code::not_owned, "device pool");
}

void DevicePool::Impl::count_allocation(const LiveBlock& block) {
  state_.figures.allocated(block.requested, block.size);
  DevicePoolStats& stats = state_.stats;
  ++stats.allocations;
  ++stats.allocations_total;
  stats.allocated_bytes += Bytes{block.size};
  stats.requested_bytes += Bytes{block.requested};
  stats.allocated_bytes_peak = std::max(stats.allocated_bytes_peak, stats.allocated_bytes);
  stats.requested_bytes_peak = std::max(stats.requested_bytes_peak, stats.requested_bytes);
}

DevicePoolStats DevicePool::Impl::stats() const {
  const MutexLock lock(mutex_);
  return current_stats(state_);
}

PoolFigures DevicePool::Impl::figures() const {
  const MutexLock lock(mutex_);
  return state_.figures;
}

void DevicePool::Impl::reset(void (Figure::*what)()) {
  const MutexLock lock(mutex_);
  state_.figures.for_each([&](Figure& figure) { (figure.*what)(); });
}

std::vector<PoolBlock> DevicePool::Impl::blocks() const {
  const MutexLock lock(mutex_);
  return map_of(state_);
}

std::string DevicePool::Impl::report() const {
  const MutexLock lock(mutex_);
  return state_.out_of_memory_report;
}

Status DevicePool::Impl::audit() {
  const MutexLock lock(mutex_);
  ++state_.stats.audits;
  return audit_pool(state_);
}

void DevicePool::Impl::audit_now_and_then() {
#if defined(FERRY_AUDITS)
  constexpr std::uint64_t kEvery = 61;  // a prime, so that no loop of a program always dodges it
  if ((state_.stats.allocations_total + state_.stats.frees_total) % kEvery != 0) return;
  ++state_.stats.audits;
  die_unless_sound(audit_pool(state_));
#endif
}

DevicePool::DevicePool(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DevicePool::~DevicePool() = default;

Result<std::unique_ptr<DevicePool>> DevicePool::create(Device& device,
                                                       const DevicePoolOptions& options) {
  const Result<MemoryInfo> memory = device.memory_info();
  if (!memory) return memory.error();
  return std::unique_ptr<DevicePool>(
      new DevicePool(std::make_unique<Impl>(device, options.limit, memory->total)));
}

Result<DeviceAddress> DevicePool::allocate(Bytes bytes, StreamRef stream) {
  return impl_->allocate(bytes, stream, 0);
}
Result<DeviceAddress> DevicePool::allocate_private(std::uint64_t pool, Bytes bytes,
                                                   StreamRef stream) {
  if (pool == 0) return Status(Code::invalid_argument, "0 names no private pool");
  return impl_->allocate(bytes, stream, pool);
}
void DevicePool::retain_private(std::uint64_t pool) {
  impl_->retain_private(pool);
}
Status DevicePool::release_private(std::uint64_t pool) {
  return impl_->release_private(pool);
}
std::uint64_t DevicePool::private_uses(std::uint64_t pool) const {
  return impl_->private_uses(pool);
}
Status DevicePool::free(DeviceAddress address, StreamRef stream) {
  return impl_->free(address, stream);
}
Status DevicePool::record_use(DeviceAddress address, StreamRef stream) {
  return impl_->record_use(address, stream);
}
void DevicePool::stream_will_end(StreamRef stream) {
  impl_->stream_will_end(stream);
}
Result<Bytes> DevicePool::trim(Bytes keep) {
  return impl_->trim(keep);
}
Status DevicePool::open_to(DeviceId peer) {
  return impl_->open_to(peer);
}
void DevicePool::set_limit(Bytes limit) {
  impl_->set_limit(limit);
}
DevicePoolStats DevicePool::stats() const {
  return impl_->stats();
}
PoolFigures DevicePool::figures() const {
  return impl_->figures();
}
void DevicePool::reset_peaks() {
  impl_->reset(&Figure::reset_peak);
}
void DevicePool::reset_totals() {
  impl_->reset(&Figure::reset_totals);
}
std::vector<PoolBlock> DevicePool::blocks() const {
  return impl_->blocks();
}
std::string DevicePool::out_of_memory_report() const {
  return impl_->report();
}
Status DevicePool::audit() {
  return impl_->audit();
}

}  // namespace ferry
