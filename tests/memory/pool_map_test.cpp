// SPDX-License-Identifier: Apache-2.0
#include "memory/pool_map.hpp"

#include <gtest/gtest.h>

#include "memory/device_pool_fixture.hpp"
#include "memory/pool_parts.hpp"

namespace ferry {
namespace {

using testing_support::PoolParts;
constexpr std::uint64_t kPage = PoolParts::kPage;

TEST(PoolMap, TilesEachStretchOfMemory) {
  PoolParts parts;
  parts.commit(0, 3 * kPage);
  parts.commit(8 * kPage, kPage);  // addresses are missing before it: a segment of its own
  const LiveBlock fenced = parts.hold(kPage, 1024);
  parts.hold(0, 512);
  parts.make_pending(kPage, fenced, {});
  const std::vector<PoolBlock> map = map_of(parts.state);
  ASSERT_EQ(map.size(), 5U);
  const DeviceAddress base = parts.space().address(0);
  const std::vector<PoolBlockState> states = {PoolBlockState::live, PoolBlockState::idle,
                                              PoolBlockState::fenced, PoolBlockState::idle,
                                              PoolBlockState::idle};
  DeviceAddress expected = base;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(map[i].address, expected);
    EXPECT_EQ(map[i].state, states[i]) << i;
    EXPECT_EQ(map[i].segment, base);
    EXPECT_EQ(map[i].segment_size.count, 3 * kPage);
    expected = map[i].address + map[i].size;
  }
  EXPECT_EQ(expected, base + Bytes{3 * kPage});
  EXPECT_EQ(map[0].requested.count, 512U);
  EXPECT_EQ(map[1].requested.count, 0U);
  EXPECT_EQ(map[4].segment, base + Bytes{8 * kPage});
  EXPECT_EQ(map[4].size.count, kPage);
}

class PoolMapOfAPool : public testing_support::DevicePoolTest {};

TEST_P(PoolMapOfAPool, ShowsSmallBlocksAsTheUserKnowsThem) {
  const DeviceAddress small = allocate(100_B, first_);
  const DeviceAddress large = allocate(5_MiB, first_);
  std::uint64_t mapped = 0;
  unsigned live = 0;
  for (const PoolBlock& block : pool_->blocks()) {
    mapped += block.size.count;
    if (block.state != PoolBlockState::live) continue;
    ++live;
    EXPECT_EQ(block.slabs, block.address == small);
    EXPECT_EQ(block.requested, block.address == small ? 100_B : 5_MiB);
    EXPECT_EQ(block.size.count, block.address == small ? 512U : 5U << 20);
    EXPECT_EQ(block.stream, first_);
  }
  EXPECT_EQ(live, 2U);
  EXPECT_EQ(mapped, pool_->stats().reserved_bytes.count);
  free(small, first_);
  free(large, first_);
}

TEST_P(PoolMapOfAPool, FiguresFollowTheBlocks) {
  const DeviceAddress small = allocate(100_B, first_);
  const DeviceAddress large = allocate(5_MiB, first_);
  PoolFigures now = pool_->figures();
  EXPECT_EQ(now.allocations.of[SplitFigure::kAll].now, 2U);
  EXPECT_EQ(now.allocations.of[SplitFigure::kSmall].now, 1U);
  EXPECT_EQ(now.requested_bytes.of[SplitFigure::kSmall].now, 100U);
  EXPECT_EQ(now.allocated_bytes.of[SplitFigure::kSmall].now, 512U);
  EXPECT_EQ(now.active_bytes.of[SplitFigure::kLarge].now, 5U << 20);
  EXPECT_EQ(now.reserved_bytes.now, pool_->stats().reserved_bytes.count);
  EXPECT_EQ(now.chunks.now, pool_->stats().chunks);
  free(large, second_);  // stays active until the pool knows that the second stream has passed it
  now = pool_->figures();
  EXPECT_EQ(now.allocations.of[SplitFigure::kLarge].now, 0U);
  EXPECT_EQ(now.active.of[SplitFigure::kLarge].now, 1U);
  free(small, first_);
  ASSERT_TRUE(pool_->trim(0_B).ok());
  now = pool_->figures();
  EXPECT_EQ(now.active.of[SplitFigure::kAll].now, 0U);
  EXPECT_EQ(now.reserved_bytes.now, 0U);
  EXPECT_EQ(now.reserved_bytes.added, now.reserved_bytes.removed);
  EXPECT_EQ(now.chunks.now, 0U);
  EXPECT_GE(now.reserved_bytes.peak, 5U << 20);
  EXPECT_EQ(now.allocations.of[SplitFigure::kAll].peak, 2U);
  pool_->reset_peaks();
  EXPECT_EQ(pool_->figures().reserved_bytes.peak, 0U);
  EXPECT_EQ(pool_->figures().allocations.of[SplitFigure::kAll].added, 2U);
  pool_->reset_totals();
  EXPECT_EQ(pool_->figures().allocations.of[SplitFigure::kAll].added, 0U);
}

INSTANTIATE_TEST_SUITE_P(Schedules, PoolMapOfAPool,
                         testing::Values("schedule=eager", "schedule=lazy"));

}  // namespace
}  // namespace ferry
