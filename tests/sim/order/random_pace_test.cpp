// SPDX-License-Identifier: Apache-2.0
#include "sim/order/random_pace.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

TEST(RandomPace, StandsStillForStretchesAndCatchesUp) {
  std::mt19937_64 random(7);
  RandomPace pace;
  std::uint64_t all = 0;
  int longest_stall = 0;
  int stall = 0;
  constexpr int kChances = 10'000;
  for (int i = 0; i < kChances; ++i) {
    const std::uint64_t burst = pace.burst(random);
    EXPECT_LE(burst, 2U);
    all += burst;
    stall = burst == 0 ? stall + 1 : 0;
    longest_stall = std::max(longest_stall, stall);
  }
  EXPECT_GT(longest_stall, 16) << "stretches follow one another";
  EXPECT_NEAR(static_cast<double>(all) / kChances, 0.5, 0.1);
}

TEST(RandomPace, FollowsItsSeed) {
  std::mt19937_64 one(3);
  std::mt19937_64 other(3);
  RandomPace first;
  RandomPace second;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(first.burst(one), second.burst(other));
}

}  // namespace
}  // namespace ferry::sim
