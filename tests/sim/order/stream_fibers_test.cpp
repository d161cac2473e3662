// SPDX-License-Identifier: Apache-2.0
#include "sim/order/stream_fibers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "sim/order/fake_sanitizer.hpp"

namespace ferry::sim {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class StreamFibersTest : public testing::Test {
 protected:
  // The next operation of a lane; it comes after its lane's earlier ones.
  Operation& queue(LaneNumber lane) {
    Operation& operation = *operations.emplace_back(std::make_unique<Operation>());
    operation.lane = lane;
    operation.stream = &stream;
    operation.count = ++counts[lane];
    operation.clock.set(lane, operation.count);
    fake.name(&operation, fmt::format("queueing {}.{}", lane, operation.count));
    return operation;
  }
  StreamFibers::Token run(Operation& operation, bool skipped = false) {
    return fibers.take_turn(operation, skipped);
  }
  void use(const Operation& operation, const HostUse& use) {
    fibers.note_use(operation, [&] { return use; });
  }
  // What was told since the last time, without the switches.
  std::vector<std::string> told() {
    std::vector<std::string> lines;
    for (const std::string& line : std::exchange(fake.log, {})) {
      if (!line.starts_with("to ")) lines.push_back(line);
    }
    return lines;
  }

  FakeSanitizer fake;
  StreamGroup group;
  Stream stream{group, 7, false, 0};
  std::map<LaneNumber, std::uint64_t> counts;
  std::vector<std::unique_ptr<Operation>> operations;
  StreamFibers fibers{&FakeSanitizer::functions()};
};

TEST_F(StreamFibersTest, QueueingIsHeardAlthoughTheThreadIsQuiet) {
  fibers.note_queued(queue(0));
  EXPECT_THAT(told(), ElementsAre("thread releases queueing 0.1"));
  EXPECT_EQ(fake.heed, 0) << "quiet again";
}

TEST_F(StreamFibersTest, AnOperationComesAfterItsQueueingAndTouchesItsMemory) {
  Operation& copy = queue(0);
  use(copy, {{{0x100, 8, false}, {0x200, 4, true}}, {}, nullptr});
  run(copy);
  EXPECT_THAT(
      told(),
      ElementsAre("fiber 1 acquires queueing 0.1", "fiber 1 reads 8 at 0x100 from elsewhere",
                  "fiber 1 writes 4 at 0x200 from elsewhere", "fiber 1 releases token 1"));
}

TEST_F(StreamFibersTest, OperationsDoNotTouchWhatOthersDo) {
  Operation& copy = queue(0);
  use(copy, {{{0x100, 8, false}}, {}, fake.name(&stream, "the call")});
  run(queue(1));
  static_cast<void>(told());
  run(copy);
  EXPECT_THAT(told(), Contains("fiber 2 reads 8 at 0x100 from the call"));
  run(copy);  // what has its address may be another one
  EXPECT_THAT(told(), Not(Contains(testing::HasSubstr("reads"))));
}

TEST_F(StreamFibersTest, ASkippedOperationTouchesNothing) {
  Operation& copy = queue(0);
  use(copy, {{{0x100, 8, false}}, {0x300, true, true}, nullptr});
  run(copy, true);
  EXPECT_THAT(told(), ElementsAre("fiber 1 acquires queueing 0.1", "fiber 1 releases token 1"));
}

TEST_F(StreamFibersTest, AnOperationComesAfterThoseOfItsClockAndNoLaterOnes) {
  run(queue(0));  // token 1
  run(queue(0));  // token 2, the one to wait for
  run(queue(0));  // token 3
  run(queue(1));  // token 4, not waited for
  Operation& after = queue(2);
  after.clock.set(0, 2);
  static_cast<void>(told());
  run(after);
  EXPECT_THAT(told(), ElementsAre("fiber 3 acquires token 2", "fiber 3 acquires queueing 2.1",
                                  "fiber 3 releases token 5"));
}

TEST_F(StreamFibersTest, AThreadThatWaitedComesAfterWhatItWaitedFor) {
  run(queue(0));
  run(queue(0));
  run(queue(1));
  Clock waited_for;
  waited_for.set(0, 1);
  static_cast<void>(told());
  fibers.note_seen(waited_for);
  EXPECT_THAT(told(), ElementsAre("thread acquires token 1"));
  fibers.note_seen(Clock());
  EXPECT_THAT(told(), IsEmpty());
}

// Rather too much order than a false alarm.
TEST_F(StreamFibersTest, AWaitForWhatIsForgottenIsOneForTheOldestKept) {
  run(queue(0));
  for (std::size_t i = 0; i < StreamFibers::kMostEnds; ++i) run(queue(0));
  Clock waited_for;
  waited_for.set(0, 1);
  static_cast<void>(told());
  fibers.note_seen(waited_for);
  EXPECT_THAT(told(), ElementsAre("thread acquires token 2"));
}

TEST_F(StreamFibersTest, WordsOrder) {
  char word = 0;
  fake.name(&word, "the word");
  const auto address = reinterpret_cast<std::uintptr_t>(&word);
  Operation& waits = queue(0);
  use(waits, {{}, {address, true, false}, nullptr});
  run(waits);
  const auto waiting = told();
  EXPECT_THAT(waiting, Contains("fiber 1 acquires the word"));
  EXPECT_THAT(waiting, Not(Contains("fiber 1 releases the word")));
  Operation& writes = queue(0);
  use(writes, {{}, {address, false, true}, nullptr});
  run(writes);
  const auto writing = told();
  EXPECT_THAT(writing, Contains("fiber 1 releases the word"));
  EXPECT_THAT(writing, Not(Contains("fiber 1 acquires the word")));
}

TEST_F(StreamFibersTest, HostCodeRunsOnAThreadOfItsOwnWithoutTheLock) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  Operation& host = queue(0);
  std::thread::id where;
  bool was_free = false;
  host.work = [&] {
    where = std::this_thread::get_id();
    was_free = mutex.try_lock();
    if (was_free) mutex.unlock();
    fake.log.push_back("host code");
    return 0;
  };
  const StreamFibers::Token turn = run(host);
  fake.heed = 1;  // of the new thread, which is not quiet
  static_cast<void>(told());
  fibers.run_host_code(lock, host, turn);
  EXPECT_THAT(told(), ElementsAre("thread acquires token 1", "host code", "thread releases token 1",
                                  "fiber 1 acquires token 1"));
  EXPECT_NE(where, std::this_thread::get_id());
  EXPECT_TRUE(was_free);
  EXPECT_TRUE(lock.owns_lock());
}

TEST_F(StreamFibersTest, ACrowdSharesFibers) {
  for (LaneNumber lane = 0; lane < 2 * StreamFibers::kMostFibers; ++lane) run(queue(lane));
  EXPECT_THAT(fake.log,
              Contains(fmt::format("to fiber {} without order", StreamFibers::kMostFibers)));
  EXPECT_THAT(
      fake.log,
      Not(Contains(fmt::format("to fiber {} without order", StreamFibers::kMostFibers + 1))));
}

TEST_F(StreamFibersTest, FibersGoWithTheMachine) {
  {
    StreamFibers others{&FakeSanitizer::functions()};
    static_cast<void>(others.take_turn(queue(0), false));
    static_cast<void>(told());
  }
  EXPECT_THAT(told(), ElementsAre("fiber 1 is gone"));
}

TEST(StreamFibersWithout, NothingHappensButTheHostsCode) {
  StreamFibers none{nullptr};
  EXPECT_FALSE(none.is_on());
  Operation operation;
  none.note_queued(operation);
  none.note_use(operation, [] {
    ADD_FAILURE() << "nobody wants to know";
    return HostUse();
  });
  EXPECT_EQ(none.take_turn(operation, false), nullptr);
  none.note_seen(operation.clock);
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::thread::id where;
  operation.work = [&] {
    where = std::this_thread::get_id();
    return 0;
  };
  none.run_host_code(lock, operation, nullptr);
  EXPECT_EQ(where, std::this_thread::get_id());
  EXPECT_TRUE(lock.owns_lock());
}

}  // namespace
}  // namespace ferry::sim
