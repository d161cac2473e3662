// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/call_turn.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "sim/time/round_profile.hpp"

namespace ferry::sim {
namespace {

using testing_time::kMicro;
using testing_time::kNano;

class CallTurnTest : public testing::Test {
 protected:
  static Settings settings() {
    Settings settings;
    settings.with_data = false;
    settings.threads = Threads::turns;
    return settings;
  }

  // A thread of the round. The caller has announced it.
  template <typename Body>
  std::thread start(std::uint64_t number, Body&& body) {
    return std::thread([this, number, body = std::forward<Body>(body)] {
      Lock lock(mutex);
      EXPECT_TRUE(machine.engine.turns().begin(lock, number));
      body(lock);
      EXPECT_TRUE(machine.engine.turns().end());
    });
  }
  // A call of 1 us, and what it moves its clock by besides.
  void call(Lock& lock, int entry, Picoseconds more) {
    const CallTurn turn(&machine, lock, Symbol::cuMemcpyHtoDAsync_v2);
    EXPECT_FALSE(turn.refused());
    order.push_back(entry);
    machine.engine.timeline().clock().spend(kMicro + more);
  }

  HazardLog log;
  Machine machine{
      settings(), {0}, log, std::make_shared<const Profile>(testing_time::round_profile())};
  std::mutex mutex;
  std::vector<int> order;
};

TEST_F(CallTurnTest, CallsActWhenTheyArePaidAndReturnWhenTheyEnd) {
  ASSERT_TRUE(machine.engine.turns().expect(1));
  ASSERT_TRUE(machine.engine.turns().expect(2));
  std::thread first = start(1, [&](Lock& lock) {
    call(lock, 10, 500 * kNano);  // acts at 1 us, returns at 1.5
    order.push_back(11);
    call(lock, 12, 0);  // acts and returns at 2.5
    order.push_back(13);
  });
  start(2, [&](Lock& lock) {
    machine.engine.timeline().clock().spend(200 * kNano);
    machine.engine.turns().catch_up(lock);
    order.push_back(20);
    call(lock, 21, 0);  // acts and returns at 1.2 us
    order.push_back(22);
    call(lock, 23, kMicro);  // acts at 2.2 us, returns at 3.2
    order.push_back(24);
  }).join();
  first.join();
  EXPECT_THAT(order, testing::ElementsAre(20, 10, 21, 22, 11, 23, 12, 13, 24));
}

TEST_F(CallTurnTest, OutsidersAreRefused) {
  ASSERT_TRUE(machine.engine.turns().expect(1));
  Lock lock(mutex);
  testing::internal::CaptureStderr();
  {
    const CallTurn turn(&machine, lock, Symbol::cuCtxGetCurrent);
    EXPECT_TRUE(turn.refused());
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("ferry-sim: threads: cuCtxGetCurrent is refused"));
}

TEST_F(CallTurnTest, FreeThreadsHaveNoTurns) {
  Lock lock(mutex);
  const CallTurn turn(nullptr, lock, Symbol::cuCtxGetCurrent);
  EXPECT_FALSE(turn.refused());
}

}  // namespace
}  // namespace ferry::sim
