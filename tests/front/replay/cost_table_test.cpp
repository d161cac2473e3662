// SPDX-License-Identifier: Apache-2.0
#include "front/replay/cost_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ferry::replay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

CallTallies tallies_of(DriverCall call, CallTally tally) {
  CallTallies tallies;
  tallies.by_kind[static_cast<std::size_t>(call)] = tally;
  return tallies;
}

double microseconds(DriverCall call, CallTally tally) {
  return find_cost_table("a100")->milliseconds(tallies_of(call, tally)) * 1000;
}

TEST(CostTable, A100HasItsFigures) {
  const std::uint64_t three_mib = 3ULL << 20;
  EXPECT_DOUBLE_EQ(microseconds(DriverCall::alloc, {2, three_mib, 0}), 2 * 160 + 3);
  EXPECT_DOUBLE_EQ(microseconds(DriverCall::create, {2, three_mib, 0}), 2 * 190 + 3);
  EXPECT_DOUBLE_EQ(microseconds(DriverCall::map, {4, three_mib, 0}), 4 * 1.45);
  EXPECT_DOUBLE_EQ(microseconds(DriverCall::set_access, {2, three_mib, 7}), 2 * 34 + 7);
  EXPECT_DOUBLE_EQ(microseconds(DriverCall::unmap, {2, three_mib, 7}), 2 * 24 + 7 * 1.5);
  EXPECT_DOUBLE_EQ(microseconds(DriverCall::free, {2, three_mib, 0}), 2 * 300);
  EXPECT_DOUBLE_EQ(microseconds(DriverCall::synchronize, {3, 0, 0}), 3 * 10);
}

TEST(CostTable, SizesBelowAMebibyteCountInPart) {
  EXPECT_DOUBLE_EQ(microseconds(DriverCall::create, {1, 1ULL << 19, 0}), 190.5);
}

TEST(CostTable, KindsAddUpAndEventsAreFree) {
  CallTallies tallies = tallies_of(DriverCall::create, {1, 2ULL << 20, 0});
  tallies.by_kind[static_cast<std::size_t>(DriverCall::map)] = {1, 2ULL << 20, 0};
  tallies.event_calls = 1000;
  EXPECT_DOUBLE_EQ(find_cost_table("a100")->milliseconds(tallies) * 1000, 192 + 1.45);
}

TEST(CostTable, NamesWhatItHasNoPriceFor) {
  EXPECT_THAT(find_cost_table("a100")->unpriced(),
              ElementsAre("reserve", "release", "host_alloc", "host_register"));
  for (const auto call : {DriverCall::reserve, DriverCall::release, DriverCall::host_alloc}) {
    EXPECT_EQ(microseconds(call, {100, 1ULL << 40, 100}), 0);
  }
}

TEST(CostTable, IsFoundByItsNameOnly) {
  EXPECT_EQ(find_cost_table("h100"), nullptr);
  EXPECT_EQ(find_cost_table(""), nullptr);
  ASSERT_NE(find_cost_table(kDefaultCosts), nullptr);
  EXPECT_EQ(find_cost_table(kDefaultCosts)->name, kDefaultCosts);
  EXPECT_EQ(known_cost_tables(), "a100");
}

TEST(CostTable, TheListSaysWhatIsAssumed) {
  EXPECT_THAT(describe_cost_tables(),
              AllOf(HasSubstr("a100"), HasSubstr("assumption"), HasSubstr("160 + 1 per MiB"),
                    HasSubstr("24 + 1.5 per mapping"), HasSubstr("no price known")));
}

}  // namespace
}  // namespace ferry::replay
