// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/range_allocator.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace ferry::sim {
namespace {

TEST(RangeAllocator, HandsOutAllOfItAndNoMore) {
  RangeAllocator ranges(1000, 100);
  EXPECT_EQ(ranges.take(60, 1), 1000U);
  EXPECT_EQ(ranges.take(41, 1), std::nullopt);
  EXPECT_EQ(ranges.take(40, 1), 1060U);
  EXPECT_EQ(ranges.take(1, 1), std::nullopt);
  ranges.give(1000, 60);
  EXPECT_FALSE(ranges.all_free());
  ranges.give(1060, 40);
  EXPECT_TRUE(ranges.all_free());
  EXPECT_EQ(ranges.take(100, 1), 1000U) << "neighbours were joined";
}

TEST(RangeAllocator, GivesBackLate) {
  RangeAllocator ranges(0, 100);
  EXPECT_EQ(ranges.take(10, 1), 0U);
  ranges.give(0, 10);
  for (std::uint64_t round = 1; round < 10; ++round) {
    EXPECT_EQ(ranges.take(10, 1), round * 10) << "others first";
    ranges.give(round * 10, 10);
  }
  EXPECT_EQ(ranges.take(10, 1), 0U) << "then round again";
}

TEST(RangeAllocator, Aligns) {
  RangeAllocator ranges(3, 1000);
  EXPECT_EQ(ranges.take(5, 64), 64U);
  EXPECT_EQ(ranges.take(5, 64), 128U);
  EXPECT_EQ(ranges.take(5, 1), 133U);
}

TEST(RangeAllocator, TakesAGivenPlaceOnce) {
  RangeAllocator ranges(0, 100);
  EXPECT_TRUE(ranges.take_at(50, 10));
  EXPECT_FALSE(ranges.take_at(55, 10));
  EXPECT_FALSE(ranges.take_at(45, 10));
  EXPECT_FALSE(ranges.take_at(95, 10));
  EXPECT_FALSE(ranges.take_at(200, 10));
  EXPECT_TRUE(ranges.take_at(40, 10));
  EXPECT_TRUE(ranges.take_at(60, 40));
}

TEST(RangeAllocator, RandomUseNeverOverlaps) {
  std::mt19937 random(5);
  RangeAllocator ranges(1 << 12, 1 << 16);
  std::map<std::uint64_t, std::uint64_t> taken;
  for (int step = 0; step < 20000; ++step) {
    if (taken.empty() || random() % 2 == 0) {
      const std::uint64_t size = 1 + random() % 2000;
      const std::uint64_t alignment = std::uint64_t{1} << (random() % 10);
      const auto start = ranges.take(size, alignment);
      if (!start) continue;
      ASSERT_EQ(*start % alignment, 0U);
      ASSERT_GE(*start, 1U << 12);
      ASSERT_LE(*start + size, (1U << 12) + (1U << 16));
      const auto next = taken.lower_bound(*start);
      ASSERT_TRUE(next == taken.end() || next->first >= *start + size);
      ASSERT_TRUE(next == taken.begin() ||
                  std::prev(next)->first + std::prev(next)->second <= *start);
      taken.emplace(*start, size);
    } else {
      auto victim = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % taken.size()));
      ranges.give(victim->first, victim->second);
      taken.erase(victim);
    }
  }
  for (const auto& [start, size] : taken) ranges.give(start, size);
  EXPECT_TRUE(ranges.all_free());
  EXPECT_EQ(ranges.take(1 << 16, 1), 1U << 12);
}

TEST(RangeAllocator, OnRequestTheLatestThatFitsComesBackFirst) {
  RangeAllocator ranges(0, 1 << 16);
  ranges.set_reuse_at_once(true);
  const std::uint64_t first = ranges.take(100, 1).value();
  const std::uint64_t second = ranges.take(300, 1).value();
  const std::uint64_t third = ranges.take(50, 1).value();
  ASSERT_TRUE(ranges.take(10, 1));
  ranges.give(second, 300);
  ranges.give(first, 100);
  ranges.give(third, 50);
  EXPECT_EQ(ranges.take(80, 1), first) << "not the third, which is too small";
  EXPECT_EQ(ranges.take(50, 1), third);
  EXPECT_EQ(ranges.take(300, 1), second);
  EXPECT_EQ(ranges.take(300, 1), 460U) << "nothing is given twice";
}

}  // namespace
}  // namespace ferry::sim
