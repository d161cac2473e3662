// SPDX-License-Identifier: Apache-2.0
// The recorded history of one device, as torch.cuda.memory._record_memory_history asks for it.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/RingBuffer.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

namespace ferry_torch {

using c10::CachingDeviceAllocator::CreateContextFn;
using c10::CachingDeviceAllocator::RecordContext;
using c10::CachingDeviceAllocator::TraceEntry;
using Context = std::shared_ptr<c10::GatheredContext>;

class History {
 public:
  void set(bool enabled, CreateContextFn recorder, size_t entries, RecordContext when, bool clear,
           const std::vector<std::string>& skip_actions);
  void attach(c10::CachingDeviceAllocator::AllocatorTraceTracker tracker);

  [[nodiscard]] bool enabled() const { return enabled_.load(std::memory_order_relaxed); }
  // Whether an event has to be made at all: somebody records or listens.
  [[nodiscard]] bool wanted() const { return wanted_.load(std::memory_order_relaxed); }

  [[nodiscard]] bool keeps(RecordContext level) const {
    return when_.load(std::memory_order_relaxed) >= level;
  }

  // Where the program is, for an event that is recorded from this level on; null below it.
  [[nodiscard]] Context context(RecordContext level) const;

  void add(TraceEntry::Action action, int device, const void* address, size_t size, void* stream,
           Context context, c10::MempoolId_t pool = {0, 0});
  [[nodiscard]] std::vector<TraceEntry> entries() const;

 private:
  std::atomic<bool> enabled_{false};
  std::atomic<bool> wanted_{false};
  std::atomic<CreateContextFn> recorder_{nullptr};
  std::atomic<RecordContext> when_{RecordContext::NEVER};
  mutable std::mutex mutex_;
  std::unordered_set<int> skipped_;
  std::vector<c10::CachingDeviceAllocator::AllocatorTraceTracker> trackers_;
  c10::RingBuffer<TraceEntry> ring_;
};

}  // namespace ferry_torch
