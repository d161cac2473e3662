// SPDX-License-Identifier: Apache-2.0
#include "memory/pool_state.hpp"

#include <algorithm>

namespace ferry {

namespace {

// Adds one chunk to the usage. `first` is the first block that reaches into the chunk.
void add_chunk(PoolState::Usage& usage, const Segment& segment, std::uint64_t offset,
               std::uint64_t size, BlockId first) {
  bool live = false;
  bool fenced = false;
  std::uint64_t unused = 0;
  for (BlockId id = first; id != kNoBlock && segment.block(id).offset < offset + size;
       id = segment.block(id).next) {
    const Block& block = segment.block(id);
    live = live || block.state == BlockState::live;
    fenced = fenced || block.state == BlockState::fenced;
    if (block.state == BlockState::idle) {
      unused += std::min(block.end(), offset + size) - std::max(block.offset, offset);
    }
  }
  if (live) {
    usage.live += size;
    usage.slack += unused;
  } else {
    (fenced ? usage.fenced : usage.idle) += size;
  }
}

}  // namespace

bool PoolState::captures(StreamRef stream) const {
  if (private_pools.empty()) return false;
  const Result<bool> capturing = device.is_capturing(stream);
  return capturing ? *capturing : capturing.error().code() == Code::capture_active;
}

bool PoolState::captures_anything() const {
  return std::any_of(heaps.begin(), heaps.end(), [&](const std::unique_ptr<Heap>& heap) {
    return heap->is_private() && !heap->ended && captures(heap->stream);
  });
}

PoolState::Usage PoolState::usage() const {
  Usage usage;
  for (const std::unique_ptr<Heap>& heap : heaps) {
    for (const HeapSpace& entry : heap->spaces) {
      const Segment& segment = entry.space->segment();
      BlockId first = segment.first();
      for (const auto& [offset, chunk] : entry.space->chunks()) {
        while (segment.block(first).end() <= offset) first = segment.block(first).next;
        add_chunk(usage, segment, offset, chunk.size, first);
      }
    }
  }
  return usage;
}

}  // namespace ferry
