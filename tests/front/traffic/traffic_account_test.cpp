// SPDX-License-Identifier: Apache-2.0
#include "front/traffic/traffic_account.hpp"

#include <gtest/gtest.h>

#include "front/traffic/traffic_samples.hpp"

namespace ferry::traffic {
namespace {

using testing_traffic::RecordText;
using testing_traffic::two_micro_steps;

TEST(TrafficAccount, AddsUpByPhaseAndWay) {
  const auto steps = add_up(two_micro_steps().read(), PhasesBy::phase);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].micro_steps, 2U);
  EXPECT_TRUE(steps[0].has_optimizer);
  ASSERT_EQ(steps[0].phases.size(), 4U);
  EXPECT_EQ(steps[0].phases[1].name, "forward");
  EXPECT_EQ(steps[0].phases[1].of(Way::to_device).pageable_bytes, Bytes{100});
  EXPECT_EQ(steps[0].phases[1].of(Way::to_device).blocking_calls, 1U);
  const PhaseAccount& backward = steps[0].phases[2];
  EXPECT_EQ(backward.name, "backward");
  EXPECT_EQ(backward.of(Way::to_host).bytes, Bytes{24576});
  EXPECT_EQ(backward.of(Way::to_host).calls, 2U);
  EXPECT_EQ(backward.of(Way::to_host).small_calls, 2U);
  EXPECT_EQ(backward.of(Way::to_host).pageable_calls, 0U);
  EXPECT_EQ(backward.of(Way::to_device).bytes, Bytes{8192});
  EXPECT_EQ(backward.of(Way::on_device).bytes, Bytes{64});
  EXPECT_EQ(backward.waits, 2U);
}

TEST(TrafficAccount, CallersComeWithMostBytesFirst) {
  const auto steps = add_up(two_micro_steps().read(), PhasesBy::phase);
  const PhaseAccount& backward = steps[0].phases[2];
  ASSERT_EQ(backward.callers.size(), 3U) << "copies on the device do not cross the link";
  EXPECT_EQ(backward.callers[0].caller.place, "engine.py:4");
  ASSERT_EQ(backward.wait_callers.size(), 1U);
  EXPECT_EQ(backward.wait_callers[0].calls, 2U);
}

TEST(TrafficAccount, CopiesOfSixtyFourKibibytesAreNotSmall) {
  RecordText record;
  record.copy("to_host", 65536, "a.py:1").copy("to_host", 65535, "a.py:1");
  const auto steps = add_up(record.read(), PhasesBy::phase);
  EXPECT_EQ(steps[0].phases[0].of(Way::to_host).small_calls, 1U);
}

TEST(TrafficAccount, RangesOfNvtxCanBeThePhases) {
  RecordText record;
  record.mark("range", "load", 0).copy("to_device", 5, "a.py:1").mark("range", "", 0);
  record.copy("to_device", 6, "a.py:2");
  const auto steps = add_up(record.read(), PhasesBy::range);
  ASSERT_EQ(steps[0].phases.size(), 2U);
  EXPECT_EQ(steps[0].phases[0].name, "outside ranges");
  EXPECT_EQ(steps[0].phases[0].of(Way::to_device).bytes, Bytes{6});
  EXPECT_EQ(steps[0].phases[1].name, "load");
  EXPECT_EQ(steps[0].phases[1].of(Way::to_device).bytes, Bytes{5});
}

TEST(TrafficAccount, TheTypicalStepIsTheLastWithAnOptimizer) {
  RecordText record;
  record.mark("phase", "step", 1).mark("phase", "step", 2).mark("phase", "forward", 3);
  EXPECT_EQ(typical_step(add_up(record.read(), PhasesBy::phase)).step, 2U);
  EXPECT_EQ(typical_step(add_up(RecordText().read(), PhasesBy::phase)).step, 1U);
}

}  // namespace
}  // namespace ferry::traffic
