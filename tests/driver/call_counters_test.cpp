// SPDX-License-Identifier: Apache-2.0
#include "driver/call_counters.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

namespace ferry {
namespace {

TEST(CallCounters, EveryKindHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kDriverCallKinds; ++i)
    names.insert(name_of(static_cast<DriverCall>(i)));
  EXPECT_EQ(names.size(), kDriverCallKinds);
  EXPECT_TRUE(names.contains("set_access"));
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(CallCounters, CountCallsBytesAndMappingsByKind) {
  CallCounters counters;
  counters.count(DriverCall::create, 2_MiB);
  counters.count(DriverCall::create, 4_MiB);
  counters.count(DriverCall::set_access, 6_MiB, 2);
  counters.count(DriverCall::synchronize);
  const CallTallies tallies = counters.read();
  EXPECT_EQ(tallies[DriverCall::create].calls, 2U);
  EXPECT_EQ(tallies[DriverCall::create].bytes, (6_MiB).count);
  EXPECT_EQ(tallies[DriverCall::set_access].mappings, 2U);
  EXPECT_EQ(tallies[DriverCall::release].calls, 0U);
  EXPECT_EQ(tallies.total_calls(), 4U);
}

TEST(CallCounters, EventsAreNoDriverCalls) {
  CallCounters counters;
  counters.count_event();
  counters.count_event();
  EXPECT_EQ(counters.read().event_calls, 2U);
  EXPECT_EQ(counters.read().total_calls(), 0U);
}

TEST(CallCounters, SinceTakesEverythingEarlierAway) {
  CallCounters counters;
  counters.count(DriverCall::unmap, 2_MiB, 1);
  counters.count_event();
  const CallTallies earlier = counters.read();
  counters.count(DriverCall::unmap, 8_MiB, 3);
  counters.count(DriverCall::map, 2_MiB);
  counters.count_event();
  const CallTallies between = counters.read().since(earlier);
  EXPECT_EQ(between[DriverCall::unmap].calls, 1U);
  EXPECT_EQ(between[DriverCall::unmap].bytes, (8_MiB).count);
  EXPECT_EQ(between[DriverCall::unmap].mappings, 3U);
  EXPECT_EQ(between.total_calls(), 2U);
  EXPECT_EQ(between.event_calls, 1U);
}

TEST(CallCounters, LoseNothingBetweenThreads) {
  constexpr std::uint64_t kThreads = 4;
  constexpr std::uint64_t kRounds = 10'000;
  CallCounters counters;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&counters] {
        for (std::uint64_t round = 0; round < kRounds; ++round) {
          counters.count(DriverCall::map, 1_B, 1);
          counters.count_event();
        }
      });
    }
  }
  EXPECT_EQ(counters.read()[DriverCall::map].calls, kThreads * kRounds);
  EXPECT_EQ(counters.read()[DriverCall::map].mappings, kThreads * kRounds);
  EXPECT_EQ(counters.read().event_calls, kThreads * kRounds);
}

}  // namespace
}  // namespace ferry
