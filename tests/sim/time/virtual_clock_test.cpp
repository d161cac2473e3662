// SPDX-License-Identifier: Apache-2.0
#include "sim/time/virtual_clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace ferry::sim {
namespace {

TEST(VirtualClock, WorkIsExactAndOnlyItsEndIsRounded) {
  EXPECT_EQ(time_for(work_of(1), 1'000'000'000'000), 1);
  EXPECT_EQ(time_for(work_of(10), 3), 3'333'333'333'334) << "up";
  EXPECT_EQ(time_for(work_of(9), 3), 3'000'000'000'000);
  EXPECT_EQ(time_for(work_of(0), 7), 0);
  // 80 GiB at 55.4 GB/s: beyond 64 bits on the way.
  EXPECT_EQ(time_for(work_of(std::uint64_t{80} << 30), 55'400'000'000), 1'550'529'709'748);
}

TEST(VirtualClock, TimesSaturateInsteadOfRunningOver) {
  const Picoseconds longest = time_for(work_of(~std::uint64_t{0}), 1);
  EXPECT_GT(longest, 0);
  EXPECT_EQ(longest, time_for(work_of(~std::uint64_t{0}), 2));
}

TEST(VirtualClock, GoesForwardOnly) {
  VirtualClock clock;
  EXPECT_EQ(clock.now(), 0);
  clock.spend(5);
  clock.reach(3);
  EXPECT_EQ(clock.now(), 5);
  clock.reach(9);
  EXPECT_EQ(clock.now(), 9);
}

TEST(VirtualClock, EachMachineHasItsOwn) {
  VirtualClock first;
  first.spend(100);
  VirtualClock second;
  EXPECT_EQ(second.now(), 0);
}

TEST(VirtualClock, EachThreadHasItsOwnAndBeginsWhereTheFarthestIs) {
  VirtualClock clock;
  clock.spend(100);
  std::thread([&] {
    EXPECT_EQ(clock.now(), 100);
    clock.spend(50);
    EXPECT_EQ(clock.now(), 150);
  }).join();
  EXPECT_EQ(clock.now(), 100) << "the other thread's time is not this one's";
  std::thread([&] { EXPECT_EQ(clock.now(), 150); }).join();
}

TEST(VirtualClock, AThreadMayBeToldWhereItBegins) {
  VirtualClock clock;
  clock.spend(100);
  std::thread([&] {
    clock.begin_at(40);
    EXPECT_EQ(clock.now(), 40);
    clock.begin_at(30);
    EXPECT_EQ(clock.now(), 40) << "it has begun already";
  }).join();
}

}  // namespace
}  // namespace ferry::sim
