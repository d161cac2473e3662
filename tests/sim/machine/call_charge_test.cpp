// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/call_charge.hpp"

#include <gtest/gtest.h>

#include "sim/time/round_profile.hpp"

namespace ferry::sim {
namespace {

using testing_time::kMicro;
using testing_time::kNano;

TEST(CallCharge, TheFixedPartComesFirstAndTheRestLast) {
  Settings settings;
  settings.with_data = false;
  HazardLog log;
  Machine machine(settings, {0}, log,
                  std::make_shared<const Profile>(testing_time::round_profile()));
  VirtualClock& clock = machine.engine.timeline().clock();
  {
    const CallCharge charge(machine, Symbol::cuMemAlloc_v2);
    EXPECT_EQ(clock.now(), 100 * kMicro);
    ASSERT_TRUE(machine.allocations.allocate(1, 0, 6 << 20));
    EXPECT_EQ(clock.now(), 100 * kMicro);
  }
  EXPECT_EQ(clock.now(), 160 * kMicro);
  { const CallCharge charge(machine, Symbol::cuCtxGetCurrent); }
  EXPECT_EQ(clock.now(), 160 * kMicro + 100 * kNano);
}

TEST(CallCharge, NothingWithoutAProfile) {
  HazardLog log;
  Machine machine(Settings{}, {0}, log);
  { const CallCharge charge(machine, Symbol::cuMemAlloc_v2); }
  EXPECT_EQ(machine.engine.timeline().clock().now(), 0);
}

}  // namespace
}  // namespace ferry::sim
