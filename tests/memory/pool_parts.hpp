// SPDX-License-Identifier: Apache-2.0
// A pool's state with one heap and memory in it, for tests of the parts that work on it.
#pragma once

#include <memory>
#include <utility>

#include "memory/pool_state.hpp"
#include "memory/sim_device.hpp"
#include "memory/stream_key.hpp"

namespace ferry::testing_support {

class PoolParts {
 public:
  static constexpr std::uint64_t kPage = 2 << 20;

  explicit PoolParts(Bytes limit = Bytes{}, const char* settings = "schedule=eager")
      : sim(settings), state(sim.pool_side(), limit, 4_GiB) {
    add_heap(StreamRef::legacy_default());
  }
  ~PoolParts() {
    // As the pool does: nothing may be queued on memory that goes.
    EXPECT_TRUE(sim.test_side().synchronize());
  }

  Heap& add_heap(StreamRef stream) {
    state.heaps.push_back(std::make_unique<Heap>(stream, stream_key(stream)));
    auto space = Space::reserve(sim.pool_side(), 256 * kPage, kPage);
    EXPECT_TRUE(space.ok());
    state.heaps.back()->spaces.push_back(HeapSpace{SpaceKind::blocks, std::move(space).value()});
    return *state.heaps.back();
  }
  Heap& heap(std::size_t index = 0) { return *state.heaps[index]; }
  Space& space(std::size_t index = 0) { return heap(index).space(0); }

  // Idle memory at an offset of a heap's space.
  void commit(std::uint64_t offset, std::uint64_t size, std::size_t index = 0) {
    EXPECT_TRUE(space(index).commit_new(Gap{offset, size}, state.policy()));
    state.committed += size;
  }
  // A live block that the user holds.
  LiveBlock hold(std::uint64_t offset, std::uint64_t size, std::size_t index = 0) {
    Segment& segment = space(index).segment();
    LiveBlock block{.heap = static_cast<std::uint32_t>(index),
                    .user = static_cast<std::uint32_t>(index)};
    block.id = segment.take(segment.block_at(offset), offset, size);
    block.size = block.requested = size;
    state.live.insert({space(index).address(offset).value, block});
    ++state.stats.allocations;
    state.stats.allocated_bytes += Bytes{size};
    state.stats.requested_bytes += Bytes{size};
    return block;
  }
  // Frees it again, as pending on `events`.
  void make_pending(std::uint64_t offset, const LiveBlock& block, std::vector<EventHandle> events) {
    state.live.erase(space(block.heap).address(offset).value);
    --state.stats.allocations;
    state.stats.allocated_bytes -= Bytes{block.size};
    state.stats.requested_bytes -= Bytes{block.requested};
    space(block.heap).segment().fence(block.id);
    PendingFree pending;
    pending.block = block;
    pending.events = std::move(events);
    state.pending.push_back(std::move(pending));
  }

  SimDevice sim;
  PoolState state;
};

}  // namespace ferry::testing_support
