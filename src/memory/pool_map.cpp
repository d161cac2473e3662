// SPDX-License-Identifier: Apache-2.0
#include "memory/pool_map.hpp"

#include <algorithm>

namespace ferry {

namespace {

std::uint64_t address_of(const PoolState& state, const LiveBlock& block) {
  const Heap& heap = *state.heaps[block.heap];
  return block.in_slab() ? heap.slabs.address_of(SlabSlot{block.id, block.slot}).value
                         : heap.address_of(Placement{block.space, block.id}).value;
}

// Live and fenced blocks in order of address; where they lie is filled in later.
std::vector<PoolBlock> held_blocks(const PoolState& state) {
  std::vector<PoolBlock> held;
  held.reserve(state.live.size() + state.pending.size());
  const auto add = [&](std::uint64_t address, const LiveBlock& block, PoolBlockState kind) {
    held.push_back(PoolBlock{.address = DeviceAddress{address},
                             .size = Bytes{block.size},
                             .requested = Bytes{block.requested},
                             .state = kind,
                             .segment = {},
                             .segment_size = {},
                             .stream = state.heaps[block.heap]->stream,
                             .slabs = block.in_slab(),
                             .private_pool = state.heaps[block.heap]->private_pool});
  };
  for (const auto& [address, block] : state.live) add(address, block, PoolBlockState::live);
  for (const PendingFree& pending : state.pending)
    add(address_of(state, pending.block), pending.block, PoolBlockState::fenced);
  std::sort(held.begin(), held.end(),
            [](const PoolBlock& a, const PoolBlock& b) { return a.address < b.address; });
  return held;
}

// A stretch of memory: held blocks inside it, and free ones between them.
void map_stretch(PoolBlock whole, const std::vector<PoolBlock>& held, std::vector<PoolBlock>& out) {
  const DeviceAddress end = whole.segment + whole.segment_size;
  auto next = std::lower_bound(
      held.begin(), held.end(), whole.segment,
      [](const PoolBlock& block, DeviceAddress address) { return block.address < address; });
  const auto add_free = [&](DeviceAddress from, DeviceAddress to) {
    if (from == to) return;
    whole.address = from;
    whole.size = to - from;
    out.push_back(whole);
  };
  DeviceAddress at = whole.segment;
  for (; next != held.end() && next->address < end; ++next) {
    add_free(at, next->address);
    out.push_back(*next);
    out.back().segment = whole.segment;
    out.back().segment_size = whole.segment_size;
    at = next->address + next->size;
  }
  add_free(at, end);
}

}  // namespace

std::vector<PoolBlock> map_of(const PoolState& state) {
  const std::vector<PoolBlock> held = held_blocks(state);
  std::vector<PoolBlock> out;
  for (const std::unique_ptr<Heap>& heap : state.heaps) {
    for (const HeapSpace& entry : heap->spaces) {
      const Segment& segment = entry.space->segment();
      for (BlockId id = segment.first(); id != kNoBlock;) {
        const std::uint64_t begin = segment.block(id).offset;
        std::uint64_t end = begin;
        for (; id != kNoBlock && segment.block(id).state != BlockState::empty;
             id = segment.block(id).next)
          end = segment.block(id).end();
        if (end == begin) {
          id = segment.block(id).next;
          continue;
        }
        map_stretch(PoolBlock{.address = {},
                              .size = {},
                              .requested = {},
                              .state = PoolBlockState::idle,
                              .segment = entry.space->address(begin),
                              .segment_size = Bytes{end - begin},
                              .stream = heap->stream,
                              .slabs = entry.kind == SpaceKind::slabs,
                              .private_pool = heap->private_pool},
                    held, out);
      }
    }
  }
  std::sort(out.begin(), out.end(),
            [](const PoolBlock& a, const PoolBlock& b) { return a.address < b.address; });
  return out;
}

}  // namespace ferry
