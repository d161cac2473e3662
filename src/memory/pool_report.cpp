// SPDX-License-Identifier: Apache-2.0
#include "memory/pool_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace ferry {

namespace {

constexpr std::size_t kLargestShown = 8;

std::string name_of(const Heap& heap) {
  const std::string name = heap.stream.key() == 0 ? std::string("default stream")
                                                  : fmt::format("stream {:#x}", heap.stream.key());
  return heap.ended ? name + " (ended)" : name;
}

std::uint64_t largest_idle(const Heap& heap) {
  std::uint64_t largest = 0;
  for (const HeapSpace& entry : heap.spaces) {
    const Segment& segment = entry.space->segment();
    for (BlockId id = segment.first(); id != kNoBlock; id = segment.block(id).next) {
      if (segment.block(id).state == BlockState::idle)
        largest = std::max(largest, segment.block(id).size);
    }
  }
  return largest;
}

void describe_live(const PoolState& state, std::string& out) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks;  // size, address
  for (const auto& [address, block] : state.live) blocks.emplace_back(block.requested, address);
  const std::size_t shown = std::min(kLargestShown, blocks.size());
  std::partial_sort(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(shown),
                    blocks.end(), std::greater<>());
  if (blocks.empty()) return;
  fmt::format_to(std::back_inserter(out), "largest live blocks ({} in all):\n", blocks.size());
  for (std::size_t i = 0; i < shown; ++i) {
    fmt::format_to(std::back_inserter(out), "  {:>10}  at {:#x}  on {}\n",
                   format_bytes(Bytes{blocks[i].first}), blocks[i].second,
                   name_of(*state.heaps[state.live.find(blocks[i].second)->second.user]));
  }
}

// Of whole chunks and beside live blocks alike: what a request of that stream could still use.
void describe_idle(const PoolState& state, std::string& out) {
  std::vector<std::pair<std::uint64_t, const Heap*>> heaps;
  for (const std::unique_ptr<Heap>& heap : state.heaps) {
    if (const std::uint64_t bytes = heap->idle_bytes(); bytes > 0)
      heaps.emplace_back(bytes, heap.get());
  }
  if (heaps.empty()) return;
  std::stable_sort(heaps.begin(), heaps.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  fmt::format_to(std::back_inserter(out),
                 "free memory by stream, that beside live blocks included ({} in all):\n",
                 heaps.size());
  heaps.resize(std::min(kLargestShown, heaps.size()));
  for (const auto& [bytes, heap] : heaps) {
    fmt::format_to(std::back_inserter(out), "  {:>10}  in {}, largest piece {}\n",
                   format_bytes(Bytes{bytes}), name_of(*heap),
                   format_bytes(Bytes{largest_idle(*heap)}));
  }
}

}  // namespace

DevicePoolStats current_stats(const PoolState& state) {
  DevicePoolStats stats = state.stats;
  const PoolState::Usage usage = state.usage();
  stats.reserved_bytes = Bytes{state.committed + state.lost};
  stats.slack_bytes = Bytes{usage.slack};
  for (const PendingFree& pending : state.pending) stats.fenced_bytes += Bytes{pending.block.size};
  for (const std::unique_ptr<Heap>& heap : state.heaps) {
    for (const HeapSpace& entry : heap->spaces) stats.chunks += entry.space->chunks().size();
  }
  return stats;
}

std::string describe_out_of_memory(const PoolState& state, Bytes bytes, const Heap& heap) {
  const PoolState::Usage usage = state.usage();
  std::string out = fmt::format(
      "out of memory: {} for {} could not be had.\n"
      "The pool holds {} of {} ({}): {} in chunks with live blocks ({} of that free beside them), "
      "{} fenced, {} idle.\n",
      format_bytes(bytes), name_of(heap), format_bytes(Bytes{state.committed}),
      format_bytes(Bytes{state.budget()}),
      state.limit.count != 0 ? "its limit" : "the device's memory", format_bytes(Bytes{usage.live}),
      format_bytes(Bytes{usage.slack}), format_bytes(Bytes{usage.fenced}),
      format_bytes(Bytes{usage.idle}));
  const std::uint64_t held = state.committed + state.lost;
  const std::uint64_t room = state.budget() - std::min(state.budget(), held);
  if (bytes.count > state.budget()) {
    out += "The request alone is larger than that.\n";
  } else if (usage.idle + room >= bytes.count) {
    out +=
        "That would suffice, but the driver gave no memory: another process or library may hold "
        "it, or no addresses are left.\n";
  } else {
    fmt::format_to(std::back_inserter(out),
                   "Chunks move only when no live block touches them: {} idle and {} never used "
                   "are less than the request. Free blocks{}.\n",
                   format_bytes(Bytes{usage.idle}), format_bytes(Bytes{room}),
                   state.limit.count != 0 ? " or raise the limit" : "");
  }
  if (state.lost > 0) {
    fmt::format_to(std::back_inserter(out), "The driver refused to take back {}.\n",
                   format_bytes(Bytes{state.lost}));
  }
  describe_live(state, out);
  describe_idle(state, out);
  return out;
}

}  // namespace ferry
