// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/hazard_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ferry::sim {
namespace {

// One between the same call and a free at `place` of the program.
HazardPair pair_at(std::uintptr_t place) {
  Toucher user;
  user.symbol = Symbol::cuMemcpyAsync;
  user.operation = place;
  user.site = reinterpret_cast<const void*>(0x1000);
  return pair_of_early_end(user, {Symbol::cuMemFree_v2, reinterpret_cast<const void*>(place)});
}

void add(HazardLog& log, std::uintptr_t place) {
  log.add(pair_at(place), [place] { return "hazard: " + std::to_string(place) + "\n"; });
}

// What it prints meanwhile.
template <typename Body>
std::string printed_by(Body&& body) {
  testing::internal::CaptureStderr();
  body();
  return testing::internal::GetCapturedStderr();
}

TEST(HazardLog, CountsUntilTaken) {
  HazardLog log;
  EXPECT_EQ(printed_by([&] {
              add(log, 1);
              add(log, 2);
            }),
            "ferry-sim: hazard: 1\nferry-sim: hazard: 2\n");
  EXPECT_EQ(log.untaken(), 2U);
  EXPECT_EQ(log.take(), 2U);
  EXPECT_EQ(log.untaken(), 0U);
}

TEST(HazardLog, ARepeatIsCountedAndSaidInTheEnd) {
  HazardLog log;
  EXPECT_EQ(printed_by([&] {
              for (int i = 0; i < 15; ++i) add(log, 7);
              for (int i = 0; i < 2; ++i) add(log, 8);
              add(log, 9);
            }),
            "ferry-sim: hazard: 7\nferry-sim: hazard: 8\nferry-sim: hazard: 9\n");
  const std::string said =
      "ferry-sim: 14 more hazards between the same two calls as cuMemcpyAsync (operation 7) and "
      "cuMemFree\n"
      "ferry-sim: 1 more hazard between the same two calls as cuMemcpyAsync (operation 8) and "
      "cuMemFree\n";
  EXPECT_EQ(printed_by([&] { log.say_repeats(); }), said);
  EXPECT_EQ(printed_by([&] { log.say_repeats(); }), "") << "once";
  EXPECT_EQ(log.untaken(), 18U);
}

TEST(HazardLog, ATakeSaysTheRepeatsAndBeginsAnew) {
  HazardLog log;
  printed_by([&] {
    add(log, 7);
    add(log, 7);
  });
  EXPECT_THAT(printed_by([&] { EXPECT_EQ(log.take(), 2U); }),
              testing::StartsWith("ferry-sim: 1 more hazard between"));
  EXPECT_EQ(printed_by([&] { add(log, 7); }), "ferry-sim: hazard: 7\n")
      << "who takes after each test sees each test's own";
}

TEST(HazardLog, TheLimitCountsDifferentPairs) {
  HazardLog log;
  const std::string printed = printed_by([&] {
    for (std::uintptr_t place = 1; place <= HazardLog::kMostPrinted; ++place) {
      for (int i = 0; i < 30; ++i) add(log, place);
    }
  });
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), HazardLog::kMostPrinted);
  EXPECT_THAT(printed, testing::EndsWith("hazard: 20\n"));
  EXPECT_EQ(printed_by([&] {
              for (std::uintptr_t place = 100; place < 105; ++place) add(log, place);
            }),
            "ferry-sim: hazards between further calls are counted, but not printed\n");
  EXPECT_THAT(printed_by([&] { log.say_repeats(); }),
              testing::EndsWith("ferry-sim: 5 more hazards between calls that are not printed\n"));
  EXPECT_EQ(log.take(), 30 * HazardLog::kMostPrinted + 5);
}

TEST(HazardLog, WhatIsNotPrintedIsNotDescribed) {
  HazardLog log;
  int described = 0;
  const auto describe = [&] {
    ++described;
    return std::string("hazard: x\n");
  };
  printed_by([&] {
    for (int i = 0; i < 9; ++i) log.add(pair_at(1), describe);
  });
  EXPECT_EQ(described, 1);
}

TEST(HazardLog, IsOnUnlessOff) {
  HazardLog log;
  EXPECT_TRUE(log.is_on());
  log.set_mode(HazardMode::off);
  EXPECT_FALSE(log.is_on());
  log.set_mode(HazardMode::abort);
  EXPECT_TRUE(log.is_on());
}

TEST(HazardLogDeathTest, AbortsAtTheFirst) {
  HazardLog log;
  log.set_mode(HazardMode::abort);
  EXPECT_DEATH(add(log, 1), "ferry-sim: hazard: 1");
}

}  // namespace
}  // namespace ferry::sim
