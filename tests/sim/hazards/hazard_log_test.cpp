// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/hazard_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

TEST(HazardLog, CountsUntilTaken) {
  testing::internal::CaptureStderr();
  HazardLog log;
  log.add("hazard: one\n");
  log.add("hazard: two\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ferry-sim: hazard: one\nferry-sim: hazard: two\n");
  EXPECT_EQ(log.untaken(), 2U);
  EXPECT_EQ(log.take(), 2U);
  EXPECT_EQ(log.untaken(), 0U);
}

TEST(HazardLog, PrintsOnlyTheFirstAndSaysSo) {
  testing::internal::CaptureStderr();
  HazardLog log;
  for (std::uint64_t i = 0; i < HazardLog::kMostPrinted + 5; ++i) log.add("hazard: x\n");
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_EQ(static_cast<std::uint64_t>(std::count(printed.begin(), printed.end(), '\n')),
            HazardLog::kMostPrinted + 1);
  EXPECT_THAT(printed, testing::EndsWith("further hazards are counted, but not printed\n"));
  EXPECT_EQ(log.take(), HazardLog::kMostPrinted + 5);
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
  EXPECT_DEATH(log.add("hazard: one\n"), "ferry-sim: hazard: one");
}

}  // namespace
}  // namespace ferry::sim
