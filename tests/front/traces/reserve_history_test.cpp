// SPDX-License-Identifier: Apache-2.0
#include "front/traces/reserve_history.hpp"

#include <gtest/gtest.h>

#include "front/traces/history.hpp"

namespace ferry::replay {
namespace {

TEST(ReserveHistory, WithoutChangesItIsWhatItWas) {
  const auto history = rebuild_reserve(10_MiB, {});
  ASSERT_TRUE(history);
  ASSERT_EQ(history->points.size(), 1U);
  EXPECT_EQ(history->points[0].event, 0U);
  EXPECT_EQ(history->points[0].reserved, 10_MiB);
  EXPECT_EQ(history->peak, 10_MiB);
  EXPECT_FALSE(history->raised);
}

TEST(ReserveHistory, IsRebuiltBackwards) {
  const auto history =
      rebuild_reserve(12_MiB, {{3, true, 20_MiB}, {5, false, 10_MiB}, {9, true, 2_MiB}});
  ASSERT_TRUE(history);
  ASSERT_EQ(history->points.size(), 4U);
  EXPECT_EQ(history->points[0].reserved, 0_MiB);
  EXPECT_EQ(history->points[1].reserved, 20_MiB);
  EXPECT_EQ(history->points[1].event, 3U);
  EXPECT_EQ(history->points[2].reserved, 10_MiB);
  EXPECT_EQ(history->points[3].reserved, 12_MiB);
  EXPECT_EQ(history->points[3].event, 9U);
  EXPECT_EQ(history->peak, 20_MiB);
  EXPECT_FALSE(history->raised);
}

TEST(ReserveHistory, NeverFallsBelowZero) {
  // Grew by 8 and yet only 3 are held at the end: 5 more must have been there.
  const auto history = rebuild_reserve(3_MiB, {{0, true, 8_MiB}});
  ASSERT_TRUE(history);
  EXPECT_TRUE(history->raised);
  EXPECT_EQ(history->points[0].reserved, 0_MiB);
  EXPECT_EQ(history->points[1].reserved, 8_MiB);
  EXPECT_EQ(history->peak, 8_MiB);
}

TEST(ReserveHistory, RefusesSumsBeyond64Bits) {
  const std::vector<ReserveChange> grown(5, {0, true, kMaxTraceBlock});
  EXPECT_FALSE(rebuild_reserve(0_B, grown));
  const std::vector<ReserveChange> shrunk(5, {0, false, kMaxTraceBlock});
  EXPECT_FALSE(rebuild_reserve(0_B, shrunk));
  EXPECT_FALSE(rebuild_reserve(Bytes{~std::uint64_t{0}}, {}));
  const std::vector<ReserveChange> four(4, {0, true, kMaxTraceBlock});
  EXPECT_TRUE(rebuild_reserve(0_B, four));
}

}  // namespace
}  // namespace ferry::replay
