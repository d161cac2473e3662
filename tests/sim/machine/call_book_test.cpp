// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/call_book.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

TEST(CallBook, CountsByBaseNameOverAllVariants) {
  CallBook book;
  EXPECT_EQ(book.enter(Symbol::cuCtxCreate_v2).result, 0);
  EXPECT_EQ(book.enter(Symbol::cuCtxCreate_v4).result, 0);
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2).result, 0);
  EXPECT_EQ(book.calls("cuCtxCreate"), 2U);
  EXPECT_EQ(book.calls("cuMemAlloc"), 1U);
  EXPECT_EQ(book.calls("cuMemFree"), 0U);
  EXPECT_EQ(book.calls("cuNothing"), 0U);
}

TEST(CallBook, FailsTheNthCallOnce) {
  CallBook book;
  book.add_rule({"cuMemAlloc", Trigger::nth(3), 2});
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2).result, 0);
  EXPECT_EQ(book.enter(Symbol::cuMemFree_v2).result, 0);
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2).result, 0);
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2).result, 2);
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2).result, 0);
  EXPECT_EQ(book.calls("cuMemAlloc"), 4U) << "failed calls count too";
}

TEST(CallBook, RulesOfOneFunctionCountIndependently) {
  CallBook book;
  book.add_rule({"cuMemAlloc", Trigger::nth(1), 2});
  book.add_rule({"cuMemAlloc", Trigger::nth(2), 700});
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2).result, 2);
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2).result, 700);
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2).result, 0);
}

TEST(CallBook, ARuleCoversEveryVariantOfItsFunction) {
  CallBook book;
  book.add_rule({"cuCtxCreate", Trigger::nth(2), 2});
  EXPECT_EQ(book.enter(Symbol::cuCtxCreate_v2).result, 0);
  EXPECT_EQ(book.enter(Symbol::cuCtxCreate_v4).result, 2);
}

// Which of the next calls of cuMemAlloc, each of 10 bytes, a rule strikes.
std::vector<std::uint64_t> struck(const Trigger& when, std::uint64_t seed = 0) {
  CallBook book;
  book.add_rule({"cuMemAlloc", when, 2}, seed);
  std::vector<std::uint64_t> calls;
  for (std::uint64_t call = 1; call <= 1000; ++call) {
    if (book.enter(Symbol::cuMemAlloc_v2, 10).result != 0) calls.push_back(call);
  }
  return calls;
}

TEST(CallBook, ARangeOfCallsFails) {
  Trigger when;
  when.first = 3;
  when.last = 5;
  EXPECT_EQ(struck(when), (std::vector<std::uint64_t>{3, 4, 5}));
}

TEST(CallBook, EveryKthCallFails) {
  Trigger when;
  when.kind = Trigger::Kind::every;
  when.every = 400;
  EXPECT_EQ(struck(when), (std::vector<std::uint64_t>{400, 800}));
}

TEST(CallBook, AChanceFollowsItsSeed) {
  Trigger when;
  when.kind = Trigger::Kind::chance;
  when.millionths = 250'000;
  const std::vector<std::uint64_t> calls = struck(when, 7);
  EXPECT_EQ(struck(when, 7), calls);
  EXPECT_NE(struck(when, 8), calls);
  EXPECT_NEAR(static_cast<double>(calls.size()), 250, 60);
  when.seed = 7;
  EXPECT_EQ(struck(when, 8), calls) << "its own seed comes first";
}

TEST(CallBook, ABudgetLetsThroughWhatFits) {
  CallBook book;
  Trigger when;
  when.kind = Trigger::Kind::budget;
  when.budget = 100;
  book.add_rule({"cuMemAlloc", when, 2});
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2, 60).result, 0);
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2, 41).result, 2);
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2, 40).result, 0) << "a failure takes nothing";
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2, 1).result, 2);
}

TEST(CallBook, StallsAddUpAndTheFirstFailureCounts) {
  CallBook book;
  using std::chrono::milliseconds;
  book.add_rule({"cuMemAlloc", Trigger::nth(1), 0, false, milliseconds(5)});
  book.add_rule({"cuMemAlloc", Trigger::nth(1), 700, true});
  book.add_rule({"cuMemAlloc", Trigger::nth(1), 2, false, milliseconds(7)});
  const Verdict verdict = book.enter(Symbol::cuMemAlloc_v2);
  EXPECT_EQ(verdict.stall, milliseconds(12));
  EXPECT_EQ(verdict.result, 700);
  EXPECT_TRUE(verdict.sticky);
}

TEST(CallBook, DevicesAreLostByTheCountOfAllCalls) {
  CallBook book;
  book.add_lost({1, 3, 46});
  static_cast<void>(book.enter(Symbol::cuMemAlloc_v2));
  static_cast<void>(book.enter(Symbol::cuMemFree_v2));
  EXPECT_TRUE(book.take_lost().empty());
  static_cast<void>(book.enter(Symbol::cuMemFree_v2));
  const std::vector<LostDevice> lost = book.take_lost();
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].device, 1);
  EXPECT_TRUE(book.take_lost().empty()) << "said once";
}

}  // namespace
}  // namespace ferry::sim
