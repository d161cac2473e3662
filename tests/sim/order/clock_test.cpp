// SPDX-License-Identifier: Apache-2.0
#include "sim/order/clock.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

TEST(Clock, KnowsNothingAtFirst) {
  const Clock clock;
  EXPECT_EQ(clock.of(0), 0U);
  EXPECT_EQ(clock.of(1000), 0U);
}

TEST(Clock, JoiningTakesTheLaterOfEachLane) {
  Clock a;
  a.set(0, 5);
  a.set(2, 1);
  Clock b;
  b.set(0, 3);
  b.set(1, 7);
  b.set(2, 4);
  b.set(3, 9);
  a.join(b);
  EXPECT_EQ(a.of(0), 5U);
  EXPECT_EQ(a.of(1), 7U);
  EXPECT_EQ(a.of(2), 4U);
  EXPECT_EQ(a.of(3), 9U);
  EXPECT_EQ(b.of(0), 3U) << "the other stays as it is";
}

TEST(Lanes, CountTheirOperations) {
  Lanes lanes;
  const LaneNumber first = lanes.open(Clock{});
  const LaneNumber second = lanes.open(Clock{});
  EXPECT_NE(first, second);
  EXPECT_EQ(lanes.next(first), 1U);
  EXPECT_EQ(lanes.next(first), 2U);
  EXPECT_EQ(lanes.next(second), 1U);
}

TEST(Lanes, AreGivenAgainOnlyOnceTheirWorkWasSeen) {
  Lanes lanes;
  Clock seen;
  const LaneNumber first = lanes.open(seen);
  const std::uint64_t last = lanes.next(first);
  lanes.close(first);
  const LaneNumber other = lanes.open(seen);
  EXPECT_NE(other, first) << "an operation of its old stream may still collide";
  seen.set(first, last);
  EXPECT_EQ(lanes.open(seen), first);
  EXPECT_EQ(lanes.next(first), last + 1) << "the count goes on";
}

}  // namespace
}  // namespace ferry::sim
