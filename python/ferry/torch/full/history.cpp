// SPDX-License-Identifier: Apache-2.0
#include "history.hpp"

#include <utility>

namespace ferry_torch {

void History::set(bool enabled, CreateContextFn recorder, size_t entries, RecordContext when,
                  bool clear, const std::vector<std::string>& skip_actions) {
  const std::lock_guard lock(mutex_);
  skipped_.clear();
  for (const std::string& action : skip_actions)
    skipped_.insert(c10::CachingDeviceAllocator::parseTraceEntryAction(action));
  recorder_ = enabled ? recorder : nullptr;
  when_ = enabled ? when : RecordContext::NEVER;
  enabled_ = enabled;
  wanted_ = enabled || !trackers_.empty();
  ring_.setMaxEntries(entries);
  if (!enabled || clear) ring_.clear();
}

void History::attach(c10::CachingDeviceAllocator::AllocatorTraceTracker tracker) {
  const std::lock_guard lock(mutex_);
  trackers_.push_back(std::move(tracker));
  wanted_ = true;
}

Context History::context(RecordContext level) const {
  const CreateContextFn recorder = recorder_.load(std::memory_order_relaxed);
  if (recorder == nullptr || when_.load(std::memory_order_relaxed) < level) return nullptr;
  return recorder();
}

void History::add(TraceEntry::Action action, int device, const void* address, size_t size,
                  void* stream, Context context, c10::MempoolId_t pool) {
  TraceEntry entry(action, static_cast<c10::DeviceIndex>(device), reinterpret_cast<size_t>(address),
                   size, stream, pool, c10::getApproximateTime(), std::move(context));
  const std::lock_guard lock(mutex_);
  for (const auto& tracker : trackers_) tracker(entry);
  if (enabled_ && !skipped_.contains(action)) ring_.insertEntries(entry);
}

std::vector<TraceEntry> History::entries() const {
  std::vector<TraceEntry> all;
  ring_.getEntries(all);
  return all;
}

}  // namespace ferry_torch
