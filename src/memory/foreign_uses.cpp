// SPDX-License-Identifier: Apache-2.0
#include "memory/foreign_uses.hpp"

#include <algorithm>

#include "memory/stream_key.hpp"

namespace ferry {

namespace {

// Drops uses whose work has finished: a block that lives long is used by many streams that end.
void drop_finished(std::vector<ForeignUse>& uses, EventPool& events) {
  std::erase_if(uses, [&](const ForeignUse& use) {
    return use.has_event() && events.give_back_if_reached(use.event);
  });
}

}  // namespace

Status ForeignUses::add(DeviceAddress address, StreamRef stream, EventPool& events) {
  const std::uint64_t key = stream_key(stream);
  std::vector<ForeignUse>& uses = uses_[address.value];
  // A stream that has ended keeps its event: its handle may name another stream by now.
  const auto known = std::find_if(uses.begin(), uses.end(), [&](const ForeignUse& use) {
    return use.key == key && use.has_event() == is_per_thread(stream);
  });
  if (!is_per_thread(stream)) {
    if (known == uses.end()) uses.push_back({key, stream, {}});
    return {};
  }
  if (known != uses.end()) return events.device().record(known->event, stream);
  const Result<EventHandle> event = events.record(stream);
  if (!event) return event.error();
  uses.push_back({key, stream, *event});
  return {};
}

void ForeignUses::stream_will_end(StreamRef stream, EventPool& events) {
  const std::uint64_t key = stream_key(stream);
  for (auto entry = uses_.begin(); entry != uses_.end(); ++entry) {
    std::vector<ForeignUse>& uses = entry.value();
    const auto named = std::find_if(uses.begin(), uses.end(), [&](const ForeignUse& use) {
      return use.key == key && !use.has_event();
    });
    if (named == uses.end()) continue;
    if (const Result<EventHandle> event = events.record(stream)) named->event = *event;
    drop_finished(uses, events);
  }
}

std::vector<ForeignUse> ForeignUses::take(DeviceAddress address) {
  const auto entry = uses_.find(address.value);
  if (entry == uses_.end()) return {};
  std::vector<ForeignUse> uses = std::move(entry.value());
  uses_.erase(entry);
  return uses;
}

void ForeignUses::give_back_all(EventPool& events) {
  for (const auto& [address, uses] : uses_) {
    for (const ForeignUse& use : uses) {
      if (use.has_event()) events.give_back(use.event);
    }
  }
  uses_.clear();
}

}  // namespace ferry
