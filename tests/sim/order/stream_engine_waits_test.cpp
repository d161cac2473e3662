// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "sim/order/engine_bench.hpp"
#include "sim/time/round_profile.hpp"

namespace ferry::sim {
namespace {

constexpr Schedule kSchedules[] = {Schedule::eager, Schedule::lazy, Schedule::random};

TEST(StreamEngineWaits, UnfinishedOfTheDefaultStreamCountsBlockingStreams) {
  EngineBench bench(Schedule::lazy);
  Stream& blocking = bench.stream(true);
  bench.queue(blocking, 'a');
  EXPECT_EQ(bench.engine.unfinished(*bench.group.legacy).size(), 1U);
  EXPECT_EQ(bench.engine.unfinished(blocking).size(), 1U);
  bench.engine.finish(bench.lock, bench.engine.unfinished(*bench.group.legacy));
  EXPECT_EQ(bench.log, "a");
  EXPECT_TRUE(bench.engine.unfinished(*bench.group.legacy).empty());
}

TEST(StreamEngineWaits, HostCodeGoesOnByItselfWithWhatItNeedsAlone) {
  EngineBench bench(Schedule::lazy);
  Stream& first = bench.stream();
  Stream& second = bench.stream();
  bench.queue(first, 'a');
  bench.queue(second, 'x');
  bench.engine.enqueue_host_function(first, [&] { bench.log += 'h'; });
  bench.engine.enqueue_host_function(first, [&] { bench.log += 'i'; });
  bench.queue(first, 'b');
  EXPECT_TRUE(bench.engine.go_on_to_host_code(bench.lock));
  EXPECT_EQ(bench.log, "ah");
  EXPECT_TRUE(bench.engine.go_on_to_host_code(bench.lock));
  EXPECT_EQ(bench.log, "ahi");
  EXPECT_FALSE(bench.engine.go_on_to_host_code(bench.lock));
  EXPECT_TRUE(bench.engine.has_pending());
}

TEST(StreamEngineWaits, HostCodeBehindAConditionIsPassedOver) {
  EngineBench bench(Schedule::lazy);
  Stream& first = bench.stream();
  Stream& second = bench.stream();
  bench.engine.enqueue(first, {}, {}, [] { return false; });
  bench.engine.enqueue_host_function(first, [&] { bench.log += 'h'; });
  bench.engine.enqueue_host_function(second, [&] { bench.log += 'i'; });
  EXPECT_TRUE(bench.engine.go_on_to_host_code(bench.lock));
  EXPECT_EQ(bench.log, "i");
  EXPECT_FALSE(bench.engine.go_on_to_host_code(bench.lock));
  EXPECT_FALSE(bench.engine.go_on(bench.lock)) << "the condition does not hold";
}

TEST(StreamEngineWaits, WorkGoesOnByItselfOneByOne) {
  EngineBench bench(Schedule::lazy);
  Stream& first = bench.stream();
  Stream& second = bench.stream();
  bench.queue(first, 'a');
  bench.queue(second, 'x');
  bench.queue(second, 'y');
  EXPECT_TRUE(bench.engine.go_on(bench.lock));
  EXPECT_EQ(bench.log, "x");
  EXPECT_TRUE(bench.engine.go_on(bench.lock));
  EXPECT_EQ(bench.log, "xy");
  EXPECT_TRUE(bench.engine.go_on(bench.lock));
  EXPECT_FALSE(bench.engine.go_on(bench.lock));
  EXPECT_EQ(bench.log, "xya");
}

TEST(StreamEngineWaits, PollingRunsOneOperationNowAndThen) {
  EngineBench bench(Schedule::lazy);
  Stream& stream = bench.stream();
  bench.queue(stream, 'a');
  const Ticket b = bench.queue(stream, 'b');
  unsigned polls = 0;
  std::vector<std::string> seen;
  for (unsigned i = 0; i < 2 * StreamEngine::kPatience - 1; ++i) {
    EXPECT_FALSE(bench.engine.poll(bench.lock, std::span(&b, 1), polls));
    seen.push_back(bench.log);
  }
  EXPECT_EQ(seen[StreamEngine::kPatience - 2], "");
  EXPECT_EQ(seen[StreamEngine::kPatience - 1], "a");
  EXPECT_TRUE(bench.engine.poll(bench.lock, std::span(&b, 1), polls));
  EXPECT_EQ(bench.log, "ab");
  EXPECT_TRUE(bench.engine.poll(bench.lock, {}, polls)) << "nothing to wait for is done";
}

TEST(StreamEngineWaits, AWaitForARunningHostFunctionEndsWithIt) {
  EngineBench bench(Schedule::lazy);
  Stream& stream = bench.stream();
  std::atomic<bool> inside = false;
  std::atomic<bool> go_on = false;
  bench.engine.enqueue_host_function(stream, [&] {
    inside = true;
    while (!go_on) std::this_thread::yield();
  });
  const Ticket after = bench.queue(stream, 'a');
  bench.lock.unlock();
  std::thread runner([&] {
    Lock lock(bench.mutex);
    bench.engine.finish(lock, std::span(&after, 1));
  });
  while (!inside) std::this_thread::yield();
  std::thread helper([&] { go_on = true; });
  bench.lock.lock();
  bench.finish(after);
  EXPECT_EQ(bench.log, "a");
  bench.lock.unlock();
  helper.join();
  runner.join();
}

TEST(StreamEngineConditions, WorkWaitsUntilOtherWorkMakesThemTrue) {
  for (const Schedule schedule : kSchedules) {
    EngineBench bench(schedule, 3);
    Stream& held = bench.stream();
    Stream& other = bench.stream();
    bool flag = false;
    const auto add = [&](char name) {
      return [&bench, name] {
        bench.log.push_back(name);
        return 0;
      };
    };
    const Ticket h = bench.engine.enqueue(held, add('h'), {}, [&] { return flag; });
    bench.engine.progress(bench.lock);
    EXPECT_FALSE(h->done);
    bench.queue(other, 'a');
    bench.engine.enqueue(other, [&] {
      flag = true;
      return 0;
    });
    bench.finish(h);
    EXPECT_EQ(bench.log, "ah");
  }
}

TEST(StreamEngineConditions, WorkWaitsForWhatTheProgramWrites) {
  EngineBench bench(Schedule::lazy);
  std::atomic<bool> flag = false;
  const Ticket held = bench.engine.enqueue(bench.stream(), {}, {}, [&] { return flag.load(); });
  std::thread program([&] { flag = true; });
  bench.finish(held);
  EXPECT_TRUE(held->done);
  program.join();
}

TEST(StreamEngineConditions, APoisonedGroupWaitsForNothing) {
  EngineBench bench(Schedule::lazy);
  const Ticket held = bench.engine.enqueue(bench.stream(), {}, {}, [] { return false; });
  bench.finish(bench.engine.enqueue(bench.stream(), [] { return 700; }));
  bench.finish(held);
  EXPECT_TRUE(held->done);
}

// In virtual time: a copy's worth of work, and host functions that come after it.
class StreamEngineInTime : public testing::TestWithParam<Schedule> {
 protected:
  static constexpr Picoseconds kLong = 100'000'000;

  StreamEngineInTime()
      : bench(GetParam(), 3, std::make_shared<const Profile>(testing_time::round_profile())) {}

  Picoseconds now() { return bench.engine.timeline().clock().now(); }
  // Work of a stream that takes so long, and a host function behind it that notes when it ran.
  void queue_function(char name, Picoseconds duration, std::function<void()> also = {}) {
    Stream& stream = bench.stream();
    Load load;
    load.latency = duration;
    bench.engine.enqueue(stream, {}, {}, {}, load);
    bench.engine.enqueue_host_function(stream, [this, name, also] {
      bench.log.push_back(name);
      ran_at = now();
      if (also) also();
    });
    bench.engine.progress(bench.lock);
  }

  EngineBench bench;
  Picoseconds ran_at = -1;
};

// It has no moment that virtual time knows, so it is waited for until the function's has come.
TEST_P(StreamEngineInTime, AWaitForWhatAHostFunctionMakesTrueGoesOnToItsMoment) {
  bool flag = false;
  const Ticket held = bench.engine.enqueue(bench.stream(), {}, {}, [&] { return flag; });
  queue_function('l', 5 * kLong);
  queue_function('f', kLong, [&] { flag = true; });
  bench.finish(held);
  EXPECT_EQ(bench.log, "f") << "the other one's moment has not come";
  EXPECT_GE(ran_at, kLong);
  EXPECT_LT(now(), 2 * kLong);
}

TEST_P(StreamEngineInTime, APollDoesNotRunHostFunctionsBeforeTheirMoment) {
  bool flag = false;
  const Ticket held = bench.engine.enqueue(bench.stream(), {}, {}, [&] { return flag; });
  queue_function('f', kLong, [&] { flag = true; });
  unsigned polls = 0;
  for (int i = 0; i < 100; ++i) {
    bench.engine.timeline().clock().spend(kLong / 1000);
    EXPECT_FALSE(bench.engine.poll(bench.lock, std::span(&held, 1), polls));
  }
  EXPECT_EQ(bench.log, "");
  bench.engine.timeline().clock().spend(kLong);
  EXPECT_TRUE(bench.engine.poll(bench.lock, std::span(&held, 1), polls));
  EXPECT_EQ(bench.log, "f");
}

// Another process waits, in real time: there is no clock to wait with.
TEST_P(StreamEngineInTime, WhatIsWantedWithoutAWaitMayNeedHostFunctionsEarly) {
  bool flag = false;
  const Ticket held = bench.engine.enqueue(bench.stream(), {}, {}, [&] { return flag; });
  queue_function('f', kLong, [&] { flag = true; });
  EXPECT_FALSE(held->done);
  EXPECT_TRUE(bench.engine.advance(bench.lock, held));
  EXPECT_EQ(bench.log, "f");
}

INSTANTIATE_TEST_SUITE_P(Schedules, StreamEngineInTime, testing::ValuesIn(kSchedules));

}  // namespace
}  // namespace ferry::sim
