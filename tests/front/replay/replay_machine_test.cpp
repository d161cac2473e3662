// SPDX-License-Identifier: Apache-2.0
#include "front/replay/replay_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/replay/sim_machine.hpp"

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;
using testing::open_machine;
using testing::stand_in;

TEST(ReplayMachine, HasTheCapacityAskedFor) {
  const auto machine = open_machine("capacity=9GiB", 64_MiB);
  EXPECT_EQ(machine->pool_device().memory_info()->total, 64_MiB);
  EXPECT_TRUE(machine->pool().allocate(60_MiB, StreamRef{}).ok());
  EXPECT_EQ(machine->pool().allocate(8_MiB, StreamRef{}).error().code(), Code::out_of_memory);
}

TEST(ReplayMachine, WithoutOneTheSettingsDecide) {
  EXPECT_EQ(open_machine("capacity=9GiB")->pool_device().memory_info()->total, 9_GiB);
  EXPECT_GE(open_machine()->pool_device().memory_info()->total, 512_GiB);
}

// The stand-in refuses such a device; a search may come by it.
TEST(ReplayMachine, ACapacityThatNoDeviceHasIsTooSmallForAnything) {
  for (const char* settings : {"", "taken=8GiB"}) {
    const auto machine = open_machine(settings, 1_MiB);
    ASSERT_NE(machine, nullptr) << settings;
    EXPECT_EQ(machine->pool().allocate(4_KiB, StreamRef{}).error().code(), Code::out_of_memory);
  }
  const auto machine = open_machine("taken=8GiB", 6_GiB);
  ASSERT_NE(machine, nullptr);
  EXPECT_EQ(machine->pool().allocate(4_KiB, StreamRef{}).error().code(), Code::out_of_memory);
}

TEST(ReplayMachine, IsFreshEachTime) {
  {
    const auto machine = open_machine("", 64_MiB);
    ASSERT_TRUE(machine->pool().allocate(60_MiB, StreamRef{}).ok());
  }
  const auto machine = open_machine("", 64_MiB);
  EXPECT_EQ(machine->pool().stats().reserved_bytes, Bytes{});
  EXPECT_EQ(machine->pool_device().memory_info()->free, 64_MiB);
}

TEST(ReplayMachine, PoolAndToolCountApartOnOneDevice) {
  const auto machine = open_machine();
  const CallTallies tool_before = machine->tool_device().tallies();
  const StreamRef stream = machine->tool_device().create_stream().value();
  const DeviceAddress address = machine->pool().allocate(4_MiB, stream).value();
  ASSERT_TRUE(machine->tool_device().fill_words(address, 4_B, 1, 7, stream).ok());
  ASSERT_TRUE(machine->tool_device().synchronize().ok());
  EXPECT_GT(machine->pool_device().tallies()[DriverCall::create].calls, 0U);
  EXPECT_EQ(machine->pool_device().tallies()[DriverCall::synchronize].calls, 0U);
  EXPECT_EQ(machine->tool_device().tallies().since(tool_before).total_calls(), 1U);
}

TEST(ReplayMachine, SettingsThatMakeNoSenseAreASentence) {
  const auto machine =
      ReplayMachine::open(stand_in(), {.stand_in = "schedule=backwards", .capacity = {}});
  ASSERT_FALSE(machine.ok());
  EXPECT_THAT(machine.error(), HasSubstr("schedule=backwards"));
}

TEST(ReplayMachine, WithoutADeviceThereIsNone) {
  const auto machine = ReplayMachine::open(stand_in(), {.stand_in = "devices=0", .capacity = {}});
  ASSERT_FALSE(machine.ok());
  EXPECT_THAT(machine.error(), HasSubstr("device 0 cannot be used"));
}

}  // namespace
}  // namespace ferry::replay
