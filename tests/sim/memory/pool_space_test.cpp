// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/pool_space.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// A release is the number of a free.
class PoolSpaceTest : public testing::Test {
 protected:
  void add(std::uint64_t bytes) { space.add(physical.create(0, bytes)); }
  PoolPlace take(std::uint64_t bytes) { return take_any(bytes).place; }
  PoolSpace<int>::Taken take_any(std::uint64_t bytes) {
    auto taken = space.take(bytes, [](int) { return true; });
    EXPECT_TRUE(taken.has_value());
    return taken.value_or(PoolSpace<int>::Taken{});
  }
  bool fits(std::uint64_t bytes, int allowed) {
    return space.take(bytes, [&](int release) { return release == allowed; }).has_value();
  }
  std::vector<int> shrink(std::uint64_t keep, int ended_up_to = 100) {
    return space.shrink(keep, [&](int release) { return release <= ended_up_to; });
  }

  PhysicalMemory physical{1, Bytes{64 * kMiB}, false};
  PoolSpace<int> space;
};

TEST_F(PoolSpaceTest, LivePiecesDoNotOverlapAndAreAligned) {
  add(2 * kMiB);
  const PoolPlace a = take(1);
  const PoolPlace b = take(513);
  const PoolPlace c = take(512);
  EXPECT_EQ(a.size, 512U);
  EXPECT_EQ(b.size, 1024U);
  EXPECT_EQ(b.offset, a.offset + a.size);
  EXPECT_EQ(c.offset, b.offset + b.size);
  EXPECT_EQ(space.used().current, 2048U);
}

TEST_F(PoolSpaceTest, WhatDoesNotFitIsRefused) {
  EXPECT_FALSE(fits(1, 0)) << "there is no block yet";
  add(2 * kMiB);
  EXPECT_FALSE(fits(2 * kMiB + 1, 0));
  EXPECT_TRUE(fits(2 * kMiB, 0));
  EXPECT_FALSE(fits(1, 0)) << "all of it is live";
}

TEST_F(PoolSpaceTest, TheSmallestStretchThatFitsIsTaken) {
  add(4 * kMiB);
  const PoolPlace large = take(2 * kMiB);
  const PoolPlace wall = take(kMiB / 2);
  const PoolPlace small = take(kMiB);
  static_cast<void>(take(kMiB / 2));
  space.give(large, 1);
  space.give(small, 2);
  EXPECT_EQ(take(kMiB).offset, small.offset);
  EXPECT_EQ(take(kMiB).offset, large.offset);
  EXPECT_NE(wall.offset, large.offset);
}

TEST_F(PoolSpaceTest, AFullBlockServesAgainWhenSomethingWasGiven) {
  add(2 * kMiB);
  const PoolPlace all = take(2 * kMiB);
  space.give(all, 1);
  EXPECT_EQ(take(kMiB).offset, 0U);
  EXPECT_EQ(take(kMiB).offset, kMiB);
  EXPECT_FALSE(fits(1, 1));
}

TEST_F(PoolSpaceTest, OnlyAllowedPiecesAreTaken) {
  add(2 * kMiB);
  const PoolPlace a = take(kMiB);
  const PoolPlace b = take(kMiB);
  space.give(a, 1);
  space.give(b, 2);
  EXPECT_FALSE(fits(1, 3));
  EXPECT_FALSE(fits(kMiB + 512, 1)) << "only half of it may be used";
  EXPECT_TRUE(fits(kMiB, 2));
  EXPECT_FALSE(fits(1, 2));
  EXPECT_TRUE(fits(kMiB, 1));
}

TEST_F(PoolSpaceTest, AStretchOfSeveralPiecesNamesAllItReplaces) {
  add(2 * kMiB);
  const PoolPlace a = take(kMiB / 2);
  const PoolPlace b = take(kMiB / 2);
  const PoolPlace c = take(kMiB);
  space.give(a, 1);
  space.give(b, 2);
  space.give(c, 3);
  const auto taken = take_any(kMiB + 512);
  EXPECT_EQ(taken.place.offset, 0U);
  EXPECT_EQ(taken.replaced, (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(fits(kMiB - 512, 3)) << "the rest still waits for what its piece waited for";
}

TEST_F(PoolSpaceTest, BlocksGoBackWhenAllOfThemHasEnded) {
  add(4 * kMiB);
  const PoolPlace a = take(kMiB);
  const PoolPlace b = take(kMiB);
  EXPECT_TRUE(shrink(0).empty());
  space.give(a, 1);
  EXPECT_TRUE(shrink(0).empty()) << "b is live";
  space.give(b, 2);
  EXPECT_TRUE(shrink(0, 1).empty()) << "the free of b has not ended";
  EXPECT_EQ(space.reserved().current, 4 * kMiB);
  EXPECT_EQ(shrink(0, 2), (std::vector<int>{1, 2}));
  EXPECT_EQ(space.reserved().current, 0U);
}

TEST_F(PoolSpaceTest, WhatShallBeKeptIsKept) {
  add(2 * kMiB);
  add(4 * kMiB);
  static_cast<void>(shrink(6 * kMiB));
  EXPECT_EQ(space.reserved().current, 6 * kMiB);
  static_cast<void>(shrink(3 * kMiB));
  EXPECT_EQ(space.reserved().current, 4 * kMiB);
  static_cast<void>(shrink(1));
  EXPECT_EQ(space.reserved().current, 4 * kMiB) << "there is no smaller block to give back";
}

TEST_F(PoolSpaceTest, MemoryOfTheDeviceGoesBackOnlyWithThePlaces) {
  add(2 * kMiB);
  PoolPlace place = take(kMiB);
  space.give(place, 1);
  static_cast<void>(shrink(0));
  EXPECT_EQ(physical.in_use(0).count, 2 * kMiB) << "the place still holds the block";
  place = {};
  EXPECT_EQ(physical.in_use(0).count, 0U);
}

TEST_F(PoolSpaceTest, WatermarksStayUntilTheyAreReset) {
  add(2 * kMiB);
  const PoolPlace a = take(kMiB);
  const PoolPlace b = take(kMiB);
  space.give(a, 1);
  EXPECT_EQ(space.used().current, kMiB);
  EXPECT_EQ(space.used().high, 2 * kMiB);
  space.reset_used_high();
  EXPECT_EQ(space.used().high, kMiB);
  space.give(b, 1);
  static_cast<void>(shrink(0));
  EXPECT_EQ(space.reserved().high, 2 * kMiB);
  space.reset_reserved_high();
  EXPECT_EQ(space.reserved().high, 0U);
}

TEST_F(PoolSpaceTest, ImportsAreCountedAndGiveNothingOut) {
  space.count_import(3 * kMiB);
  EXPECT_EQ(space.reserved().current, 3 * kMiB);
  EXPECT_EQ(space.used().current, 3 * kMiB);
  EXPECT_FALSE(fits(1, 0));
  space.uncount_import(2 * kMiB);
  EXPECT_EQ(space.reserved().current, kMiB);
  EXPECT_EQ(space.used().current, kMiB);
  EXPECT_EQ(space.used().high, 3 * kMiB);
}

TEST_F(PoolSpaceTest, EveryBlockIsVisited) {
  add(2 * kMiB);
  add(4 * kMiB);
  std::uint64_t bytes = 0;
  space.for_each_block([&](const auto& block) { bytes += block->size; });
  EXPECT_EQ(bytes, 6 * kMiB);
}

}  // namespace
}  // namespace ferry::sim
