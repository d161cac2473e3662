// SPDX-License-Identifier: Apache-2.0
#include "memory/placer.hpp"

#include <gtest/gtest.h>

#include "memory/pool_parts.hpp"

namespace ferry {
namespace {

using testing_support::PoolParts;
constexpr std::uint64_t kPage = PoolParts::kPage;

class PlacerTest : public testing::Test {
 protected:
  void SetUp() override { parts_.add_heap(other_); }

  StreamRef other_{reinterpret_cast<void*>(0x10)};
  PoolParts parts_;
  Reclaimer reclaimer_{parts_.state};
  Placer placer_{parts_.state, reclaimer_};
};

TEST_F(PlacerTest, SmallRequestsShareASlabAndNeverALargeBlocksChunk) {
  const Result<LiveBlock> large = placer_.find(0, kPage / 2);
  const Result<LiveBlock> first = placer_.find(0, 700);
  const Result<LiveBlock> second = placer_.find(0, 1024);
  ASSERT_TRUE(large.ok() && first.ok() && second.ok());
  EXPECT_TRUE(first->in_slab());
  EXPECT_EQ(first->id, second->id);
  EXPECT_NE(first->slot, second->slot);
  EXPECT_FALSE(large->in_slab());
  EXPECT_EQ(parts_.state.committed, 2 * kPage) << "a chunk for slabs and one for blocks";
}

TEST_F(PlacerTest, OwnIdleMemoryComesBeforeAnyOther) {
  parts_.commit(0, kPage, 0);
  parts_.commit(0, kPage, 1);
  const Result<LiveBlock> block = placer_.find(1, kPage);
  ASSERT_TRUE(block.ok());
  EXPECT_EQ(block->heap, 1U);
}

TEST_F(PlacerTest, OtherStreamsIdleMemoryComesBeforeNewMemory) {
  parts_.commit(0, kPage, 0);
  const Result<LiveBlock> block = placer_.find(1, kPage);
  ASSERT_TRUE(block.ok());
  EXPECT_EQ(block->heap, 0U);
  EXPECT_EQ(block->user, 1U);
  EXPECT_EQ(parts_.state.committed, kPage);
}

TEST_F(PlacerTest, ModestRequestsDoNotSplinterOtherStreamsMemory) {
  parts_.commit(0, kPage, 0);
  const Result<LiveBlock> block = placer_.find(1, 100 << 10);
  ASSERT_TRUE(block.ok());
  EXPECT_EQ(block->heap, 1U);
}

TEST_F(PlacerTest, ABlockJustFreedOnAnotherStreamIsNotBorrowed) {
  parts_.commit(0, kPage, 0);
  const LiveBlock held = parts_.hold(0, kPage, 0);
  const StreamRef stream = parts_.sim.stream();
  parts_.sim.write(parts_.space().address(0), 1, stream);
  parts_.state.live.clear();
  parts_.heap().put_back(Placement{held.space, held.id}, parts_.heap().clock.tick());
  parts_.sim.fail_nth("cuCtxRecordEvent", 1, 801);  // no event can tell whether the work is done
  const Result<LiveBlock> block = placer_.find(1, kPage);
  ASSERT_TRUE(block.ok());
  EXPECT_EQ(block->heap, 1U);
}

TEST_F(PlacerTest, WaitsForTheDeviceOnceBeforeItSaysNo) {
  parts_.state.limit = Bytes{2 * kPage};
  parts_.commit(0, 2 * kPage, 0);
  parts_.hold(0, 512, 0);
  parts_.hold(kPage, 512, 0);
  EXPECT_EQ(placer_.find(1, kPage).error().code(), Code::out_of_memory);
  EXPECT_EQ(parts_.state.stats.num_sync_all_streams, 1U);
  EXPECT_EQ(placer_.find(1, 3 * kPage).error().code(), Code::out_of_memory);
  EXPECT_EQ(parts_.state.stats.num_sync_all_streams, 1U)
      << "more than the limit: waiting cannot help";
}

TEST_F(PlacerTest, WhenMemoryIsShortAnyOpeningServes) {
  parts_.state.limit = Bytes{2 * kPage};
  parts_.commit(0, kPage, 0);
  parts_.commit(0, kPage, 1);
  parts_.hold(0, 512, 0);
  parts_.hold(0, kPage, 1);
  const Result<LiveBlock> modest = placer_.find(1, 100 << 10);
  ASSERT_TRUE(modest.ok()) << "the other heap's page has room";
  EXPECT_EQ(modest->heap, 0U);
  EXPECT_EQ(modest->user, 1U);
  EXPECT_EQ(placer_.find(1, 512).error().code(), Code::out_of_memory)
      << "slabs stay in their own heap";
  EXPECT_TRUE(placer_.find(0, 512).ok()) << "beside the blocks of their heap, if need be";
}

TEST_F(PlacerTest, AnotherReservationIsMadeWhenAddressesRunOut) {
  ASSERT_TRUE(placer_.find(0, 255 * kPage).ok());
  const Result<LiveBlock> block = placer_.find(0, 3 * kPage);
  ASSERT_TRUE(block.ok());
  EXPECT_EQ(block->space, 1U);
}

}  // namespace
}  // namespace ferry
