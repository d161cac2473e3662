// SPDX-License-Identifier: Apache-2.0
#include "sim/time/engine_pace.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

constexpr EngineKind kUp = EngineKind::to_device;

EnginePace pace_with(std::vector<EngineWindow> windows) {
  EnginePace pace;
  pace.set_windows(std::move(windows));
  return pace;
}

TEST(EnginePace, FullPaceWithoutWindows) {
  const EnginePace pace;
  EXPECT_EQ(pace.slowdown(0, kUp, 5), 1U);
  EXPECT_EQ(pace.end_of(0, kUp, 5, 7), 12);
  EXPECT_EQ(pace.next_border(0), std::nullopt);
}

TEST(EnginePace, AWindowIsOfOneEngineAndMayBeOfOneDevice) {
  const EnginePace pace = pace_with({{1, kUp, 4, 100, 200}, {std::nullopt, kUp, 2, 150, 300}});
  EXPECT_EQ(pace.slowdown(1, kUp, 99), 1U);
  EXPECT_EQ(pace.slowdown(1, kUp, 100), 4U);
  EXPECT_EQ(pace.slowdown(1, kUp, 199), 4U) << "the slower of two";
  EXPECT_EQ(pace.slowdown(1, kUp, 200), 2U);
  EXPECT_EQ(pace.slowdown(0, kUp, 100), 1U);
  EXPECT_EQ(pace.slowdown(0, kUp, 150), 2U);
  EXPECT_EQ(pace.slowdown(1, EngineKind::to_host, 150), 1U);
  EXPECT_EQ(pace.slowdown(1, kUp, 300), 1U);
}

TEST(EnginePace, WorkIsStretchedWhereItRunsThroughAWindow) {
  const EnginePace pace = pace_with({{std::nullopt, kUp, 4, 100, 200}});
  EXPECT_EQ(pace.end_of(0, kUp, 0, 100), 100) << "before it";
  EXPECT_EQ(pace.end_of(0, kUp, 90, 20), 140) << "10 at full pace, 10 at a quarter";
  EXPECT_EQ(pace.end_of(0, kUp, 90, 50), 215) << "10, then 25 in the window, then 15";
  EXPECT_EQ(pace.end_of(0, kUp, 200, 50), 250);
}

TEST(EnginePace, StandingStillEndsWithTheWindow) {
  const EnginePace pace =
      pace_with({{std::nullopt, kUp, 0, 100, 200}, {std::nullopt, kUp, 8, 150, 180}});
  EXPECT_EQ(pace.slowdown(0, kUp, 160), 0U);
  EXPECT_EQ(pace.end_of(0, kUp, 95, 7), 202);
  EXPECT_EQ(pace.end_of(0, kUp, 160, 0), 200) << "nothing ends meanwhile";
}

TEST(EnginePace, BordersInOrder) {
  const EnginePace pace = pace_with({{0, kUp, 2, 50, 70}, {0, kUp, 2, 10, 60}});
  EXPECT_EQ(pace.next_border(0), 10);
  EXPECT_EQ(pace.next_border(10), 50);
  EXPECT_EQ(pace.next_border(50), 60);
  EXPECT_EQ(pace.next_border(60), 70);
  EXPECT_EQ(pace.next_border(70), std::nullopt);
}

}  // namespace
}  // namespace ferry::sim
