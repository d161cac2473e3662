// SPDX-License-Identifier: Apache-2.0
#include "memory/space.hpp"

#include <gtest/gtest.h>

#include "memory/sim_device.hpp"

namespace ferry {
namespace {

using testing_support::SimDevice;

constexpr std::uint64_t kPage = 2 << 20;

TEST(GrowthPolicy, NoChunkIsALargePartOfTheBudget) {
  const GrowthPolicy small{kPage, (4_GiB).count};
  const GrowthPolicy large{kPage, (80_GiB).count};
  EXPECT_EQ(small.chunk_ceiling(), 2 * kPage);
  EXPECT_EQ(large.chunk_ceiling(), 40 * kPage);
  EXPECT_EQ((GrowthPolicy{kPage, kPage}.chunk_ceiling()), kPage);
  EXPECT_EQ((GrowthPolicy{kPage, std::uint64_t{1} << 50}.chunk_ceiling()),
            GrowthPolicy::kLargestChunk);
}

TEST(GrowthPolicy, ChunksOfAGapAreFewAndEqual) {
  const GrowthPolicy policy{kPage, (80_GiB).count};
  EXPECT_EQ(policy.chunk_for(3 * kPage), 3 * kPage);
  EXPECT_EQ(policy.chunk_for(50 * kPage), 25 * kPage);
  std::uint64_t left = 501 * kPage;
  int chunks = 0;
  for (; left > 0; ++chunks) left -= policy.chunk_for(left);
  EXPECT_EQ(left, 0U);
  EXPECT_EQ(chunks, 13);
}

TEST(GrowthPolicy, StepsDoubleInARunOfSmallRequests) {
  const GrowthPolicy policy{kPage, (80_GiB).count};
  const std::uint64_t held = (60_GiB).count;
  std::uint64_t step = policy.next_step(kPage, held, 0);
  EXPECT_EQ(step, kPage) << "a single request wastes nothing";
  for (int i = 0; i < 4; ++i) step = policy.next_step(kPage, held, step);
  EXPECT_EQ(step, 16 * kPage);
  for (int i = 0; i < 4; ++i) step = policy.next_step(kPage, held, step);
  EXPECT_EQ(step, GrowthPolicy::kLargestStep);
  EXPECT_EQ(policy.next_step(20 * kPage, held, step), 0U) << "large requests get what they need";
}

TEST(GrowthPolicy, StepsAreASmallPartOfWhatIsHeld) {
  const GrowthPolicy policy{kPage, (80_GiB).count};
  EXPECT_EQ(policy.next_step(kPage, 0, 8 * kPage), 0U);
  EXPECT_EQ(policy.next_step(kPage, (1_GiB).count, 32 * kPage), 8 * kPage);
}

class SpaceTest : public testing::Test {
 protected:
  void SetUp() override {
    auto space = Space::reserve(sim_.pool_side(), 64 * kPage, kPage);
    ASSERT_TRUE(space.ok());
    space_ = std::move(space).value();
  }
  void TearDown() override {
    space_.reset();
    EXPECT_EQ(sim_.memory_in_use(), 0U);
  }

  SimDevice sim_;
  GrowthPolicy policy_{kPage, 4 * kPage* GrowthPolicy::kChunksInBudget};
  std::unique_ptr<Space> space_;
};

TEST_F(SpaceTest, CommitsUsableMemoryWithOneAccessCall) {
  ASSERT_TRUE(space_->commit_new(Gap{0, 8 * kPage}, policy_));
  EXPECT_EQ(space_->committed(), 8 * kPage);
  EXPECT_EQ(space_->chunks().size(), 2U);
  EXPECT_EQ(sim_.calls("cuMemSetAccess"), 1U);
  const StreamRef stream = sim_.stream();
  sim_.write(space_->address(8 * kPage - 4), 42, stream);
  EXPECT_EQ(sim_.word_at(space_->address(8 * kPage - 4), stream), 42U);
}

TEST_F(SpaceTest, KeepsWhatWasMadeWhenTheDeviceIsFull) {
  sim_.fail_nth("cuMemCreate", 2, 2);
  EXPECT_EQ(space_->commit_new(Gap{0, 8 * kPage}, policy_).code(), Code::out_of_memory);
  EXPECT_EQ(space_->committed(), 4 * kPage);
  EXPECT_EQ(sim_.memory_in_use(), 4 * kPage);
}

TEST_F(SpaceTest, TakesEverythingBackWhenMappingFails) {
  for (const char* const function : {"cuMemMap", "cuMemSetAccess"}) {
    sim_.fail_nth(function, 1, 999);
    EXPECT_FALSE(space_->commit_new(Gap{0, 8 * kPage}, policy_)) << function;
    EXPECT_EQ(space_->committed(), 0U);
    EXPECT_EQ(sim_.memory_in_use(), 0U);
    EXPECT_EQ(space_->segment().audit(), "");
  }
  EXPECT_TRUE(space_->commit_new(Gap{0, 8 * kPage}, policy_)) << "the addresses must be free again";
}

TEST_F(SpaceTest, DetachedChunksCanBeMappedElsewhere) {
  ASSERT_TRUE(space_->commit_new(Gap{0, 4 * kPage}, policy_));
  const Result<Chunk> chunk = space_->detach(0);
  ASSERT_TRUE(chunk.ok());
  EXPECT_EQ(space_->committed(), 0U);
  ASSERT_TRUE(space_->commit_moved(16 * kPage, {*chunk}));
  EXPECT_EQ(space_->segment().block(space_->segment().find_idle(4 * kPage)).offset, 16 * kPage);
}

TEST_F(SpaceTest, GapsAreTheEmptyPagesOfARange) {
  ASSERT_TRUE(space_->commit_new(Gap{2 * kPage, kPage}, policy_));
  const std::vector<Gap> gaps = space_->gaps(kPage + 512, 3 * kPage);
  ASSERT_EQ(gaps.size(), 2U);
  EXPECT_EQ(gaps[0].offset, kPage);
  EXPECT_EQ(gaps[0].size, kPage);
  EXPECT_EQ(gaps[1].offset, 3 * kPage);
  EXPECT_EQ(gaps[1].size, 2 * kPage);
}

TEST_F(SpaceTest, OnlyWhollyIdleChunksAreOffered) {
  ASSERT_TRUE(space_->commit_new(Gap{0, 8 * kPage}, policy_));
  Segment& segment = space_->segment();
  segment.take(segment.find_idle(512), 0, 512);
  std::vector<std::uint64_t> offered;
  space_->for_each_idle_chunk(
      [&](std::uint64_t offset, const Chunk&, const Block&) { offered.push_back(offset); });
  EXPECT_EQ(offered, std::vector<std::uint64_t>{4 * kPage});
}

TEST(Space, AsksForLessWhereAddressesAreScarce) {
  SimDevice sim;
  sim.fail_nth("cuMemAddressReserve", 1, 2);
  auto space = Space::reserve(sim.pool_side(), 64 * kPage, kPage);
  ASSERT_TRUE(space.ok());
  EXPECT_EQ((*space)->segment().size(), 8 * kPage);
}

}  // namespace
}  // namespace ferry
