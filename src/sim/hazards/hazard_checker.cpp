// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/hazard_checker.hpp"

#include <algorithm>
#include <string_view>

namespace ferry::sim {

namespace {

MemoryPlace place_in(const Mapping& mapping, std::uint64_t start, std::uint64_t bytes) {
  return {start,
          bytes,
          mapping.start,
          mapping.size,
          mapping.block->device,
          mapping.name == nullptr ? std::string_view{} : *mapping.name};
}

// An allocation in the order of a stream makes its memory usable; it does not use it.
bool is_allocation(Symbol symbol) {
  const std::string_view name = row_of(symbol).name;
  return name == "cuMemAllocAsync" || name == "cuMemAllocFromPoolAsync";
}

MemoryPlace host_place(std::uint64_t start, std::uint64_t bytes) {
  return {start, bytes, start, bytes, -1};
}

// Who an operation is by one of its accesses.
Toucher by_touch(Toucher who, const Touch& touch) {
  who.kind = touch.kind;
  who.member = touch.member;
  who.outlasts_call = touch.outlasts_call;
  return who;
}

}  // namespace

void HazardChecker::note(Toucher who, std::span<const Touch> touches, const Clock& before,
                         const Clock& seen) {
  if (!log_.is_on()) return;
  Pairs collided;
  for (const Touch& touch : touches) {
    who = by_touch(who, touch);
    if (!addresses_.contains(touch.address)) {
      note_range(who, touch, touch.address, host_place(touch.address, touch.bytes), before,
                 collided);
      continue;
    }
    std::uint64_t address = touch.address;
    const std::uint64_t end = touch.address + touch.bytes;
    while (address < end) {
      const Mapping* const mapping = pages_.find(address);
      if (mapping == nullptr) break;
      const std::uint64_t bytes = std::min(end, mapping->end()) - address;
      const std::uint64_t offset = mapping->offset + (address - mapping->start);
      // What was queued before the free may get its place in the order only now.
      if (mapping->freed && who.operation > mapping->freed_by) {
        // By now the bytes may be those of another allocation; its own users are not to blame.
        if (!touch.compared) note_use_after_free(who, place_in(*mapping, address, bytes));
      } else {
        note_range(who, touch, mapping->block->position + offset,
                   place_in(*mapping, address, bytes), before, collided);
        if (!is_allocation(who.symbol) && !touch.outlasts_call)
          remember_user(mapping->buffer_id, who, touch, before);
      }
      address += bytes;
    }
  }
  prune_when_large(seen);
}

void HazardChecker::note_use_after_free(const Toucher& who, const MemoryPlace& place) {
  log_.add(pair_of_use_after_free(who), [&] { return describe_use_after_free(who, place); });
}

void HazardChecker::note_range(Toucher who, const Touch& touch, std::uint64_t position,
                               const MemoryPlace& place, const Clock& before, Pairs& collided) {
  who.base = place.start - position;
  touched_.note(position, position + place.bytes, who, before, [&](const Collision& collision) {
    const bool in_one_batch = is_same_operation(collision.earlier, who);
    if (in_one_batch && !collided.emplace(collision.earlier.member, who.member).second) return;
    if (!in_one_batch && touch.compared) return;
    MemoryPlace common = place;
    common.start = place.start + (collision.start - position);
    common.bytes = collision.end - collision.start;
    log_.add(pair_of_collision(collision.earlier, who),
             [&] { return describe_collision(collision.earlier, who, common); });
  });
}

void HazardChecker::remember_user(std::uint64_t mapping, const Toucher& who, const Touch& touch,
                                  const Clock& before) {
  std::vector<Toucher>& users = users_[mapping];
  // Who has not seen the end of those has not seen the end of this one either.
  if (touch.compared)
    std::erase_if(users, [&](const Toucher& user) { return is_ordered(user, before); });
  const auto same_lane = std::find_if(users.begin(), users.end(),
                                      [&](const Toucher& user) { return user.lane == who.lane; });
  if (same_lane == users.end()) {
    users.push_back(who);
  } else {
    *same_lane = who;
  }
}

void HazardChecker::note_end(Ending call, const Mapping& mapping, const Clock& seen) {
  const auto found = users_.find(mapping.buffer_id);
  if (found != users_.end()) {
    for (const Toucher& user : found->second) {
      if (!is_ordered(user, seen))
        note_early_end(user, call, place_in(mapping, mapping.start, mapping.size));
    }
  }
  forget_mapping(mapping);
}

void HazardChecker::note_early_end(const Toucher& user, const Ending& call,
                                   const MemoryPlace& place) {
  log_.add(pair_of_early_end(user, call), [&] { return describe_early_end(user, call, place); });
}

void HazardChecker::note_release(const StorageEnd& end, std::uint64_t address, std::uint64_t bytes,
                                 const Clock& before) {
  if (!log_.is_on()) return;
  for (const std::uint64_t last = address + bytes; address < last;) {
    const Mapping* const mapping = pages_.find(address);
    if (mapping == nullptr) return;
    const std::uint64_t step = std::min(last, mapping->end()) - address;
    const std::uint64_t position = mapping->block->position + mapping->offset;
    const std::uint64_t start = position + (address - mapping->start);
    touched_.check_ended(start, start + step, before, [&](const Collision& collision) {
      const MemoryPlace place = place_in(*mapping, mapping->start + (collision.start - position),
                                         collision.end - collision.start);
      log_.add(pair_of_early_release(collision.earlier, end),
               [&] { return describe_early_release(collision.earlier, end, place); });
    });
    address += step;
  }
}

void HazardChecker::forget_mapping(const Mapping& mapping) {
  users_.erase(mapping.buffer_id);
  if (!mapping.is_plain() && mapping.kind != Mapping::Kind::pool_allocation)
    return;  // the bytes stay
  const std::uint64_t position = mapping.block->position + mapping.offset;
  touched_.forget(position, position + mapping.size);
}

void HazardChecker::note_host_end(Ending call, std::uint64_t address, std::uint64_t bytes,
                                  const Clock& seen) {
  touched_.check_ended(address, address + bytes, seen, [&](const Collision& collision) {
    note_early_end(collision.earlier, call,
                   host_place(collision.start, collision.end - collision.start));
  });
  touched_.forget(address, address + bytes);
}

void HazardChecker::note_changed_memory(const Toucher& who, const Touch& touch) {
  const Toucher user = by_touch(who, touch);
  const MemoryPlace place = host_place(touch.address, touch.bytes);
  log_.add(pair_of_changed_memory(user), [&] { return describe_changed_memory(user, place); });
}

void HazardChecker::note_gone_memory(const Toucher& who, const Touch& touch) {
  const Toucher user = by_touch(who, touch);
  const MemoryPlace place = host_place(touch.address, touch.bytes);
  log_.add(pair_of_gone_memory(user), [&] { return describe_gone_memory(user, place); });
}

void HazardChecker::prune_when_large(const Clock& seen) {
  if (touched_.size() + users_.size() < prune_at_) return;
  touched_.prune(seen);
  for (auto entry = users_.begin(); entry != users_.end();) {
    std::erase_if(entry->second, [&](const Toucher& user) { return is_ordered(user, seen); });
    entry = entry->second.empty() ? users_.erase(entry) : std::next(entry);
  }
  prune_at_ = std::max<std::size_t>(256, 2 * (touched_.size() + users_.size()));
}

}  // namespace ferry::sim
