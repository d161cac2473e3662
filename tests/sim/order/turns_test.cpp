// SPDX-License-Identifier: Apache-2.0
// What keeps threads from each other's turns is in turn_order_test.cpp.
#include "sim/order/turns.hpp"

#include "sim/order/turns_fixture.hpp"

namespace ferry::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_time::kMicro;
using testing_time::kNano;

class ImpatientTurnsTest : public TurnsTest {
 protected:
  ImpatientTurnsTest() : TurnsTest(std::chrono::milliseconds(50)) {}
};

TEST_F(TurnsTest, TheSmallestClockGoesFirstWhoeverIsLate) {
  for (const int late : {0, 20}) {
    order.clear();
    ASSERT_TRUE(expect(1));
    ASSERT_TRUE(expect(2));
    std::thread first = start(1, late, [&](Turns::Lock& lock) {
      for (int step = 0; step < 3; ++step) {  // at 0, 30, 60
        order.push_back(10 + step);
        work(lock, late / 4);
        spend(lock, 30);
      }
    });
    std::thread second = start(2, 20 - late, [&](Turns::Lock& lock) {
      for (int step = 0; step < 3; ++step) {  // at 0, 25, 50
        order.push_back(20 + step);
        work(lock, (20 - late) / 4);
        spend(lock, 25);
      }
    });
    first.join();
    second.join();
    EXPECT_THAT(order, ElementsAre(10, 20, 21, 11, 22, 12)) << late;
  }
  EXPECT_THAT(complaints, IsEmpty());
}

TEST_F(TurnsTest, ThreadsBeginWhereTheyWereAnnounced) {
  timeline.clock().spend(500);
  ASSERT_TRUE(expect(1));
  std::thread second;
  start(1, 0, [&](Turns::Lock& lock) {
    EXPECT_EQ(timeline.clock().now(), 500);
    spend(lock, 100);
    ASSERT_TRUE(turns.expect(2));
    second = start(2, 10, [&](Turns::Lock&) { EXPECT_EQ(timeline.clock().now(), 600); });
    spend(lock, 100);
  }).join();
  second.join();
}

TEST_F(TurnsTest, OnlyWhoTakesPartMayCall) {
  EXPECT_TRUE(turns.may_call()) << "nobody takes part yet";
  ASSERT_TRUE(expect(1));
  EXPECT_FALSE(turns.may_call());
  start(1, 0, [&](Turns::Lock& lock) {
    EXPECT_TRUE(turns.may_call());
    spend(lock, 700);
    EXPECT_TRUE(turns.pause());
    EXPECT_FALSE(turns.may_call());
    EXPECT_FALSE(turns.expect(2));
    EXPECT_TRUE(turns.resume(lock));
    EXPECT_TRUE(turns.may_call());
  }).join();
  EXPECT_TRUE(turns.may_call()) << "nobody any more";
  EXPECT_EQ(timeline.clock().now(), 700) << "which was then";
}

TEST_F(TurnsTest, TheNextRoundBeginsWhereTheLastOneEnded) {
  ASSERT_TRUE(expect(1));
  start(1, 0, [&](Turns::Lock& lock) { spend(lock, 700); }).join();
  ASSERT_TRUE(expect(1));
  start(1, 0, [&](Turns::Lock&) { EXPECT_EQ(timeline.clock().now(), 700); }).join();
}

TEST_F(TurnsTest, AThreadTakesPartAgain) {
  Turns::Lock lock(mutex);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(turns.expect(1));
    ASSERT_TRUE(turns.begin(lock, 1)) << round;
    ASSERT_TRUE(turns.end());
  }
}

TEST_F(TurnsTest, WhatDoesNotFitIsRefused) {
  EXPECT_FALSE(turns.end());
  EXPECT_FALSE(turns.pause());
  EXPECT_FALSE(turns.wake(1));
  ASSERT_TRUE(expect(1));
  ASSERT_TRUE(expect(2));
  EXPECT_FALSE(expect(2)) << "announced twice";
  {
    Turns::Lock lock(mutex);
    EXPECT_FALSE(turns.begin(lock, 3)) << "not announced";
    EXPECT_FALSE(turns.resume(lock));
  }
  std::thread second = start(2, 0, [&](Turns::Lock&) {});
  start(1, 0, [&](Turns::Lock& lock) {
    ASSERT_TRUE(turns.expect(3));
    EXPECT_FALSE(turns.begin(lock, 3)) << "takes part already";
    EXPECT_TRUE(turns.wake(3)) << "which is not away";
    EXPECT_FALSE(turns.resume(lock)) << "was not away";
    EXPECT_FALSE(turns.wake(7));
    lock.unlock();
    std::thread([&] { EXPECT_FALSE(expect(4)) << "when, depends on the scheduler"; }).join();
    std::thread([&] {
      Turns::Lock its(mutex);
      EXPECT_FALSE(turns.begin(its, 1)) << "it has begun";
      EXPECT_FALSE(turns.wake(1)) << "not by one who does not take part";
    }).join();
    lock.lock();
    EXPECT_TRUE(turns.wake(2)) << "which is not away";
  }).join();
  second.join();
  start(3, 0, [&](Turns::Lock&) {}).join();
  turns.set_on(false);
  EXPECT_FALSE(expect(4));
  EXPECT_TRUE(turns.may_call());
}

// The one that is woken comes back late in real time; the other waits for it.
TEST_F(TurnsTest, AWokenThreadKeepsItsPlace) {
  ASSERT_TRUE(expect(1));
  ASSERT_TRUE(expect(2));
  std::thread first = start(1, 0, [&](Turns::Lock& lock) {
    EXPECT_TRUE(turns.pause());
    order.push_back(10);
    work(lock, 30);
    EXPECT_FALSE(turns.may_call()) << "not before it has come back";
    EXPECT_TRUE(turns.resume(lock));
    EXPECT_EQ(timeline.clock().now(), 100) << "when it was woken";
    order.push_back(11);
  });
  start(2, 0, [&](Turns::Lock& lock) {
    spend(lock, 100);
    order.push_back(20);
    EXPECT_TRUE(turns.wake(1));
    EXPECT_TRUE(turns.wake(1)) << "once is enough";
    spend(lock, 1);
    order.push_back(21);
  }).join();
  first.join();
  EXPECT_THAT(order, ElementsAre(10, 20, 11, 21));
}

TEST_F(TurnsTest, WithoutAWakeAThreadGoesOnWhereTheRoundIs) {
  ASSERT_TRUE(expect(1));
  ASSERT_TRUE(expect(2));
  std::thread second = start(2, 0, [&](Turns::Lock& lock) { spend(lock, 900); });
  start(1, 0, [&](Turns::Lock& lock) {
    EXPECT_TRUE(turns.pause());
    lock.unlock();
    second.join();
    lock.lock();
    EXPECT_TRUE(turns.resume(lock));
    EXPECT_EQ(timeline.clock().now(), 900);
  }).join();
}

TEST_F(TurnsTest, WorkQueuedMeanwhileCountsForAWait) {
  ASSERT_TRUE(expect(1));
  ASSERT_TRUE(expect(2));
  std::thread first = start(1, 0, [&](Turns::Lock& lock) {
    const TimedTaskRef task = timeline.add(copy(), {});
    const TimedTaskRef next = timeline.add(copy(), std::span(&task, 1));
    turns.wait(lock, *next);
    // Queued at 3 us, the other thread's copy was ready for the engine at 10 before this one.
    EXPECT_EQ(timeline.clock().now(), 30 * kMicro);
    order.push_back(1);
  });
  start(2, 0, [&](Turns::Lock& lock) {
    spend(lock, 3 * kMicro);
    const TimedTaskRef task = timeline.add(copy(), {});
    turns.wait(lock, *task);
    EXPECT_EQ(timeline.clock().now(), 20 * kMicro);
    order.push_back(2);
  }).join();
  first.join();
  EXPECT_THAT(order, ElementsAre(2, 1));
}

TEST_F(TurnsTest, WhoeverWaitsForAConditionLetsTheOthersGoOn) {
  bool written = false;
  ASSERT_TRUE(expect(1));
  ASSERT_TRUE(expect(2));
  std::thread first = start(1, 0, [&](Turns::Lock& lock) {
    while (!written) {
      if (!turns.let_others_go_on(lock)) work(lock, 1);
    }
    EXPECT_EQ(timeline.clock().now(), 1'200 * kNano) << "the third look, each after 400 ns";
  });
  start(2, 10, [&](Turns::Lock& lock) {
    spend(lock, 1'000 * kNano);
    written = true;
  }).join();
  first.join();
  Turns::Lock lock(mutex);
  EXPECT_FALSE(turns.let_others_go_on(lock)) << "there are none";
}

TEST_F(ImpatientTurnsTest, ARoundThatStandsStillIsSaid) {
  std::atomic<bool> first_was_here = false;
  ASSERT_TRUE(expect(1));
  ASSERT_TRUE(expect(2));
  std::thread first = start(1, 0, [&](Turns::Lock& lock) {
    first_was_here = true;
    spend(lock, 10);  // with something in hand that the second needs, whose turn it is now
    while (complaints.empty()) work(lock, 1);
  });
  std::thread second = start(2, 0, [&](Turns::Lock& lock) {
    EXPECT_TRUE(first_was_here);
    while (complaints.empty()) work(lock, 5);  // where it would wait for it
  });
  first.join();
  second.join();
  ASSERT_EQ(complaints.size(), 1U) << "once";
  EXPECT_THAT(complaints[0], HasSubstr("thread 2's turn for 50 ms, and thread 1 waits"));
  EXPECT_THAT(complaints[0], HasSubstr("ferry_sim_thread_pause"));
}

TEST_F(ImpatientTurnsTest, AThreadThatNeverComesIsSaid) {
  ASSERT_TRUE(expect(1));
  ASSERT_TRUE(expect(2));
  std::thread second = start(2, 0, [&](Turns::Lock&) {});
  start(1, 150, [&](Turns::Lock&) {}).join();
  second.join();
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_THAT(complaints[0], HasSubstr("ferry_sim_thread_begin"));
}

TEST_F(TurnsTest, OutsidersAreToldOnce) {
  turns.complain_of_outsider("cuCtxSynchronize");
  turns.complain_of_outsider("cuCtxSynchronize");
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_THAT(complaints[0], HasSubstr("cuCtxSynchronize is refused"));
}

}  // namespace
}  // namespace ferry::sim
