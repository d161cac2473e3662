// SPDX-License-Identifier: Apache-2.0
#include "front/traces/pickle/pickle_memo.hpp"

#include <gtest/gtest.h>

namespace ferry::replay {
namespace {

class PickleMemoTest : public ::testing::Test {
 protected:
  PickleValue number(std::uint64_t value) { return document_.make_integer({false, false, value}); }
  void expect(std::uint64_t entry, std::uint64_t value) {
    const auto found = memo_.get(entry);
    ASSERT_TRUE(found) << entry;
    EXPECT_EQ(document_.integer(*found).magnitude, value);
  }

  PickleDocument document_{""};
  PickleMemo memo_;
};

TEST_F(PickleMemoTest, KeepsTheLastValueOfAnEntry) {
  EXPECT_FALSE(memo_.get(0));
  memo_.put(0, number(10));
  memo_.put(1, number(11));
  memo_.put(0, number(12));
  expect(0, 12);
  expect(1, 11);
  EXPECT_FALSE(memo_.get(2));
}

TEST_F(PickleMemoTest, CountsOnByTheNumberOfEntries) {
  memo_.put(0, number(10));
  memo_.put(0, number(11));
  memo_.put_next(number(12));
  memo_.put_next(number(13));
  expect(0, 11);
  expect(1, 12);
  expect(2, 13);
}

TEST_F(PickleMemoTest, AFarNumberTakesNoRoomForThoseBefore) {
  memo_.put(~std::uint64_t{0}, number(1));
  memo_.put(4'000'000'000U, number(2));
  memo_.put(5, number(3));
  expect(~std::uint64_t{0}, 1);
  expect(4'000'000'000U, 2);
  expect(5, 3);
  EXPECT_LT(memo_.memory_bytes(), 10'000U);
}

TEST_F(PickleMemoTest, EntriesStayWhenTheNearOnesGrowPastThem) {
  memo_.put(5000, number(1));  // far, as yet
  for (std::uint64_t i = 0; i < 6000; ++i) {
    if (i != 5000) memo_.put(i, number(100 + i));
  }
  expect(5000, 1);
  memo_.put(5000, number(2));
  expect(5000, 2);
  expect(5999, 6099);
}

// Each put may at most double what is kept, or a handful of them would take all memory.
TEST_F(PickleMemoTest, GrowingNumbersDoNotGrowItFaster) {
  std::uint64_t entry = 1;
  for (int i = 0; i < 60; ++i) {
    memo_.put(entry, number(1));
    entry *= 2;
  }
  EXPECT_LT(memo_.memory_bytes(), 100'000U);
}

}  // namespace
}  // namespace ferry::replay
