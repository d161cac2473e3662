// SPDX-License-Identifier: Apache-2.0
// A round of threads that begin as late as a test wants.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "sim/order/turns.hpp"
#include "sim/time/round_profile.hpp"

namespace ferry::sim {

inline void doze(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

class TurnsTest : public testing::Test {
 protected:
  // Long enough for busy machines, where nothing is to be complained of.
  explicit TurnsTest(std::chrono::milliseconds patience_of_all = std::chrono::seconds(20))
      : patience(patience_of_all) {
    turns.set_on(true);
  }

  bool expect(std::uint64_t number) {
    const Turns::Lock lock(mutex);
    return turns.expect(number);
  }

  // A thread of the round. It comes late by some milliseconds of real time.
  template <typename Body>
  std::thread start(std::uint64_t number, int late, Body&& body) {
    return std::thread([this, number, late, body = std::forward<Body>(body)] {
      doze(late);
      Turns::Lock lock(mutex);
      EXPECT_TRUE(turns.begin(lock, number));
      body(lock);
      EXPECT_TRUE(turns.end());
    });
  }

  // The calling thread's clock moves, and the others catch up.
  void spend(Turns::Lock& lock, Picoseconds duration) {
    timeline.clock().spend(duration);
    turns.catch_up(lock);
  }

  // What the program does without the lock; the thread keeps its turn.
  static void work(Turns::Lock& lock, int milliseconds) {
    lock.unlock();
    doze(milliseconds);
    lock.lock();
  }

  // A copy that has its engine for ten microseconds.
  static Load copy() {
    Load load;
    load.engine = EngineKind::to_device;
    load.latency = 10 * testing_time::kMicro;
    return load;
  }

  const std::chrono::milliseconds patience;
  Timeline timeline{std::make_shared<const Profile>(testing_time::round_profile())};
  std::vector<std::string> complaints;
  Turns turns{timeline, patience, [this](const std::string& text) { complaints.push_back(text); }};
  std::mutex mutex;
  std::vector<int> order;
};

}  // namespace ferry::sim
