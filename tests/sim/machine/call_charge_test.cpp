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
  CallBook book;
  VirtualClock& clock = machine.engine.timeline().clock();
  {
    const CallCharge charge(machine, book, Symbol::cuMemAlloc_v2);
    EXPECT_EQ(clock.now(), 100 * kMicro);
    ASSERT_TRUE(machine.allocations.allocate(1, 0, 6 << 20));
    EXPECT_EQ(clock.now(), 100 * kMicro);
  }
  EXPECT_EQ(clock.now(), 160 * kMicro);
  { const CallCharge charge(machine, book, Symbol::cuCtxGetCurrent); }
  EXPECT_EQ(clock.now(), 160 * kMicro + 100 * kNano);
  EXPECT_EQ(book.cost("cuMemAlloc"), static_cast<std::uint64_t>(160 * kMicro));
  EXPECT_EQ(book.cost("cuCtxGetCurrent"), static_cast<std::uint64_t>(100 * kNano));
  EXPECT_EQ(book.cost("cuMemFree"), 0U);
}

TEST(CallCharge, NothingWithoutAProfile) {
  HazardLog log;
  Machine machine(Settings{}, {0}, log);
  CallBook book;
  { const CallCharge charge(machine, book, Symbol::cuMemAlloc_v2); }
  EXPECT_EQ(machine.engine.timeline().clock().now(), 0);
  EXPECT_EQ(book.cost("cuMemAlloc"), 0U);
}

}  // namespace
}  // namespace ferry::sim
