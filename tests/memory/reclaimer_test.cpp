// SPDX-License-Identifier: Apache-2.0
#include "memory/reclaimer.hpp"

#include <gtest/gtest.h>

#include "memory/pool_audit.hpp"
#include "memory/pool_parts.hpp"

namespace ferry {
namespace {

using testing_support::PoolParts;
constexpr std::uint64_t kPage = PoolParts::kPage;
constexpr int kCudaOutOfMemory = 2;

void expect_sound(const PoolState& state) {
  EXPECT_TRUE(audit_pool(state)) << audit_pool(state).describe();
}

TEST(Reclaimer, CommitsNewMemoryWhileItMay) {
  PoolParts parts(64_MiB);
  Reclaimer reclaimer(parts.state);
  ASSERT_TRUE(reclaimer.commit(parts.heap(), 0, 512, 3 * kPage));
  EXPECT_EQ(parts.state.committed, 4 * kPage);
  EXPECT_EQ(parts.state.stats.chunks_moved, 0U);
  expect_sound(parts.state);
}

TEST(Reclaimer, MovesIdleChunksAtTheLimit) {
  PoolParts parts(16_MiB);
  parts.add_heap(StreamRef{reinterpret_cast<void*>(0x10)});
  parts.commit(0, 8 * kPage, 1);
  const std::uint64_t created = parts.sim.calls("cuMemCreate");
  Reclaimer reclaimer(parts.state);
  ASSERT_TRUE(reclaimer.commit(parts.heap(), 0, 0, 4 * kPage));
  EXPECT_EQ(parts.sim.calls("cuMemCreate"), created);
  EXPECT_EQ(parts.state.stats.chunks_moved, 4U);
  EXPECT_EQ(parts.space(1).committed(), 4 * kPage);
  expect_sound(parts.state);
}

TEST(Reclaimer, MovesIdleChunksWhenTheDeviceIsFull) {
  PoolParts parts;
  parts.commit(64 * kPage, 4 * kPage);
  parts.sim.fail_nth("cuMemCreate", 1, kCudaOutOfMemory);
  Reclaimer reclaimer(parts.state);
  ASSERT_TRUE(reclaimer.commit(parts.heap(), 0, 0, 2 * kPage));
  EXPECT_EQ(parts.state.committed, 4 * kPage);
  expect_sound(parts.state);
}

TEST(Reclaimer, ReleasesChunksThatAreTooLargeToMove) {
  PoolParts parts(16_MiB);
  parts.state.limit = Bytes{};  // so that the idle chunk is one of four pages
  parts.commit(64 * kPage, 4 * kPage);
  ASSERT_EQ(parts.space().chunks().size(), 2U);
  parts.state.limit = Bytes{4 * kPage};
  Reclaimer reclaimer(parts.state);
  ASSERT_TRUE(reclaimer.commit(parts.heap(), 0, 0, kPage));
  EXPECT_LE(parts.state.committed, 4 * kPage);
  EXPECT_EQ(parts.sim.memory_in_use(), parts.state.committed);
  expect_sound(parts.state);
}

TEST(Reclaimer, LeavesMemoryWhoseFenceHasNotPassed) {
  PoolParts parts(8_MiB);
  parts.commit(64 * kPage, 4 * kPage);
  Segment& segment = parts.space().segment();
  const BlockId block = segment.take(segment.find_idle(kPage), 64 * kPage, 4 * kPage);
  segment.put_back(block, parts.heap().clock.tick());
  Reclaimer reclaimer(parts.state);
  EXPECT_EQ(reclaimer.commit(parts.heap(), 0, 0, kPage).code(), Code::out_of_memory);
  ASSERT_TRUE(reclaimer.synchronize());
  EXPECT_TRUE(reclaimer.commit(parts.heap(), 0, 0, kPage));
  EXPECT_EQ(parts.state.stats.num_sync_all_streams, 1U);
}

TEST(Reclaimer, NeverTakesChunksOutOfTheWindowItself) {
  PoolParts parts(8_MiB);
  parts.commit(kPage, kPage);
  Reclaimer reclaimer(parts.state);
  ASSERT_TRUE(reclaimer.commit(parts.heap(), 0, 0, 4 * kPage));
  EXPECT_EQ(reclaimer.commit(parts.heap(), 0, 0, 5 * kPage).code(), Code::out_of_memory);
  EXPECT_EQ(parts.space().committed(), 4 * kPage);
  expect_sound(parts.state);
}

TEST(Reclaimer, PendingBlocksBecomeIdleWhenTheirEventsAreReached) {
  PoolParts parts(Bytes{}, "schedule=lazy");
  const StreamRef stream = parts.sim.stream();
  parts.commit(0, 2 * kPage);
  const LiveBlock block = parts.hold(0, kPage);
  parts.sim.write(parts.space().address(0), 1, stream);
  const Result<EventHandle> event = parts.state.events.record(stream);
  ASSERT_TRUE(event.ok());
  parts.make_pending(0, block, {*event});
  Reclaimer reclaimer(parts.state);
  reclaimer.poll_fences();
  EXPECT_EQ(parts.state.pending.size(), 1U);
  ASSERT_TRUE(parts.sim.test_side().synchronize(stream));
  reclaimer.poll_fences();
  EXPECT_TRUE(parts.state.pending.empty());
  EXPECT_EQ(parts.heap().idle_bytes(), 2 * kPage);
  expect_sound(parts.state);
}

TEST(Reclaimer, QuarantinedBlocksWaitForTheDevice) {
  PoolParts parts;
  parts.commit(0, kPage);
  const LiveBlock block = parts.hold(0, kPage);
  parts.make_pending(0, block, {});
  parts.state.pending.back().quarantined = true;
  Reclaimer reclaimer(parts.state);
  reclaimer.poll_fences();
  EXPECT_EQ(parts.state.pending.size(), 1U);
  ASSERT_TRUE(reclaimer.synchronize());
  EXPECT_TRUE(parts.state.pending.empty());
}

TEST(Reclaimer, MemoryThatTheDriverKeepsStillCounts) {
  PoolParts parts(Bytes{4 * kPage});
  parts.commit(0, 2 * kPage);
  Reclaimer reclaimer(parts.state);
  parts.sim.fail_nth("cuMemRelease", 1, 999);
  EXPECT_FALSE(reclaimer.release_down_to(0));
  EXPECT_GT(parts.state.lost, 0U);
  EXPECT_EQ(parts.state.committed + parts.state.lost, 2 * kPage);
  ASSERT_TRUE(reclaimer.release_down_to(0));
  EXPECT_EQ(parts.state.committed, 0U);
  const std::uint64_t room = 4 * kPage - parts.state.lost;
  EXPECT_EQ(reclaimer.commit(parts.heap(), 0, 0, 4 * kPage).code(), Code::out_of_memory);
  EXPECT_TRUE(reclaimer.commit(parts.heap(), 0, 0, room));
  expect_sound(parts.state);
}

TEST(Reclaimer, ReleasesDownToAWish) {
  PoolParts parts;
  parts.commit(0, 8 * kPage);
  parts.hold(0, 512);
  Reclaimer reclaimer(parts.state);
  ASSERT_TRUE(reclaimer.release_down_to(5 * kPage));
  EXPECT_LE(parts.state.committed, 5 * kPage);
  ASSERT_TRUE(reclaimer.release_down_to(0));
  EXPECT_EQ(parts.state.committed, 2 * kPage) << "the chunk of the live block stays";
  expect_sound(parts.state);
}

}  // namespace
}  // namespace ferry
