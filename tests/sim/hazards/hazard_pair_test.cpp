// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/hazard_pair.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

const void* at(std::uintptr_t address) {
  return reinterpret_cast<const void*>(address);
}

Toucher call_at(std::uintptr_t site, std::uint64_t operation, AccessKind kind) {
  Toucher who;
  who.symbol = Symbol::cuMemcpyDtoDAsync_v2;
  who.site = at(site);
  who.operation = operation;
  who.kind = kind;
  return who;
}

TEST(HazardPair, TheSameTwoCallsAgainAreARepeat) {
  const auto pair =
      pair_of_collision(call_at(0x10, 1, AccessKind::write), call_at(0x20, 2, AccessKind::read));
  EXPECT_TRUE(is_repeat(pair, pair_of_collision(call_at(0x10, 8, AccessKind::write),
                                                call_at(0x20, 9, AccessKind::read))));
}

TEST(HazardPair, AnotherPlaceKindOrFunctionIsAnotherHazard) {
  const Toucher first = call_at(0x10, 1, AccessKind::write);
  const Toucher second = call_at(0x20, 2, AccessKind::read);
  const auto pair = pair_of_collision(first, second);
  EXPECT_FALSE(is_repeat(pair, pair_of_collision(call_at(0x11, 1, AccessKind::write), second)));
  EXPECT_FALSE(is_repeat(pair, pair_of_collision(first, call_at(0x21, 2, AccessKind::read))));
  EXPECT_FALSE(is_repeat(pair, pair_of_collision(first, call_at(0x20, 2, AccessKind::write))));
  EXPECT_FALSE(is_repeat(pair, pair_of_collision(second, first)));
  Toucher fill = second;
  fill.symbol = Symbol::cuMemsetD8Async;
  EXPECT_FALSE(is_repeat(pair, pair_of_collision(first, fill)));
  EXPECT_FALSE(is_repeat(pair_of_use_after_free(second), pair_of_changed_memory(second)));
}

TEST(HazardPair, TheCallThatTakesMemoryAwayCountsWithItsPlace) {
  const Toucher user = call_at(0x10, 1, AccessKind::read);
  const auto pair = pair_of_early_end(user, {Symbol::cuMemFree_v2, at(0x30)});
  EXPECT_TRUE(is_repeat(pair, pair_of_early_end(call_at(0x10, 5, AccessKind::read),
                                                {Symbol::cuMemFree_v2, at(0x30)})));
  EXPECT_FALSE(is_repeat(pair, pair_of_early_end(user, {Symbol::cuMemFree_v2, at(0x31)})));
}

TEST(HazardPair, WhereAGraphWasLaunchedCountsBetweenLaunchesOnly) {
  Toucher first = call_at(0x10, 1, AccessKind::write);
  Toucher second = call_at(0x20, 2, AccessKind::write);
  first.launch = second.launch = 1;
  first.launch_site = second.launch_site = at(0x50);
  const auto in_one = pair_of_collision(first, second);
  const auto user = pair_of_use_after_free(first);
  first.launch = 3;
  const auto between = pair_of_collision(first, second);
  first.launch_site = at(0x60);
  EXPECT_FALSE(is_repeat(between, pair_of_collision(first, second)));
  EXPECT_FALSE(is_repeat(user, pair_of_use_after_free(first)));
  second.launch = 3;
  second.launch_site = at(0x60);
  EXPECT_TRUE(is_repeat(in_one, pair_of_collision(first, second)));
}

TEST(HazardPair, WithoutPlacesOnlyTheSameOperationsAreARepeat) {
  const Toucher first = call_at(0, 1, AccessKind::write);
  const Toucher second = call_at(0, 2, AccessKind::read);
  const auto pair = pair_of_collision(first, second);
  EXPECT_TRUE(is_repeat(pair, pair));
  EXPECT_FALSE(is_repeat(pair, pair_of_collision(first, call_at(0, 3, AccessKind::read))));
}

TEST(HazardPair, OfOperatorsTheLinesCountAndNotTheCallsOfTheDriver) {
  Toucher first = call_at(0, 1, AccessKind::write);
  Toucher second = call_at(0, 2, AccessKind::read);
  first.part_of = known_operator("aten::mul", "train.py:3");
  second.part_of = known_operator("aten::add", "train.py:5");
  const auto pair = pair_of_collision(first, second);
  first.operation = 11;
  second.symbol = Symbol::cuLaunchKernel;
  EXPECT_TRUE(is_repeat(pair, pair_of_collision(first, second)));
  const auto release = pair_of_early_release(second, {known_operator("", "train.py:9"), 0});
  EXPECT_EQ(with_the_calls_of(release),
            "between the same two calls as aten::add (operation 2) and the end of a storage at "
            "train.py:9");
  EXPECT_FALSE(
      is_repeat(release, pair_of_early_release(second, {known_operator("", "train.py:8"), 0})));
  second.part_of = known_operator("aten::add", "train.py:6");
  EXPECT_FALSE(is_repeat(pair, pair_of_collision(first, second)));
}

TEST(HazardPair, IsNamedByItsFirstTime) {
  const Toucher copy = call_at(0x10, 7, AccessKind::read);
  EXPECT_EQ(with_the_calls_of(pair_of_collision(copy, call_at(0x20, 9, AccessKind::write))),
            "between the same two calls as cuMemcpyDtoDAsync (operation 7) and cuMemcpyDtoDAsync "
            "(operation 9)");
  EXPECT_EQ(with_the_calls_of(pair_of_early_end(copy, {Symbol::cuMemFree_v2})),
            "between the same two calls as cuMemcpyDtoDAsync (operation 7) and cuMemFree");
  EXPECT_EQ(with_the_calls_of(pair_of_changed_memory(copy)),
            "of the same call as cuMemcpyDtoDAsync (operation 7)");
  EXPECT_EQ(with_the_calls_of(pair_of_use_after_free(copy)),
            "of the same call as cuMemcpyDtoDAsync (operation 7)");
}

}  // namespace
}  // namespace ferry::sim
