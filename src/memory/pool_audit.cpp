// SPDX-License-Identifier: Apache-2.0
#include "memory/pool_audit.hpp"

#include <cstdio>
#include <cstdlib>

namespace ferry {

namespace {

Status broken(const char* rule) {
  return Status(Code::internal, rule);
}

// Memory lies under exactly the blocks that are not empty. Chunks are in order of offset and so are
// blocks.
Status audit_chunks(const Space& space) {
  const Segment& segment = space.segment();
  auto chunk = space.chunks().begin();
  std::uint64_t sum = 0;
  std::uint64_t covered = 0;  // memory reaches up to here without a hole
  for (BlockId id = segment.first(); id != kNoBlock; id = segment.block(id).next) {
    const Block& block = segment.block(id);
    if (block.state == BlockState::empty) {
      if (covered > block.offset) return broken("a chunk reaches into addresses without memory");
      if (chunk != space.chunks().end() && chunk->first < block.end())
        return broken("a chunk lies in addresses without memory");
      covered = block.end();
      continue;
    }
    while (covered < block.end()) {
      if (chunk == space.chunks().end() || chunk->first != covered)
        return broken("a block lies on addresses without memory");
      covered += chunk->second.size;
      sum += chunk->second.size;
      ++chunk;
    }
  }
  return sum == space.committed() ? Status() : broken("a space's chunks do not add up");
}

struct Owned {
  std::uint64_t blocks = 0;  // live or fenced blocks in spaces
  std::uint64_t committed = 0;
};

Status audit_spaces(const PoolState& state, Owned& seen) {
  for (const std::unique_ptr<Heap>& heap : state.heaps) {
    for (const HeapSpace& entry : heap->spaces) {
      const Segment& segment = entry.space->segment();
      if (const std::string rule = segment.audit(); !rule.empty()) {
        std::fprintf(stderr, "ferry: audit: %s\n", rule.c_str());
        return broken("a segment's blocks are inconsistent");
      }
      FERRY_TRY(audit_chunks(*entry.space));
      seen.committed += entry.space->committed();
      for (BlockId id = segment.first(); id != kNoBlock; id = segment.block(id).next) {
        seen.blocks += segment.block(id).state >= BlockState::fenced;
      }
    }
  }
  return {};
}

// One owned block or slab slot: it is where its owner says it is, in the state the owner expects.
Status audit_owner(const PoolState& state, const LiveBlock& owned, BlockState expected) {
  const Heap& heap = *state.heaps[owned.heap];
  if (owned.in_slab()) {
    return heap.slabs.is_taken(SlabSlot{owned.id, owned.slot})
               ? Status()
               : broken("an owned slab block is marked free");
  }
  const Block& block = heap.space(owned.space).segment().block(owned.id);
  if (block.state != expected) return broken("an owned block is in the wrong state");
  return block.size == owned.size ? Status() : broken("an owned block has the wrong size");
}

Status audit_owners(const PoolState& state, const Owned& seen) {
  std::uint64_t blocks = 0;
  DevicePoolStats sums;
  for (const auto& [address, owned] : state.live) {
    FERRY_TRY(audit_owner(state, owned, BlockState::live));
    blocks += owned.in_slab() ? 0 : 1;
    sums.allocated_bytes += Bytes{owned.size};
    sums.requested_bytes += Bytes{owned.requested};
  }
  for (const PendingFree& pending : state.pending) {
    FERRY_TRY(audit_owner(state, pending.block, BlockState::fenced));
    blocks += pending.block.in_slab() ? 0 : 1;
  }
  for (const std::unique_ptr<Heap>& heap : state.heaps) blocks += heap->slabs.slab_count();
  if (blocks != seen.blocks) return broken("a live block has no owner, or two");
  if (state.live.size() != state.stats.allocations)
    return broken("the count of live blocks is wrong");
  if (sums.allocated_bytes != state.stats.allocated_bytes)
    return broken("the sum of allocated bytes is wrong");
  if (sums.requested_bytes != state.stats.requested_bytes)
    return broken("the sum of requested bytes is wrong");
  return {};
}

}  // namespace

Status audit_pool(const PoolState& state) {
  Owned seen;
  FERRY_TRY(audit_spaces(state, seen));
  if (seen.committed != state.committed) return broken("the count of committed bytes is wrong");
  FERRY_TRY(audit_owners(state, seen));
  const PoolState::Usage usage = state.usage();
  if (usage.live + usage.fenced + usage.idle != state.committed)
    return broken("live + fenced + idle != committed");
  return {};
}

void die_unless_sound(const Status& audit) {
  if (audit) return;
  std::fprintf(stderr, "ferry: a device pool is not sound: %s\n", audit.describe().c_str());
  std::abort();
}

}  // namespace ferry
