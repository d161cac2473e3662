// SPDX-License-Identifier: Apache-2.0
#include "front/replay/trace_streams.hpp"

#include <gtest/gtest.h>

#include <set>

#include "front/replay/sim_machine.hpp"
#include "front/traces/trace_builder.hpp"

namespace ferry::replay {
namespace {

using testing::open_machine;
using testing::TraceBuilder;

TEST(TraceStreams, GivesEachStreamOfTheTraceOneOfItsOwn) {
  const auto machine = open_machine();
  TraceBuilder builder;
  builder.start(1_MiB, 7);
  const std::uint32_t block = builder.allocate(1_MiB, 0);
  builder.free(block, 9);  // a stream that allocates nothing
  const DeviceTrace trace = builder.build();
  const auto streams = std::move(TraceStreams::open(machine->tool_device(), trace)).value();
  EXPECT_EQ(streams->count(), 3U);
  const std::set<StreamRef> distinct{streams->of(0), streams->of(7), streams->of(9)};
  EXPECT_EQ(distinct.size(), 3U);
}

TEST(TraceStreams, TheDefaultStreamIsNotTheDriversDefaultStream) {
  const auto machine = open_machine();
  TraceBuilder builder;
  builder.start(1_MiB, 0);
  const auto streams =
      std::move(TraceStreams::open(machine->tool_device(), builder.build())).value();
  EXPECT_NE(streams->of(0), StreamRef::legacy_default());
}

TEST(TraceStreams, ATraceOfVeryManySharesThem) {
  const auto machine =
      open_machine("fault=cuStreamCreate@" + std::to_string(TraceStreams::kMost + 1) + ":2");
  TraceBuilder builder;
  constexpr std::size_t kNamed = 3 * TraceStreams::kMost;
  for (std::uint64_t name = 0; name < kNamed; ++name) builder.start(1_KiB, 10 * name);
  const DeviceTrace trace = builder.build();
  EXPECT_EQ(count_streams(trace), kNamed);
  const auto streams = std::move(TraceStreams::open(machine->tool_device(), trace)).value();
  EXPECT_EQ(streams->count(), TraceStreams::kMost);
  std::set<StreamRef> distinct;
  for (std::uint64_t name = 0; name < kNamed; ++name) distinct.insert(streams->of(10 * name));
  EXPECT_EQ(distinct.size(), TraceStreams::kMost);
}

TEST(TraceStreams, DestroysThem) {
  const auto machine = open_machine();
  TraceBuilder builder;
  builder.start(1_MiB, 3);
  StreamRef stream;
  {
    const auto streams =
        std::move(TraceStreams::open(machine->tool_device(), builder.build())).value();
    stream = streams->of(3);
    EXPECT_TRUE(machine->tool_device().synchronize(stream).ok());
  }
  EXPECT_FALSE(machine->tool_device().synchronize(stream).ok());
}

TEST(TraceStreams, AFailureIsPassedOn) {
  const auto machine = open_machine("fault=cuStreamCreate@2:2");
  TraceBuilder builder;
  builder.start(1_MiB, 1);
  builder.start(1_MiB, 2);
  const auto streams = TraceStreams::open(machine->tool_device(), builder.build());
  ASSERT_FALSE(streams.ok());
  EXPECT_EQ(streams.error().code(), Code::out_of_memory);
}

}  // namespace
}  // namespace ferry::replay
