// SPDX-License-Identifier: Apache-2.0
#include "front/traffic/traffic_findings.hpp"

#include <gtest/gtest.h>

#include "front/traffic/traffic_samples.hpp"

namespace ferry::traffic {
namespace {

using testing_traffic::RecordText;
using testing_traffic::two_micro_steps;

TEST(TrafficFindings, TheSameBytesAreFoundOnTheirWholeRoute) {
  const Findings found = look_for_waste(two_micro_steps().read(), 1);
  ASSERT_EQ(found.repeated.size(), 1U);
  const Repeated& route = found.repeated[0];
  ASSERT_EQ(route.stops.size(), 3U);
  EXPECT_EQ(route.stops[0].way, Way::to_host);
  EXPECT_EQ(route.stops[1].way, Way::to_device);
  EXPECT_TRUE(route.stops[2].widened);
  EXPECT_EQ(route.contents, 1U);
  EXPECT_EQ(route.moved, Bytes{32768});
  EXPECT_EQ(route.needed, Bytes{8192});
}

TEST(TrafficFindings, WidenedWordsAreFound) {
  const Findings found = look_for_waste(two_micro_steps().read(), 1);
  ASSERT_EQ(found.widened.size(), 1U);
  EXPECT_EQ(found.widened[0].caller.place, "engine.py:4");
  EXPECT_EQ(found.widened[0].moved, Bytes{16384});
}

TEST(TrafficFindings, GradientsOfEachMicroStepAreFound) {
  const Findings found = look_for_waste(two_micro_steps().read(), 1);
  ASSERT_EQ(found.accumulated.size(), 1U);
  EXPECT_EQ(found.accumulated[0].micro_steps, 2U);
  EXPECT_EQ(found.accumulated[0].moved, Bytes{32768});
  EXPECT_EQ(found.accumulated[0].needed, Bytes{8192});
}

TEST(TrafficFindings, RoutesOfOneKindAreOneFinding) {
  RecordText record;
  for (const char* const digest : {"aa", "bb", "cc"})
    record.copy("to_device", 8192, "a.py:1", digest).copy("to_device", 8192, "a.py:1", digest);
  record.copy("to_device", 8192, "a.py:2", "dd").copy("to_host", 8192, "a.py:3", "dd");
  const Findings found = look_for_waste(record.read(), 1);
  ASSERT_EQ(found.repeated.size(), 2U);
  EXPECT_EQ(found.repeated[0].contents, 3U) << "what wastes most comes first";
  EXPECT_EQ(found.repeated[0].moved, Bytes{49152});
  EXPECT_EQ(found.repeated[1].contents, 1U);
}

TEST(TrafficFindings, OtherStepsZerosSmallAndUnknownContentsDoNotCount) {
  RecordText record;
  record.copy("to_device", 8192, "a.py:1", "aa").copy("to_device", 8192, "a.py:1", "zero");
  record.copy("to_device", 8192, "a.py:1", "zero").copy("to_device", 4095, "a.py:1", "bb");
  record.copy("to_device", 4095, "a.py:1", "bb").copy("on_device", 8192, "a.py:1", "aa");
  record.copy("to_device", 8192, "a.py:1").copy("to_device", 8192, "a.py:1");
  record.mark("phase", "forward", 2).copy("to_device", 8192, "a.py:1", "aa");
  EXPECT_TRUE(look_for_waste(record.read(), 1).repeated.empty());
  EXPECT_TRUE(look_for_waste(record.read(), 2).accumulated.empty());
  EXPECT_TRUE(look_for_waste(record.read(), 1).has_contents);
  EXPECT_FALSE(look_for_waste(record.read(), 3).has_contents);
}

TEST(TrafficFindings, EqualDigestsOfDifferentLengthsAreDifferentContents) {
  RecordText record;
  record.copy("to_device", 8192, "a.py:1", "aa").copy("to_device", 16384, "a.py:1", "aa");
  EXPECT_TRUE(look_for_waste(record.read(), 1).repeated.empty());
}

}  // namespace
}  // namespace ferry::traffic
