// SPDX-License-Identifier: Apache-2.0
// One device's memory behind torch's allocator: the process pool of Ferry, and what torch's
// questions need beside it.
#pragma once

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "api.hpp"
#include "history.hpp"
#include "private_pools.hpp"

namespace ferry_torch {

using c10::CachingDeviceAllocator::DeviceStats;
using c10::CachingDeviceAllocator::SegmentInfo;

class Device {
 public:
  explicit Device(int index) : index_(index) {}

  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] History& history() { return history_; }

  // Raises torch's OutOfMemoryError with Ferry's report.
  void* allocate(size_t bytes, void* stream, uint64_t private_pool);
  [[nodiscard]] ferry_status free(void* pointer, size_t bytes, void* stream, uint64_t private_pool);
  void record_use(void* pointer, void* stream);

  [[nodiscard]] Routes& routes() { return routes_; }
  void retain_pool(c10::MempoolId_t pool);
  void release_pool(c10::MempoolId_t pool);
  [[nodiscard]] int pool_uses(c10::MempoolId_t pool);
  [[nodiscard]] std::vector<void*> live_in(c10::MempoolId_t pool);

  void open_to(c10::DeviceIndex peer) { check(api().device_pool_open_to(pool(), peer)); }
  void set_limit(uint64_t own_limit, double fraction);
  [[nodiscard]] double fraction() const { return fraction_; }
  void empty_cache();

  [[nodiscard]] DeviceStats stats();
  void reset_peaks() { check(api().device_pool_reset_peaks(pool())); }
  void reset_totals();
  [[nodiscard]] std::vector<SegmentInfo> segments();
  [[nodiscard]] Context context_of(const void* pointer);
  [[nodiscard]] size_t largest_idle();

  void observe_oom(c10::cuda::CUDACachingAllocator::OutOfMemoryObserver observer);

 private:
  [[nodiscard]] ferry_device_pool* pool();
  [[nodiscard]] std::vector<ferry_device_block> blocks();
  [[nodiscard]] ferry_device_pool_figures_t figures();
  [[nodiscard]] ferry_device_pool_stats_t pool_stats();
  [[noreturn]] void say_no(size_t bytes, void* stream);
  void report_to_profiler(void* pointer, int64_t change);

  const int index_;
  std::atomic<ferry_device_pool*> pool_{nullptr};
  double fraction_ = 1.0;
  History history_;
  Routes routes_;
  std::atomic<bool> has_contexts_{false};
  std::mutex mutex_;                                   // guards what follows
  std::unordered_map<const void*, Context> contexts_;  // of live blocks, while history is recorded
  std::vector<c10::cuda::CUDACachingAllocator::OutOfMemoryObserver> oom_observers_;
  uint64_t retries_before_ = 0;  // what the pool had counted when totals were reset
  uint64_t ooms_before_ = 0;
  uint64_t syncs_before_ = 0;
};

}  // namespace ferry_torch
