// SPDX-License-Identifier: Apache-2.0
#include "sim/time/timeline.hpp"

#include <gtest/gtest.h>

#include "sim/time/round_profile.hpp"

namespace ferry::sim {
namespace {

using testing_time::kGigabytePerSecond;
using testing_time::kMicro;

// A copy of pinned memory over the link, with the round profile's latency of 2 us.
Load copy(Direction direction, std::uint64_t bytes, int device = 0) {
  const bool up = direction == Direction::to_device;
  Load load;
  load.engine = up ? EngineKind::to_device : EngineKind::to_host;
  load.device = device;
  load.latency = 2 * kMicro;
  load.bytes = bytes;
  load.rate = static_cast<std::uint64_t>((up ? 10 : 8) * kGigabytePerSecond);
  load.link = direction;
  return load;
}
Load up(std::uint64_t bytes) {
  return copy(Direction::to_device, bytes);
}
Load down(std::uint64_t bytes) {
  return copy(Direction::to_host, bytes);
}

Load kernel(Picoseconds duration) {
  Load load;
  load.engine = EngineKind::compute;
  load.latency = duration;
  return load;
}

class TimelineTest : public testing::Test {
 protected:
  explicit TimelineTest(const Profile& profile = testing_time::round_profile())
      : timeline(std::make_shared<const Profile>(profile)) {}

  TimedTaskRef add(const Load& load, std::vector<TimedTaskRef> after = {}) {
    return timeline.add(load, after);
  }
  Picoseconds end_of(const TimedTaskRef& task) {
    while (!task->ended) timeline.advance(*timeline.next_moment());
    return task->end;
  }

  Timeline timeline;
};

TEST_F(TimelineTest, OneCopyTakesItsLatencyAndItsBytes) {
  timeline.clock().spend(kMicro);
  const TimedTaskRef task = add(up(100'000));
  EXPECT_EQ(end_of(task), 13 * kMicro) << "1 us of the caller, 2 us latency, 10 us of bytes";
  EXPECT_EQ(task->begin, kMicro);
}

TEST_F(TimelineTest, OneAfterTheOther) {
  const TimedTaskRef first = add(up(100'000));
  const TimedTaskRef second = add(down(80'000), {first});
  EXPECT_EQ(end_of(second), 24 * kMicro);
  EXPECT_EQ(second->begin, 12 * kMicro);
}

TEST_F(TimelineTest, AnEngineTakesOneAtATimeInTheOrderOfReadiness) {
  const TimedTaskRef blocker = add(kernel(30 * kMicro));
  const TimedTaskRef late = add(up(10'000), {blocker});  // queued first, ready last
  const TimedTaskRef first = add(up(100'000));
  const TimedTaskRef second = add(up(10'000));
  EXPECT_EQ(end_of(first), 12 * kMicro);
  EXPECT_EQ(end_of(second), 15 * kMicro);
  EXPECT_EQ(end_of(late), 33 * kMicro);
}

TEST_F(TimelineTest, BothDirectionsAtOnceGoAtTheDuplexRates) {
  const TimedTaskRef upward = add(up(50'000));
  const TimedTaskRef downward = add(down(120'000));
  // From 2 us on: 50 kB at 5 GB/s until 12 us. By then 60 kB went down; the rest goes at 8 GB/s.
  EXPECT_EQ(end_of(upward), 12 * kMicro);
  EXPECT_EQ(end_of(downward), 12 * kMicro + 7'500'000);
}

TEST_F(TimelineTest, WhatEndsAtOneMomentMakesWayAtThatMoment) {
  const TimedTaskRef first = add(kernel(5 * kMicro));
  const TimedTaskRef mark = add(Load{}, {first});
  const TimedTaskRef other = add(Load{}, {mark, first});
  EXPECT_EQ(end_of(other), 5 * kMicro);
  EXPECT_EQ(end_of(mark), 5 * kMicro);
}

TEST_F(TimelineTest, APassedTaskIsOneThatEndedByTheCallersClock) {
  const TimedTaskRef task = add(kernel(5 * kMicro));
  EXPECT_FALSE(timeline.has_passed(*task));
  timeline.clock().reach(5 * kMicro - 1);
  EXPECT_FALSE(timeline.has_passed(*task));
  timeline.clock().reach(5 * kMicro);
  EXPECT_TRUE(timeline.has_passed(*task));
}

TEST_F(TimelineTest, WaitingMovesTheCallersClockForwardOnly) {
  const TimedTaskRef task = add(kernel(5 * kMicro));
  timeline.wait(*task);
  EXPECT_EQ(timeline.clock().now(), 5 * kMicro);
  timeline.clock().spend(kMicro);
  timeline.wait(*task);
  EXPECT_EQ(timeline.clock().now(), 6 * kMicro);
  const TimedTaskRef next = add(kernel(kMicro), {task, nullptr});
  EXPECT_EQ(end_of(next), 7 * kMicro) << "not before it was queued";
}

TEST_F(TimelineTest, ALongChainThatNeverEndsIsForgottenWithoutRecursion) {
  TimedTaskRef last = add(kernel(kMicro));
  for (int i = 0; i < 500'000; ++i) last = add(Load{}, {last});
  EXPECT_FALSE(last->ended);
}

class OneCopyEngine : public TimelineTest {
 protected:
  static Profile one_engine() {
    Profile profile = testing_time::round_profile();
    profile.copy_engines.value = 1;
    return profile;
  }
  OneCopyEngine() : TimelineTest(one_engine()) {}
};

TEST_F(OneCopyEngine, DoesBothDirectionsInTurn) {
  const TimedTaskRef upward = add(up(100'000));
  const TimedTaskRef downward = add(down(80'000));
  EXPECT_EQ(end_of(upward), 12 * kMicro);
  EXPECT_EQ(end_of(downward), 24 * kMicro);
}

TEST(TimelineWithoutProfile, EveryOperationTakesAMicrosecond) {
  Timeline timeline;
  const TimedTaskRef first = timeline.add(Load{}, {});
  const TimedTaskRef second = timeline.add(up(1 << 30), std::span(&first, 1));
  EXPECT_EQ(first->end, kMicro);
  EXPECT_EQ(second->end, 2 * kMicro);
  timeline.wait(*second);
  EXPECT_EQ(timeline.clock().now(), 2 * kMicro);
}

TEST_F(TimelineTest, ASlowEngineStretchesWhatRunsInItsWindow) {
  timeline.set_engine_windows({{std::nullopt, EngineKind::to_device, 2, 6 * kMicro, 10 * kMicro}});
  const TimedTaskRef slow = add(up(100'000));
  const TimedTaskRef other = add(kernel(9 * kMicro));
  EXPECT_EQ(end_of(slow), 14 * kMicro) << "2 us latency; 40 kB, 20 kB in the window, 40 kB";
  EXPECT_EQ(end_of(other), 9 * kMicro) << "another engine";
}

TEST_F(TimelineTest, AnEngineThatStandsStillEndsNothingUntilItsWindowDoes) {
  timeline.set_engine_windows({{0, EngineKind::to_device, 0, 6 * kMicro, 50 * kMicro},
                               {0, EngineKind::compute, 0, kMicro, 20 * kMicro}});
  const TimedTaskRef stuck = add(up(100'000));
  const TimedTaskRef free = add(copy(Direction::to_device, 100'000, 1));
  const TimedTaskRef stuck_kernel = add(kernel(3 * kMicro));
  EXPECT_EQ(end_of(free), 12 * kMicro) << "the engine of another device";
  EXPECT_EQ(end_of(stuck_kernel), 22 * kMicro);
  EXPECT_EQ(end_of(stuck), 56 * kMicro);
}

TEST_F(TimelineTest, AWindowThatIsChosenLateCountsForBytesUnderWay) {
  const TimedTaskRef task = add(up(100'000));
  timeline.advance(4 * kMicro);
  timeline.set_engine_windows({{0, EngineKind::to_device, 4, 0, 1000 * kMicro}});
  EXPECT_EQ(end_of(task), 36 * kMicro) << "20 kB at 10 GB/s, 80 kB at 2.5";
}

}  // namespace
}  // namespace ferry::sim
