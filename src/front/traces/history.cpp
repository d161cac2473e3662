// SPDX-License-Identifier: Apache-2.0
#include "front/traces/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "front/traces/messages.hpp"

namespace ferry::replay {
namespace {

std::uint64_t range_end(std::uint64_t begin, Bytes bytes) {
  const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - begin;
  return begin + std::min(room, bytes.count);
}

}  // namespace

AddressHash::AddressHash()
    : salt_(
          reinterpret_cast<std::uintptr_t>(this) ^
          static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count())) {
}

std::uint32_t History::add_block(const HistoryCall& call) {
  trace_.blocks.push_back({call.bytes, call.stream});
  block_address_.push_back(call.address);
  return static_cast<std::uint32_t>(trace_.blocks.size() - 1);
}

void History::add_event(TraceEvent::Kind kind, std::uint32_t block, const HistoryCall& call) {
  std::int64_t time = call.time_us;
  // Clocks of several threads may disagree by a little; the order of the file counts.
  if (!trace_.events.empty()) time = std::max(time, trace_.events.back().time_us);
  trace_.events.push_back({kind, block, call.stream, time});
}

void History::allocate(const HistoryCall& call) {
  AddressState& state = addresses_[call.address];
  if (state.live) {
    // No allocator hands out a live address: its free went unrecorded.
    ++counts_.lost_frees;
    HistoryCall lost = call;
    lost.stream = trace_.blocks[state.block].stream;
    add_event(TraceEvent::Kind::free, state.block, lost);
  }
  state = {add_block(call), true};
  add_event(TraceEvent::Kind::allocate, state.block, call);
}

void History::free_unknown(const HistoryCall& call) {
  ++counts_.start_frees;
  const std::uint32_t block = add_block(call);
  trace_.start.push_back(block);
  addresses_[call.address] = {block, false};
  add_event(TraceEvent::Kind::free, block, call);
}

void History::free(const HistoryCall& call) {
  const auto found = addresses_.find(call.address);
  if (found == addresses_.end()) return free_unknown(call);
  if (!found->second.live) {
    ++counts_.frees_of_dead;
    return;
  }
  found.value().live = false;
  add_event(TraceEvent::Kind::free, found->second.block, call);
}

void History::complete_free(const HistoryCall& call) {
  const auto found = addresses_.find(call.address);
  // Not live: the request stands in the trace, and was the program's free.
  if (found != addresses_.end() && !found->second.live) return;
  free(call);
}

void History::add_resident(Bytes bytes, std::uint64_t stream) {
  trace_.start.insert(trace_.start.begin(), add_block({0, bytes, stream, 0}));
}

void History::add_final(const HistoryCall& block, bool pending) {
  const auto [found, is_new] = addresses_.try_emplace(block.address);
  if (is_new) {
    found.value().live = true;
    candidates_.push_back(block);
  } else if (!found->second.live && !pending) {
    ++counts_.contradicted;
  }
}

// Final blocks that no call mentions were live all along, unless the calls put other blocks where
// they lie: then they came after the events end, and the events are what is replayed.
void History::settle_candidates() {
  if (candidates_.empty()) return;
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };
  std::vector<Range> used;
  used.reserve(trace_.blocks.size());
  for (std::size_t i = 0; i < trace_.blocks.size(); ++i) {
    used.push_back({block_address_[i], range_end(block_address_[i], trace_.blocks[i].bytes)});
  }
  std::sort(used.begin(), used.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  // From here on, each `end` is the furthest of all ranges that begin no later.
  for (std::size_t i = 1; i < used.size(); ++i)
    used[i].end = std::max(used[i].end, used[i - 1].end);

  for (const HistoryCall& candidate : candidates_) {
    const std::uint64_t end = range_end(candidate.address, candidate.bytes);
    const auto beyond = std::partition_point(used.begin(), used.end(),
                                             [&](const Range& range) { return range.begin < end; });
    if (beyond != used.begin() && std::prev(beyond)->end > candidate.address) {
      ++counts_.contradicted;
    } else {
      trace_.start.push_back(add_block(candidate));
    }
  }
  candidates_.clear();
}

std::optional<std::int64_t> History::first_time() const {
  const auto timed = std::find_if(trace_.events.begin(), trace_.events.end(),
                                  [](const TraceEvent& event) { return event.time_us != 0; });
  if (timed == trace_.events.end()) return std::nullopt;
  return timed->time_us;
}

Result<DeviceTrace, TraceError> History::finish(int device, std::int64_t origin_us) {
  settle_candidates();
  std::stable_sort(trace_.start.begin(), trace_.start.end(), [&](std::uint32_t a, std::uint32_t b) {
    return block_address_[a] < block_address_[b];
  });
  for (TraceEvent& event : trace_.events) {
    event.time_us = std::max<std::int64_t>(event.time_us, origin_us) - origin_us;
  }
  trace_.device = device;
  compute_peak_live(trace_);
  if (trace_.peak_live > kMaxTraceLive) {
    return TraceError{fmt::format("{}: its live blocks add up to more than {}", device_name(device),
                                  format_bytes(kMaxTraceLive)),
                      std::nullopt};
  }
  return std::move(trace_);
}

std::vector<std::string> describe_mending(const HistoryCounts& counts, int device) {
  std::vector<std::string> notes;
  const auto note = [&](std::uint64_t count, std::string_view one, std::string_view several,
                        std::string_view rest) {
    if (count == 0) return;
    notes.push_back(
        fmt::format("{}: {} {}.", device_title(device), counted(count, one, several), rest));
  };
  note(counts.start_frees, "block is freed that no event allocates; it is",
       "blocks are freed that no event allocates; they are", "taken to be live at the start");
  note(counts.frees_of_dead, "free of an address that was not live at that point is",
       "frees of addresses that were not live at that point are", "ignored");
  note(counts.lost_frees, "allocation returns", "allocations return",
       "an address that was still live; the older block is taken to be freed just before");
  note(counts.contradicted, "block is", "blocks are",
       "live in the final state though the events exclude it; the events are followed");
  return notes;
}

}  // namespace ferry::replay
