// SPDX-License-Identifier: Apache-2.0
#include "sim/words/program_threads.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <atomic>
#include <chrono>
#include <semaphore>
#include <string>
#include <thread>

namespace ferry::sim {
namespace {

std::string in_call(long number) {
  return std::to_string(number) + " 0x7f00 0x80 0x0 0x0\n";
}

TEST(ActivityOf, AThreadWaitsInsideACallThatOthersEnd) {
  const char* const asleep = "12 (prog) S 1 12 12 0 -1";
  EXPECT_EQ(activity_of(asleep, in_call(SYS_futex)), ThreadActivity::waits);
  EXPECT_EQ(activity_of(asleep, in_call(SYS_read)), ThreadActivity::waits);
  EXPECT_EQ(activity_of(asleep, in_call(SYS_clock_nanosleep)), ThreadActivity::busy);
  EXPECT_EQ(activity_of(asleep, in_call(SYS_sched_yield)), ThreadActivity::busy);
}

TEST(ActivityOf, WhatRunsOrIsNotUnderstoodIsBusy) {
  EXPECT_EQ(activity_of("12 (prog) R 1", "running\n"), ThreadActivity::busy);
  EXPECT_EQ(activity_of("12 (prog) R 1", in_call(SYS_futex)), ThreadActivity::busy);
  EXPECT_EQ(activity_of("12 (prog) D 1", in_call(SYS_read)), ThreadActivity::busy);
  EXPECT_EQ(activity_of("12 (prog) S 1", "-1 0x7ffc 0x7f00\n"), ThreadActivity::busy);
  EXPECT_EQ(activity_of("12 (prog) S 1", ""), ThreadActivity::busy);
  EXPECT_EQ(activity_of("", in_call(SYS_futex)), ThreadActivity::busy);
}

TEST(ActivityOf, AThreadThatHasEndedIsGone) {
  EXPECT_EQ(activity_of("12 (prog) Z 1", ""), ThreadActivity::gone);
}

TEST(ActivityOf, ANameMayHoldAnything) {
  EXPECT_EQ(activity_of("12 (a) R b) S 1", in_call(SYS_futex)), ThreadActivity::waits);
}

// Asks from a thread of its own until the answer comes: the threads need a moment to get there.
bool comes_to(bool answer) {
  std::atomic<bool> came = false;
  std::thread([&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!came && std::chrono::steady_clock::now() < end) came = others_all_wait() == answer;
  }).join();  // this thread waits for it
  return came;
}

TEST(OthersAllWait, WhileThisThreadWaitsForAnother) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer has a thread of its own, which sleeps";
#endif
  EXPECT_TRUE(comes_to(true));
}

TEST(OthersAllWait, NotWhileOneIsBusy) {
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) {
    }
  });
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(comes_to(false));
  stop = true;
  busy.join();
}

TEST(OthersAllWait, NotWhileOneSleepsForATime) {
  std::counting_semaphore<> begun(0);
  std::thread sleeper([&] {
    begun.release();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  });
  begun.acquire();
  EXPECT_TRUE(comes_to(false));
  sleeper.join();
}

}  // namespace
}  // namespace ferry::sim
