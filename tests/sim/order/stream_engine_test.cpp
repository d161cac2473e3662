// SPDX-License-Identifier: Apache-2.0
#include "sim/order/stream_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>

#include "sim/order/engine_bench.hpp"

namespace ferry::sim {
namespace {

TEST(StreamEngine, EagerRunsAtOnce) {
  EngineBench bench(Schedule::eager);
  Stream& stream = bench.stream();
  EXPECT_TRUE(bench.queue(stream, 'a')->done);
  EXPECT_EQ(bench.log, "a");
}

TEST(StreamEngine, KnowsWhatComesBeforeTheNextOperation) {
  EngineBench bench(Schedule::lazy);
  Stream& stream = bench.stream();
  Stream& blocking = bench.stream(true);
  const Ticket a = bench.queue(stream, 'a');
  const auto has = [&](const Stream& asked) {
    return bench.engine.clock_before_next(asked).of(a->lane) >= a->count;
  };
  EXPECT_TRUE(has(stream));
  EXPECT_FALSE(has(blocking));
  bench.queue(*bench.group.legacy, 'b', {a});
  EXPECT_TRUE(has(blocking)) << "through the default stream";
  EXPECT_FALSE(has(bench.stream()));
  EXPECT_FALSE(bench.engine.has_ended(a));
  bench.finish(a);
  EXPECT_TRUE(bench.engine.has_ended(a));
  EXPECT_FALSE(has(bench.stream())) << "nobody has seen it";
}

TEST(StreamEngine, LazyRunsOnlyWhatIsNeeded) {
  EngineBench bench(Schedule::lazy);
  Stream& first = bench.stream();
  Stream& second = bench.stream();
  bench.queue(first, 'a');
  const Ticket b = bench.queue(first, 'b');
  bench.queue(first, 'c');
  bench.queue(second, 'x');
  const Ticket y = bench.queue(second, 'y', {b});
  bench.queue(second, 'z');
  EXPECT_EQ(bench.log, "");
  bench.finish(y);
  EXPECT_EQ(bench.log, "xaby") << "neither c nor z were waited for";
  bench.engine.finish_all(bench.lock);
  EXPECT_EQ(bench.log, "xabyzc") << "the newest first";
}

TEST(StreamEngine, RandomDependsOnTheSeedAlone) {
  const auto run = [](std::uint64_t seed) {
    EngineBench bench(Schedule::random, seed);
    std::vector<Stream*> streams;
    for (int i = 0; i < 4; ++i) streams.push_back(&bench.stream());
    for (int i = 0; i < 40; ++i)
      bench.queue(*streams[static_cast<std::size_t>(i % 4)], static_cast<char>('A' + i));
    bench.engine.finish_all(bench.lock);
    return bench.log;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
  EXPECT_EQ(run(1).size(), 40U);
}

TEST(StreamEngine, DefaultStreamIsOrderedWithBlockingStreamsBothWays) {
  EngineBench bench(Schedule::lazy);
  Stream& blocking = bench.stream(true);
  Stream& other = bench.stream(true);
  Stream& free = bench.stream(false);
  bench.queue(blocking, 'a');
  bench.queue(free, 'f');
  bench.queue(*bench.group.legacy, 'd');
  const Ticket o = bench.queue(other, 'o');
  bench.finish(o);
  EXPECT_EQ(bench.log, "ado") << "the non-blocking stream takes no part";
}

TEST(StreamEngine, AMarkCoversTheGroupAsItIs) {
  EngineBench bench(Schedule::lazy);
  Stream& first = bench.stream();
  Stream& second = bench.stream();
  bench.queue(first, 'a');
  bench.queue(second, 'b');
  const Ticket mark = bench.engine.mark_group(bench.group);
  bench.queue(first, 'c');
  bench.finish(mark);
  EXPECT_EQ(bench.log, "ba") << "the newest first";
}

TEST(StreamEngine, DestroyedStreamsFinishTheirWork) {
  EngineBench bench(Schedule::lazy);
  Stream& stream = bench.stream();
  bench.queue(stream, 'a');
  bench.queue(stream, 'b');
  const std::size_t before = bench.group.streams.size();
  bench.engine.destroy_stream(stream);
  EXPECT_EQ(bench.group.streams.size(), before) << "kept while it has work";
  bench.engine.finish_all(bench.lock);
  EXPECT_EQ(bench.log, "ab");
  EXPECT_EQ(bench.group.streams.size(), before - 1);
}

TEST(StreamEngine, AFailurePoisonsItsGroupOnly) {
  EngineBench bench(Schedule::lazy);
  Stream& stream = bench.stream();
  StreamGroup& other_group = bench.engine.create_group();
  Stream& other = bench.engine.create_stream(other_group, false);
  bench.queue(stream, 'a');
  bench.engine.enqueue(stream, [] { return 700; });
  bench.queue(stream, 'b');
  bool called = false;
  bench.engine.enqueue_host_function(stream, [&] { called = true; });
  bench.queue(other, 'x');
  bench.engine.finish_all(bench.lock);
  EXPECT_EQ(bench.group.fault, 700);
  EXPECT_EQ(other_group.fault, 0);
  EXPECT_FALSE(called) << "no host function after an error";
  std::string log = bench.log;
  std::sort(log.begin(), log.end());
  EXPECT_EQ(log, "ax");
}

TEST(StreamEngine, TicksGrowInTheOrderOfRunning) {
  EngineBench bench(Schedule::lazy);
  Stream& stream = bench.stream();
  const Ticket a = bench.queue(stream, 'a');
  const Ticket b = bench.queue(stream, 'b');
  EXPECT_EQ(a->finished_at, 0U);
  bench.finish(b);
  EXPECT_LT(a->finished_at, b->finished_at);
}

TEST(StreamEngine, HostFunctionsRunWithoutTheLock) {
  EngineBench bench(Schedule::lazy);
  Stream& stream = bench.stream();
  bool was_free = false;
  const Ticket call = bench.engine.enqueue_host_function(stream, [&] {
    was_free = bench.mutex.try_lock();
    if (was_free) bench.mutex.unlock();
  });
  bench.finish(call);
  EXPECT_TRUE(was_free);
}

TEST(StreamEngine, LongChainsOfUnrunWorkAreDroppedWithoutRecursion) {
  EngineBench bench(Schedule::lazy);
  Stream& a = bench.stream();
  Stream& b = bench.stream();
  Ticket last;
  for (int i = 0; i < 60000; ++i)
    last = bench.engine.enqueue(i % 2 == 0 ? a : b, {}, std::span(&last, 1));
  last.reset();
  SUCCEED();  // the destructor of the engine must not overflow the stack
}

// Random programs of streams and waits: whatever the schedule, an operation runs after everything
// it was told to come after, and after its stream's earlier ones.
TEST(StreamEngine, EveryScheduleKeepsEveryOrder) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    for (const Schedule schedule : {Schedule::eager, Schedule::lazy, Schedule::random}) {
      EngineBench bench(schedule, seed);
      std::mt19937_64 random(seed * 77 + 1);
      std::vector<Stream*> streams{bench.group.legacy};
      for (int i = 0; i < 5; ++i) streams.push_back(&bench.stream(i % 2 == 0));
      std::vector<Ticket> all;
      std::vector<std::pair<Ticket, Ticket>> orders;
      std::map<Stream*, Ticket> last;
      for (int step = 0; step < 150; ++step) {
        Stream& stream = *streams[random() % streams.size()];
        std::vector<Ticket> after;
        if (!all.empty() && random() % 3 == 0) after.push_back(all[random() % all.size()]);
        const Ticket ticket = bench.queue(stream, 'x', after);
        for (const Ticket& earlier : after) orders.emplace_back(earlier, ticket);
        if (last[&stream]) orders.emplace_back(last[&stream], ticket);
        for (Stream* other : streams) {
          const bool through_default = (&stream == bench.group.legacy && other->blocking) ||
                                       (stream.blocking && other == bench.group.legacy);
          if (through_default && last[other]) orders.emplace_back(last[other], ticket);
        }
        last[&stream] = ticket;
        all.push_back(ticket);
        if (random() % 20 == 0) bench.finish(all[random() % all.size()]);
      }
      bench.engine.finish_all(bench.lock);
      for (const auto& [earlier, later] : orders)
        ASSERT_LT(earlier->finished_at, later->finished_at) << "seed " << seed;
      ASSERT_EQ(bench.log.size(), all.size());
    }
  }
}

constexpr Schedule kSchedules[] = {Schedule::eager, Schedule::lazy, Schedule::random};

TEST(StreamEngine, CallbacksRunInAPoisonedGroupAndAreToldWhy) {
  EngineBench bench(Schedule::lazy);
  Stream& stream = bench.stream();
  int told = -1;
  bool called = false;
  bench.engine.enqueue(stream, [] { return 700; });
  bench.engine.enqueue_host_function(stream, [&] { called = true; });
  bench.finish(bench.engine.enqueue_callback(stream, [&](int fault) { told = fault; }));
  EXPECT_EQ(told, 700);
  EXPECT_FALSE(called);
}

TEST(StreamEngine, AHeldGroupHoldsItsPresentAndItsLaterStreams) {
  for (const Schedule schedule : kSchedules) {
    EngineBench bench(schedule, 5);
    StreamGroup& apart = bench.engine.create_group();
    Stream& present = bench.stream();
    Stream& first = bench.engine.create_stream(apart, false);
    Stream& second = bench.engine.create_stream(apart, false);
    bool open = false;
    const auto opened = [&] { return open; };
    const Ticket one = bench.engine.enqueue(first, {}, {}, opened);
    const Ticket two = bench.engine.enqueue(second, {}, {}, opened);
    bench.engine.hold_group(bench.group, one);
    bench.engine.hold_group(bench.group, two);
    const Ticket a = bench.queue(present, 'a');
    const Ticket b = bench.queue(bench.stream(), 'b');
    EXPECT_EQ(bench.log, "");
    for (const Ticket& held : {a, b}) {
      EXPECT_GE(held->clock.of(one->lane), one->count);
      EXPECT_GE(held->clock.of(two->lane), two->count);
    }
    open = true;
    bench.finish(a);
    bench.finish(b);
    EXPECT_TRUE(one->done && two->done);
  }
}

TEST(StreamEngine, AStreamMadeAfterTheHoldWasLiftedIsStillOrderedAfterIt) {
  EngineBench bench(Schedule::eager);
  StreamGroup& apart = bench.engine.create_group();
  const Ticket before = bench.engine.enqueue(bench.engine.create_stream(apart, false), {});
  bench.engine.hold_group(bench.group, before);
  bench.engine.progress(bench.lock);
  const Ticket later = bench.queue(bench.stream(), 'a');
  EXPECT_GE(later->clock.of(before->lane), before->count);
}

TEST(StreamEngine, MembersRunInTheOrderThatTheScheduleLikes) {
  using Turns = std::vector<std::size_t>;
  EXPECT_EQ(EngineBench(Schedule::eager).engine.order_of_members(4), (Turns{0, 1, 2, 3}));
  EXPECT_EQ(EngineBench(Schedule::lazy).engine.order_of_members(4), (Turns{3, 2, 1, 0}));
  EngineBench random(Schedule::random, 1);
  Turns turns = random.engine.order_of_members(100);
  EXPECT_FALSE(std::is_sorted(turns.begin(), turns.end()));
  std::sort(turns.begin(), turns.end());
  for (std::size_t i = 0; i < turns.size(); ++i) EXPECT_EQ(turns[i], i);
}

}  // namespace
}  // namespace ferry::sim
