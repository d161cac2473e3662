// SPDX-License-Identifier: Apache-2.0
// The streams and events that a program holds handles of. What is queued in them is the engine's
// (stream_engine.hpp). Owned by the machine; requires the lock.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/machine/shared_event.hpp"
#include "sim/order/stream_engine.hpp"
#include "sim/words/handles.hpp"

namespace ferry::sim {

inline constexpr int kLeastPriority = 0;
inline constexpr int kGreatestPriority = -5;

struct CapturedRecord;

struct StreamEntry {
  Stream* stream = nullptr;
  std::uint64_t context = 0;
  unsigned flags = 0;
  int priority = 0;
};

struct EventEntry {
  std::uint64_t context = 0;
  unsigned flags = 0;
  bool recorded = false;
  Ticket captured;     // the latest record; a wait takes it as it is at the call
  unsigned polls = 0;  // queries in a row that found it unfinished
  // Of an event that other processes may use (event_access.hpp); null for others.
  std::shared_ptr<SharedEvent> shared;
  std::uint64_t own_record = 0;  // its number in there
  // Where the latest record lies in a capture (captures.hpp); null otherwise.
  std::shared_ptr<const CapturedRecord> in_capture;
};

// A table from handles to entries of one context each.
template <typename Entry, HandleKind kKind>
class HandleTable {
 public:
  [[nodiscard]] std::uint64_t add(Entry entry) {
    const std::uint64_t handle = handles_.next();
    entries_.emplace(handle, std::move(entry));
    return handle;
  }
  [[nodiscard]] Entry* find(std::uint64_t handle) {
    const auto found = entries_.find(handle);
    return found == entries_.end() ? nullptr : &found->second;
  }
  void erase(std::uint64_t handle) {
    if (entries_.erase(handle) > 0) handles_.give_back(handle);
  }
  void erase_all_of(std::uint64_t context) {
    std::erase_if(entries_, [&](const auto& entry) {
      if (entry.second.context != context) return false;
      handles_.give_back(entry.first);
      return true;
    });
  }
  void set_reuse_at_once(bool at_once) { handles_.set_reuse_at_once(at_once); }

 private:
  HandleMaker handles_{kKind};
  std::unordered_map<std::uint64_t, Entry> entries_;
};

using Streams = HandleTable<StreamEntry, HandleKind::stream>;
using Events = HandleTable<EventEntry, HandleKind::event>;

}  // namespace ferry::sim
