// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>

namespace ferry_torch {

namespace {

using c10::CachingAllocator::format_size;
using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatArray;
using c10::CachingAllocator::StatType;
using c10::CachingDeviceAllocator::BlockInfo;

constexpr auto kAggregate = static_cast<size_t>(StatType::AGGREGATE);
constexpr auto kLarge = static_cast<size_t>(StatType::LARGE_POOL);

Stat to_stat(const ferry_figure& figure) {
  Stat stat;
  stat.current = static_cast<int64_t>(figure.now);
  stat.peak = static_cast<int64_t>(figure.peak);
  stat.allocated = static_cast<int64_t>(figure.added);
  stat.freed = static_cast<int64_t>(figure.removed);
  return stat;
}

StatArray to_stats(const ferry_figure (&figures)[3]) {
  return {to_stat(figures[0]), to_stat(figures[1]), to_stat(figures[2])};
}

// Memory is held from the driver by one pool: all of it counts as the large one's.
StatArray of_one_pool(const Stat& stat) {
  StatArray stats;
  stats[kAggregate] = stats[kLarge] = stat;
  return stats;
}

// What lies free beside live blocks is known at the moment of the question only.
Stat of_now(uint64_t now) {
  Stat stat;
  stat.current = stat.peak = static_cast<int64_t>(now);
  return stat;
}

struct Split {
  uint64_t pieces = 0;
  uint64_t bytes = 0;
};

// Free pieces of segments in which something is held: what torch counts so for its own segments.
Split inactive_split(const std::vector<ferry_device_block>& blocks) {
  Split all;
  for (size_t begin = 0; begin < blocks.size();) {
    Split of_segment;
    size_t end = begin;
    for (; end < blocks.size() && blocks[end].segment == blocks[begin].segment; ++end) {
      if (blocks[end].state != FERRY_BLOCK_IDLE) continue;
      ++of_segment.pieces;
      of_segment.bytes += blocks[end].bytes;
    }
    if (of_segment.bytes < blocks[begin].segment_bytes) {
      all.pieces += of_segment.pieces;
      all.bytes += of_segment.bytes;
    }
    begin = end;
  }
  return all;
}

// In a child of fork(), and where the driver has ended before us, there is nothing to give back.
bool is_over(ferry_status status) {
  return status == FERRY_ERROR_NOT_INITIALIZED || status == FERRY_ERROR_DEVICE_LOST;
}

std::pair<size_t, size_t> memory_of(int device) {
  const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device));
  size_t free = 0;
  size_t total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return {free, total};
}

}  // namespace

ferry_device_pool* Device::pool() {
  ferry_device_pool* pool = pool_.load(std::memory_order_acquire);
  if (pool != nullptr) return pool;
  check(api().process_pool(index_, &pool));
  pool_.store(pool, std::memory_order_release);
  return pool;
}

void* Device::allocate(size_t bytes, void* stream, uint64_t private_pool) {
  void* pointer = nullptr;
  const ferry_status status =
      private_pool == 0
          ? api().device_allocate(pool(), bytes, stream, &pointer)
          : api().private_pool_allocate(pool(), private_pool, bytes, stream, &pointer);
  if (status == FERRY_ERROR_OUT_OF_MEMORY) say_no(bytes, stream);
  check(status);
  if (history_.wanted()) {
    Context context = history_.context(RecordContext::STATE);
    if (context != nullptr) {
      const std::lock_guard lock(mutex_);
      contexts_[pointer] = context;
      has_contexts_ = true;
    }
    const bool in_trace = history_.keeps(RecordContext::ALLOC);
    history_.add(TraceEntry::ALLOC, index_, pointer, bytes, stream,
                 in_trace ? std::move(context) : nullptr, pool_names().id_of(private_pool));
  }
  report_to_profiler(pointer, static_cast<int64_t>(bytes));
  return pointer;
}

ferry_status Device::free(void* pointer, size_t bytes, void* stream, uint64_t private_pool) {
  if (history_.wanted()) {
    const c10::MempoolId_t id = pool_names().id_of(private_pool);
    const Context context = history_.context(RecordContext::ALL);
    history_.add(TraceEntry::FREE_REQUESTED, index_, pointer, bytes, stream, context, id);
    // The pool may keep the block until queued work has passed; that moment is not told.
    history_.add(TraceEntry::FREE_COMPLETED, index_, pointer, bytes, stream, context, id);
  }
  if (has_contexts_.load(std::memory_order_relaxed)) {
    const std::lock_guard lock(mutex_);
    contexts_.erase(pointer);
  }
  const ferry_status status = api().device_free(pool(), pointer, stream);
  if (status == FERRY_OK) report_to_profiler(pointer, -static_cast<int64_t>(bytes));
  return status;
}

void Device::record_use(void* pointer, void* stream) {
  check(api().device_record_use(pool(), pointer, stream));
}

void Device::retain_pool(c10::MempoolId_t id) {
  check(api().private_pool_retain(pool(), pool_names().name_of(id)));
}

void Device::release_pool(c10::MempoolId_t id) {
  const ferry_status status = api().private_pool_release(pool(), pool_names().name_of(id));
  // Destructors ask, at the end of the process and in children of fork() too.
  if (!is_over(status)) check(status);
}

int Device::pool_uses(c10::MempoolId_t id) {
  uint64_t count = 0;
  check(api().private_pool_use_count(pool(), pool_names().name_of(id), &count));
  return static_cast<int>(count);
}

std::vector<void*> Device::live_in(c10::MempoolId_t id) {
  const uint64_t name = pool_names().name_of(id);
  std::vector<void*> live;
  for (const ferry_device_block& block : blocks()) {
    if (block.state == FERRY_BLOCK_LIVE && block.private_pool == name)
      live.push_back(block.address);
  }
  return live;
}

void Device::report_to_profiler(void* pointer, int64_t change) {
  if (!c10::memoryProfilingEnabled()) return;
  const ferry_device_pool_figures_t now = figures();
  c10::reportMemoryUsageToProfiler(
      pointer, change, now.allocated_bytes[0].now, now.reserved_bytes.now,
      c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(index_)));
}

void Device::say_no(size_t bytes, void* stream) {
  const std::string report = api().last_error();
  const auto [free, total] = memory_of(index_);
  const ferry_device_pool_figures_t now = figures();
  if (history_.wanted())
    history_.add(TraceEntry::OOM, index_, reinterpret_cast<const void*>(free), bytes, stream,
                 history_.context(RecordContext::ALLOC));
  c10::reportOutOfMemoryToProfiler(
      static_cast<int64_t>(bytes), now.allocated_bytes[0].now, now.reserved_bytes.now,
      c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(index_)));
  std::vector<c10::cuda::CUDACachingAllocator::OutOfMemoryObserver> observers;
  {
    const std::lock_guard lock(mutex_);
    observers = oom_observers_;
  }
  for (const auto& observer : observers) observer(index_, bytes, total, free);
  TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate ",
                   format_size(bytes), ". GPU ", index_, " has a total capacity of ",
                   format_size(total), " of which ", format_size(free),
                   " is free. Of the memory that PyTorch holds through Ferry (",
                   format_size(now.reserved_bytes.now), "), ",
                   format_size(now.allocated_bytes[0].now), " is allocated.\n", report);
}

void Device::set_limit(uint64_t own_limit, double fraction) {
  const auto share =
      static_cast<uint64_t>(fraction * static_cast<double>(memory_of(index_).second));
  // 0 would mean no limit.
  uint64_t limit = std::max<uint64_t>(share, 1);
  if (own_limit != 0) limit = std::min(limit, own_limit);
  if (fraction >= 1.0 && own_limit == 0) limit = 0;
  check(api().device_pool_set_limit(pool(), limit));
  fraction_ = fraction;
}

void Device::empty_cache() {
  if (pool_.load() == nullptr) return;
  const ferry_status status = api().device_pool_trim(pool(), 0, nullptr);
  if (!is_over(status)) check(status);
}

ferry_device_pool_figures_t Device::figures() {
  ferry_device_pool_figures_t now{};
  now.struct_size = sizeof(now);
  check(api().device_pool_figures(pool(), &now));
  return now;
}

ferry_device_pool_stats_t Device::pool_stats() {
  ferry_device_pool_stats_t now{};
  now.struct_size = sizeof(now);
  check(api().device_pool_stats(pool(), &now));
  return now;
}

DeviceStats Device::stats() {
  DeviceStats stats;
  if (pool_.load() == nullptr) return stats;
  const ferry_device_pool_figures_t now = figures();
  stats.allocation = to_stats(now.allocations);
  stats.active = to_stats(now.active);
  stats.allocated_bytes = to_stats(now.allocated_bytes);
  stats.active_bytes = to_stats(now.active_bytes);
  stats.requested_bytes = to_stats(now.requested_bytes);
  stats.segment = of_one_pool(to_stat(now.chunks));
  stats.reserved_bytes = of_one_pool(to_stat(now.reserved_bytes));
  stats.num_device_alloc = static_cast<int64_t>(now.chunks.added);
  stats.num_device_free = static_cast<int64_t>(now.chunks.removed);
  const ferry_device_pool_stats_t pool = pool_stats();
  const std::lock_guard lock(mutex_);
  stats.num_alloc_retries = static_cast<int64_t>(pool.num_alloc_retries - retries_before_);
  stats.num_ooms = static_cast<int64_t>(pool.num_ooms - ooms_before_);
  stats.num_sync_all_streams = static_cast<int64_t>(pool.num_sync_all_streams - syncs_before_);
  const std::vector<ferry_device_block> all = blocks();
  for (const ferry_device_block& block : all) {
    if (block.private_pool == 0) continue;
    StatArray& of_pool =
        stats.reserved_bytes_by_private_pools[pool_names().id_of(block.private_pool)];
    for (const size_t kind : {kAggregate, kLarge}) of_pool[kind].increase(block.bytes);
  }
  const Split split = inactive_split(all);
  stats.inactive_split = of_one_pool(of_now(split.pieces));
  stats.inactive_split_bytes = of_one_pool(of_now(split.bytes));
  return stats;
}

void Device::reset_totals() {
  if (pool_.load() == nullptr) return;
  check(api().device_pool_reset_totals(pool()));
  const ferry_device_pool_stats_t now = pool_stats();
  const std::lock_guard lock(mutex_);
  retries_before_ = now.num_alloc_retries;
  ooms_before_ = now.num_ooms;
  syncs_before_ = now.num_sync_all_streams;
}

std::vector<ferry_device_block> Device::blocks() {
  std::vector<ferry_device_block> all;
  for (size_t count = 1024;;) {
    all.resize(count + count / 4);  // another thread may allocate meanwhile
    count = all.size();
    check(api().device_pool_blocks(pool(), all.data(), &count));
    if (count > all.size()) continue;
    all.resize(count);
    return all;
  }
}

std::vector<SegmentInfo> Device::segments() {
  std::vector<SegmentInfo> segments;
  if (pool_.load() == nullptr) return segments;
  const std::vector<ferry_device_block> all = blocks();
  const std::lock_guard lock(mutex_);
  for (const ferry_device_block& block : all) {
    const auto address = reinterpret_cast<size_t>(block.segment);
    if (segments.empty() || segments.back().address != address) {
      SegmentInfo segment;
      segment.device = static_cast<c10::DeviceIndex>(index_);
      segment.address = address;
      segment.total_size = block.segment_bytes;
      segment.stream = block.stream;
      segment.is_large = block.small == 0;
      segment.owner_private_pool_id = pool_names().id_of(block.private_pool);
      segment.is_expandable = true;  // made of pieces of physical memory, as torch's are then
      segments.push_back(std::move(segment));
    }
    SegmentInfo& segment = segments.back();
    BlockInfo info;
    info.size = block.bytes;
    info.requested_size = block.requested;
    info.allocated = block.state == FERRY_BLOCK_LIVE;
    info.active = block.state != FERRY_BLOCK_IDLE;
    if (info.allocated) {
      segment.allocated_size += info.size;
      segment.requested_size += info.requested_size;
      if (const auto known = contexts_.find(block.address); known != contexts_.end())
        info.context_when_allocated = known->second;
    }
    if (info.active) segment.active_size += info.size;
    segment.blocks.push_back(std::move(info));
  }
  return segments;
}

Context Device::context_of(const void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto known = contexts_.find(pointer);
  return known == contexts_.end() ? nullptr : known->second;
}

size_t Device::largest_idle() {
  if (pool_.load() == nullptr) return 0;
  size_t largest = 0;
  for (const ferry_device_block& block : blocks()) {
    if (block.state == FERRY_BLOCK_IDLE) largest = std::max<size_t>(largest, block.bytes);
  }
  return largest;
}

void Device::observe_oom(c10::cuda::CUDACachingAllocator::OutOfMemoryObserver observer) {
  const std::lock_guard lock(mutex_);
  oom_observers_.push_back(std::move(observer));
}

}  // namespace ferry_torch
