// SPDX-License-Identifier: Apache-2.0
#include "pinned.hpp"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <functional>

namespace ferry_torch {

namespace {

void delete_pinned(void* pointer) {
  pinned_allocator().free(pointer);
}

int64_t microseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                               begin)
      .count();
}

}  // namespace

PinnedAllocator& pinned_allocator() {
  static auto* const allocator = new PinnedAllocator;  // outlives the last tensor
  return *allocator;
}

ferry_pinned_pool* PinnedAllocator::pool() {
  if (pool_ != nullptr) return pool_;
  check(api().pinned_pool_create(0, &pool_));
  return pool_;
}

ferry_pinned_pool_stats_t PinnedAllocator::pool_stats() {
  ferry_pinned_pool_stats_t now{};
  now.struct_size = sizeof(now);
  check(api().pinned_pool_stats(pool(), &now));
  return now;
}

void PinnedAllocator::count_reserved(const ferry_pinned_pool_stats_t& before,
                                     const ferry_pinned_pool_stats_t& after, int64_t microseconds) {
  if (after.blocks_made > before.blocks_made) {
    const uint64_t bytes = after.reserved_bytes - before.reserved_bytes;
    stats_.allocations.increase(after.blocks_made - before.blocks_made);
    stats_.allocated_bytes.increase(bytes);
    stats_.host_alloc_time.increase(microseconds);
    stats_.num_host_alloc += static_cast<int64_t>(after.blocks_made - before.blocks_made);
  }
}

c10::DataPtr PinnedAllocator::allocate(size_t bytes) {
  void* pointer = nullptr;
  if (bytes != 0) {
    const std::lock_guard lock(mutex_);
    const ferry_pinned_pool_stats_t before = pool_stats();
    const auto begin = std::chrono::steady_clock::now();
    const ferry_status status = api().pinned_allocate(pool_, bytes, &pointer);
    TORCH_CHECK_WITH(OutOfMemoryError, status != FERRY_ERROR_OUT_OF_MEMORY,
                     "CUDA pinned memory: ", api().last_error());
    check(status);
    const ferry_pinned_pool_stats_t after = pool_stats();
    const size_t size = after.allocated_bytes - before.allocated_bytes;
    count_reserved(before, after, microseconds_since(begin));
    live_[pointer] = Block{size, graphs_of(c10::cuda::getCurrentCUDAStream().unwrap())};
    stats_.active_requests.increase(1);
    stats_.active_bytes.increase(size);
    stats_.bucket_allocation[static_cast<size_t>(std::bit_width(size - 1))] += 1;
  }
  return {pointer, pointer, &delete_pinned, c10::DeviceType::CPU};
}

c10::DeleterFnPtr PinnedAllocator::raw_deleter() const {
  return &delete_pinned;
}

void PinnedAllocator::copy_data(void* to, const void* from, std::size_t count) const {
  default_copy_data(to, from, count);
}

void PinnedAllocator::free(void* pointer) {
  if (pointer == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto known = live_.find(pointer);
  TORCH_CHECK(known != live_.end(), "invalid pinned pointer: ", pointer);
  const Block block = known->second;
  live_.erase(known);
  if (const auto graphs = graph_pools_.find(block.graphs); graphs != graph_pools_.end()) {
    graphs->second.freed.push_back(pointer);
    count_free(block.size);
    return;
  }
  const ferry_status status = api().pinned_free(pool(), pointer);
  if (status == FERRY_ERROR_NOT_INITIALIZED || status == FERRY_ERROR_DEVICE_LOST) return;
  check(status);
  count_free(block.size);
}

void PinnedAllocator::count_free(size_t size) {
  stats_.active_requests.decrease(1);
  stats_.active_bytes.decrease(size);
}

c10::MempoolId_t PinnedAllocator::graphs_of(c10::Stream stream) const {
  const auto last = std::find_if(recordings_.rbegin(), recordings_.rend(),
                                 [&](const auto& recording) { return recording.second(stream); });
  return last == recordings_.rend() ? c10::MempoolId_t{0, 0} : last->first;
}

bool PinnedAllocator::record_event(void* pointer, void* /*context*/, c10::Stream stream) {
  {
    const std::lock_guard lock(mutex_);
    auto after = live_.upper_bound(pointer);
    if (after == live_.begin()) return false;
    --after;
    if (static_cast<const char*>(pointer) >=
        static_cast<const char*>(after->first) + after->second.size)
      return false;  // not ours: registered by the program, or another library's
    if (const c10::MempoolId_t graphs = graphs_of(stream); graphs != c10::MempoolId_t{0, 0}) {
      after->second.graphs = graphs;
      return true;
    }
  }
  const c10::cuda::CUDAStream cuda_stream(stream);
  const ferry_status status = api().pinned_record_use(pool_, pointer, cuda_stream.stream());
  TORCH_CHECK_NOT_IMPLEMENTED(status != FERRY_ERROR_CAPTURE_ACTIVE,
                              "Ferry does not support pinned memory in a CUDA graph's capture yet. "
                              "Set ferry_pinned:False.");
  // The pool marks uses by events of its own device; where another's stream cannot be marked so,
  // only waiting keeps the block safe.
  if (status != FERRY_OK) C10_CUDA_CHECK(cudaStreamSynchronize(cuda_stream.stream()));
  return true;
}

void PinnedAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  if (pool_ == nullptr) return;
  give_back_left_over();
  const ferry_pinned_pool_stats_t before = pool_stats();
  const auto begin = std::chrono::steady_clock::now();
  check(api().pinned_pool_trim(pool_, 0, nullptr));
  const ferry_pinned_pool_stats_t after = pool_stats();
  if (after.reserved_bytes == before.reserved_bytes) return;
  stats_.allocated_bytes.decrease(before.reserved_bytes - after.reserved_bytes);
  stats_.host_free_time.increase(microseconds_since(begin));
}

at::HostStats PinnedAllocator::get_stats() {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void PinnedAllocator::reset_accumulated_stats() {
  const std::lock_guard lock(mutex_);
  for (c10::CachingAllocator::Stat* const stat : {&stats_.active_requests, &stats_.active_bytes,
                                                  &stats_.allocations, &stats_.allocated_bytes})
    stat->reset_accumulated();
  stats_.host_alloc_time.reset_accumulated();
  stats_.host_free_time.reset_accumulated();
  stats_.num_host_alloc = stats_.num_host_free = 0;
}

void PinnedAllocator::reset_peak_stats() {
  const std::lock_guard lock(mutex_);
  for (c10::CachingAllocator::Stat* const stat : {&stats_.active_requests, &stats_.active_bytes,
                                                  &stats_.allocations, &stats_.allocated_bytes})
    stat->reset_peak();
  stats_.host_alloc_time.reset_peak();
  stats_.host_free_time.reset_peak();
}

void PinnedAllocator::begin_allocate_to_pool(c10::MempoolId_t id,
                                             std::function<bool(c10::Stream)> filter) {
  const std::lock_guard lock(mutex_);
  ++graph_pools_[id].uses;
  recordings_.emplace_back(id, std::move(filter));
}

void PinnedAllocator::end_allocate_to_pool(c10::MempoolId_t id) {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(recordings_.begin(), recordings_.end(),
                                  [&](const auto& recording) { return recording.first == id; });
  TORCH_CHECK(known != recordings_.end(), "endAllocatePool: not currently recording to mempool_id");
  recordings_.erase(known);
}

void PinnedAllocator::release_pool(c10::MempoolId_t id) {
  const std::lock_guard lock(mutex_);
  const auto known = graph_pools_.find(id);
  if (known == graph_pools_.end() || --known->second.uses > 0) return;
  left_over_.insert(left_over_.end(), known->second.freed.begin(), known->second.freed.end());
  graph_pools_.erase(known);
  give_back_left_over();
}

// Launches may run on any stream: only the whole device can be waited for, and not while a stream
// captures.
void PinnedAllocator::give_back_left_over() {
  if (left_over_.empty() || !recordings_.empty() || cudaDeviceSynchronize() != cudaSuccess) return;
  for (void* const pointer : left_over_) {
    // At the end of the process there may be nothing to give back to.
    static_cast<void>(api().pinned_free(pool_, pointer));
  }
  left_over_.clear();
}

void PinnedAllocator::record_history(bool enabled, c10::CachingDeviceAllocator::CreateContextFn,
                                     size_t, c10::CachingDeviceAllocator::RecordContext, bool) {
  TORCH_CHECK_NOT_IMPLEMENTED(!enabled, "Ferry does not record the history of pinned memory yet.");
}

}  // namespace ferry_torch
