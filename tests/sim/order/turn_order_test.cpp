// SPDX-License-Identifier: Apache-2.0
// Nobody takes a turn too early, whoever comes, goes or waits meanwhile.
#include "sim/order/turns.hpp"
#include "sim/order/turns_fixture.hpp"

namespace ferry::sim {
namespace {

using testing::ElementsAre;
using testing_time::kMicro;

// Who comes, goes or comes back meanwhile does not take the turn of the one who has it, though
// somebody with a smaller number has the same clock.
TEST_F(TurnsTest, ATurnLastsUntilTheClockMoves) {
  ASSERT_TRUE(expect(1));
  ASSERT_TRUE(expect(2));
  ASSERT_TRUE(expect(3));
  const auto step_out = [&](bool comes_back) {
    return [&, comes_back](Turns::Lock& lock) {
      EXPECT_TRUE(turns.pause());
      work(lock, comes_back ? 60 : 40);
      if (!comes_back) return;
      EXPECT_TRUE(turns.resume(lock));
      order.push_back(10);
    };
  };
  std::thread first = start(1, 0, step_out(true));
  std::thread second = start(2, 0, step_out(false));
  std::thread fourth;
  start(3, 0, [&](Turns::Lock& lock) {
    EXPECT_FALSE(turns.let_others_go_on(lock)) << "both have stepped out";
    EXPECT_TRUE(turns.wake(1));
    ASSERT_TRUE(turns.expect(4));
    fourth = start(4, 0, [&](Turns::Lock&) { order.push_back(40); });
    for (int i = 0; i < 10; ++i) {
      work(lock, 10);
      EXPECT_TRUE(turns.may_call());
    }
    order.push_back(30);
    spend(lock, 1);
    order.push_back(31);
  }).join();
  first.join();
  second.join();
  fourth.join();
  EXPECT_THAT(order, ElementsAre(30, 10, 40, 31));
}

// One thread steps out at 500, and is woken, or comes back by itself, at 200.
TEST_F(TurnsTest, NobodyGoesOnBeforeItsOwnClock) {
  for (const bool woken : {true, false}) {
    order.clear();
    const Picoseconds begin = timeline.clock().now();
    ASSERT_TRUE(expect(1));
    ASSERT_TRUE(expect(2));
    bool is_back = false;
    std::thread first = start(1, 0, [&](Turns::Lock& lock) {
      timeline.clock().spend(500);
      EXPECT_TRUE(turns.pause());
      work(lock, 20);
      is_back = true;
      EXPECT_TRUE(turns.resume(lock));
      order.push_back(1);
    });
    start(2, 0, [&](Turns::Lock& lock) {
      spend(lock, 200);
      if (woken) {
        EXPECT_TRUE(turns.wake(1));
      } else {
        while (!is_back) work(lock, 1);
        work(lock, 5);
      }
      spend(lock, 100);
      order.push_back(2);
      spend(lock, 300);
      order.push_back(3);
    }).join();
    first.join();
    EXPECT_THAT(order, ElementsAre(2, 1, 3)) << woken;
    EXPECT_EQ(timeline.clock().now(), begin);
    EXPECT_TRUE(turns.may_call());  // goes on from where the round ended
  }
}

TEST_F(TurnsTest, AWaitForWhatIsOverLetsNobodyOvertake) {
  ASSERT_TRUE(expect(1));
  ASSERT_TRUE(expect(2));
  std::thread first = start(1, 0, [&](Turns::Lock& lock) {
    const TimedTaskRef task = timeline.add(copy(), {});
    timeline.clock().spend(100 * kMicro);
    turns.wait(lock, *task);
    order.push_back(1);
  });
  start(2, 0, [&](Turns::Lock& lock) {
    spend(lock, 50 * kMicro);
    order.push_back(2);
  }).join();
  first.join();
  EXPECT_THAT(order, ElementsAre(2, 1));
}

// A query of the first thread, whose clock is far ahead, must not settle what the second one still
// changes.
TEST_F(TurnsTest, NobodyLooksBeyondTheTurn) {
  ASSERT_TRUE(expect(1));
  ASSERT_TRUE(expect(2));
  std::thread first = start(1, 0, [&](Turns::Lock& lock) {
    const TimedTaskRef task = timeline.add(copy(), {});
    const TimedTaskRef next = timeline.add(copy(), std::span(&task, 1));
    timeline.clock().spend(100 * kMicro);
    EXPECT_FALSE(timeline.has_passed(*next));
    turns.catch_up(lock);
    EXPECT_TRUE(timeline.has_passed(*next));
    EXPECT_EQ(next->end, 30 * kMicro);
  });
  start(2, 0, [&](Turns::Lock& lock) {
    spend(lock, 3 * kMicro);
    static_cast<void>(timeline.add(copy(), {}));
  }).join();
  first.join();
}

}  // namespace
}  // namespace ferry::sim
