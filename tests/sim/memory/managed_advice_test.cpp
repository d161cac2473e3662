// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/managed_advice.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ferry::sim {
namespace {

constexpr std::uint64_t kPage = 4096;

std::vector<bool> read_mostly(const ManagedAdvice& advice, std::uint64_t start,
                              std::uint64_t bytes) {
  std::vector<bool> parts;
  advice.visit(start, bytes, [&](const Advice& part) { parts.push_back(part.read_mostly); });
  return parts;
}

void set(Advice& advice) {
  advice.read_mostly = true;
}

TEST(ManagedAdvice, HoldsForWholePages) {
  ManagedAdvice advice;
  advice.change(10 * kPage + 5, 10, set);
  EXPECT_EQ(read_mostly(advice, 10 * kPage, kPage), std::vector<bool>{true});
  EXPECT_EQ(read_mostly(advice, 9 * kPage, kPage), std::vector<bool>{false});
  EXPECT_EQ(read_mostly(advice, 11 * kPage, 1), std::vector<bool>{false});
  EXPECT_EQ(read_mostly(advice, 9 * kPage, 3 * kPage), (std::vector<bool>{false, true, false}));
}

TEST(ManagedAdvice, ForgettingLeavesTheNeighbours) {
  ManagedAdvice advice;
  advice.change(10 * kPage, kPage, set);
  advice.change(11 * kPage, 2 * kPage, set);
  advice.change(13 * kPage, kPage, set);
  advice.forget(11 * kPage, 2 * kPage);
  EXPECT_EQ(read_mostly(advice, 10 * kPage, kPage), std::vector<bool>{true});
  EXPECT_EQ(read_mostly(advice, 11 * kPage, 2 * kPage), std::vector<bool>{false});
  EXPECT_EQ(read_mostly(advice, 13 * kPage, kPage), std::vector<bool>{true});
  advice.forget(13 * kPage, kPage);
  advice.forget(10 * kPage, kPage);
  EXPECT_EQ(read_mostly(advice, 0, 100 * kPage), std::vector<bool>{false}) << "one part again";
}

TEST(ManagedAdviceModel, AgreesWithOneValueForEachPage) {
  std::mt19937 random(3);
  ManagedAdvice advice;
  std::vector<bool> model(64);
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t start = random() % 60 + 1;
    const std::uint64_t pages = random() % (63 - start) + 1;
    const std::uint64_t what = random() % 3;
    if (what == 2) {
      advice.forget(start * kPage, pages * kPage);
    } else {
      advice.change(start * kPage, pages * kPage,
                    [&](Advice& part) { part.read_mostly = what == 1; });
    }
    for (std::uint64_t page = start; page < start + pages; ++page) model[page] = what == 1;
    for (std::uint64_t page = 0; page < model.size(); ++page)
      ASSERT_EQ(read_mostly(advice, page * kPage, kPage), std::vector<bool>{model[page]}) << round;
  }
}

}  // namespace
}  // namespace ferry::sim
