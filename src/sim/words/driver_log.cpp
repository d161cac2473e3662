// SPDX-License-Identifier: Apache-2.0
#include "sim/words/driver_log.hpp"

#include <algorithm>
#include <utility>

namespace ferry::sim {

// Never destroyed: programs call the driver from static destructors too.
DriverLog& DriverLog::get() {
  static DriverLog* const log = new DriverLog();
  return *log;
}

void DriverLog::add(std::string_view message) {
  const std::lock_guard lock(mutex_);
  messages_.emplace_back(message.substr(0, kMostBytes - 1));
  bytes_ += messages_.back().size() + 1;
  ++next_;
  while (bytes_ > kMostBytes) {
    bytes_ -= messages_.front().size() + 1;
    messages_.pop_front();
  }
  if (callbacks_.empty()) return;
  undelivered_.push_back(messages_.back());
  any_undelivered_ = true;
}

void DriverLog::deliver() {
  if (!any_undelivered_.load(std::memory_order_relaxed)) return;
  std::unique_lock lock(mutex_);
  any_undelivered_ = false;
  std::vector<std::string> messages = std::exchange(undelivered_, {});
  const std::map<std::uintptr_t, Callback> callbacks = callbacks_;
  lock.unlock();
  for (std::string& message : messages) {
    for (const auto& [handle, callback] : callbacks)
      callback.function(callback.data, CU_LOG_LEVEL_ERROR, message.data(), message.size());
  }
}

CUlogsCallbackHandle DriverLog::add_callback(CUlogsCallback function, void* data) {
  const std::lock_guard lock(mutex_);
  const std::uintptr_t handle = next_handle_++;
  callbacks_.emplace(handle, Callback{function, data});
  return reinterpret_cast<CUlogsCallbackHandle>(handle);
}

bool DriverLog::remove_callback(CUlogsCallbackHandle handle) {
  const std::lock_guard lock(mutex_);
  return callbacks_.erase(reinterpret_cast<std::uintptr_t>(handle)) == 1;
}

CUlogIterator DriverLog::end() {
  const std::lock_guard lock(mutex_);
  return next_;
}

DriverLog::Excerpt DriverLog::since(CUlogIterator begin) {
  const std::lock_guard lock(mutex_);
  Excerpt excerpt;
  excerpt.end = next_;
  const auto oldest = static_cast<CUlogIterator>(next_ - messages_.size());
  excerpt.complete = begin >= oldest;
  for (CUlogIterator number = std::max(begin, oldest); number < next_; ++number)
    excerpt.messages.push_back(messages_[number - oldest]);
  return excerpt;
}

}  // namespace ferry::sim
