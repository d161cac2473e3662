// SPDX-License-Identifier: Apache-2.0
// Ferry's pinned memory as torch's: tensor.pin_memory(), DataLoader(pin_memory=True).
#pragma once

#include <ATen/core/CachingHostAllocator.h>

#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "api.hpp"

namespace ferry_torch {

class PinnedAllocator final : public at::HostAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* to, const void* from, std::size_t count) const override;

  bool record_event(void* pointer, void* context, c10::Stream stream) override;
  void empty_cache() override;
  at::HostStats get_stats() override;
  void reset_accumulated_stats() override;
  void reset_peak_stats() override;

  void begin_allocate_to_pool(c10::MempoolId_t pool, std::function<bool(c10::Stream)>) override;
  void end_allocate_to_pool(c10::MempoolId_t pool) override;
  void release_pool(c10::MempoolId_t pool) override;
  void record_history(bool enabled, c10::CachingDeviceAllocator::CreateContextFn recorder,
                      size_t entries, c10::CachingDeviceAllocator::RecordContext when,
                      bool clear) override;

  void free(void* pointer);

 private:
  // What a captured graph reads or writes at each launch is not given out again before the graph's
  // pool is released, nor reused in the capture: the host would write into what launches read.
  struct Block {
    size_t size = 0;                   // that the pool handed out
    c10::MempoolId_t graphs = {0, 0};  // whose graphs use it; none
  };
  struct GraphPool {
    int uses = 0;
    std::vector<void*> freed;  // by the program
  };

  [[nodiscard]] c10::MempoolId_t graphs_of(c10::Stream stream) const;
  void give_back_left_over();
  void count_free(size_t size);

  ferry_pinned_pool* pool();
  ferry_pinned_pool_stats_t pool_stats();
  void count_reserved(const ferry_pinned_pool_stats_t& before,
                      const ferry_pinned_pool_stats_t& after, int64_t microseconds);

  std::mutex mutex_;  // guards all of this; pinned requests are few
  ferry_pinned_pool* pool_ = nullptr;
  std::map<const void*, Block> live_;
  std::vector<std::pair<c10::MempoolId_t, std::function<bool(c10::Stream)>>> recordings_;
  std::map<c10::MempoolId_t, GraphPool> graph_pools_;
  std::vector<void*> left_over_;  // of released graph pools, whose last launches may still run
  at::HostStats stats_;
};

// The one of this process.
PinnedAllocator& pinned_allocator();

}  // namespace ferry_torch
