// SPDX-License-Identifier: Apache-2.0
#include "front/replay/pair_timer.hpp"

#include <gtest/gtest.h>

#include "front/replay/sim_machine.hpp"
#include "front/traces/trace_builder.hpp"

namespace ferry::replay {
namespace {

using testing::open_machine;
using testing::TraceBuilder;

Result<PairTimes> times_of(const DeviceTrace& trace, ReplayMachine& machine) {
  const auto streams = std::move(TraceStreams::open(machine.tool_device(), trace)).value();
  return time_pairs(trace, machine.pool(), *streams);
}

TEST(Percentile, IsTheNearestRank) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  EXPECT_EQ(percentile(values, 0.5), 50);
  EXPECT_EQ(percentile(values, 0.99), 99);
  EXPECT_EQ(percentile(values, 1), 100);
  EXPECT_EQ(percentile(values, 0), 1);
  std::vector<double> one{7};
  EXPECT_EQ(percentile(one, 0.5), 7);
  EXPECT_EQ(percentile(one, 0.99), 7);
  std::vector<double> none;
  EXPECT_EQ(percentile(none, 0.5), 0);
}

TEST(PairTimer, TimesBlocksThatTheWindowBothAllocatesAndFrees) {
  TraceBuilder builder;
  const std::uint32_t before = builder.start(1_MiB);
  for (int i = 0; i < 10; ++i) builder.free(builder.allocate(2_MiB));
  builder.free(before);
  builder.allocate(3_MiB);  // never freed
  const auto machine = open_machine("data=none");
  const Result<PairTimes> times = times_of(builder.build(), *machine);
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(times->pairs % 10, 0U);
  EXPECT_GE(times->pairs, 100U) << "a short trace is to be repeated";
  EXPECT_GT(times->p50, 0);
  EXPECT_GE(times->p99, times->p50);
  EXPECT_LT(times->p50, 1e6);
  EXPECT_EQ(machine->pool().stats().allocations, 0U);
}

TEST(PairTimer, TimesAWarmPool) {
  TraceBuilder builder;
  for (int i = 0; i < 20; ++i) builder.free(builder.allocate(Bytes{3'000'000} * (i % 5 + 1)));
  const DeviceTrace trace = builder.build();
  const auto machine = open_machine("data=none");
  ASSERT_TRUE(times_of(trace, *machine).ok());
  const CallTallies before = machine->pool_device().tallies();
  ASSERT_TRUE(times_of(trace, *machine).ok());
  // The streams are new ones, but what the pool holds serves them.
  EXPECT_EQ(machine->pool_device().tallies().since(before)[DriverCall::alloc].calls, 0U);
  EXPECT_GT(machine->pool().stats().allocations_total, 2U * 3 * 20);
}

TEST(PairTimer, WithoutPairsThereAreNoTimes) {
  TraceBuilder builder;
  builder.start(1_MiB);
  builder.allocate(1_MiB);
  const auto machine = open_machine("data=none");
  const Result<PairTimes> times = times_of(builder.build(), *machine);
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(times->pairs, 0U);
  EXPECT_EQ(times->p50, 0);
  EXPECT_EQ(times->p99, 0);
}

TEST(PairTimer, WhatDoesNotFitHasNoTimes) {
  TraceBuilder builder;
  builder.free(builder.allocate(64_MiB));
  const auto machine = open_machine("data=none", 16_MiB);
  const Result<PairTimes> times = times_of(builder.build(), *machine);
  ASSERT_FALSE(times.ok());
  EXPECT_EQ(times.error().code(), Code::out_of_memory);
}

}  // namespace
}  // namespace ferry::replay
