// SPDX-License-Identifier: Apache-2.0
#include "front/replay/replayed_allocator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/replay/sim_machine.hpp"

namespace ferry::replay {
namespace {

using testing::open_machine;

TEST(ReplayedPool, IsThePool) {
  const auto machine = open_machine();
  ReplayedPool pool(machine->pool(), machine->pool_device());
  EXPECT_EQ(pool.reserved(), Bytes{});
  const std::uint64_t calls_before = pool.tallies().total_calls();
  const StreamRef stream = machine->tool_device().create_stream().value();

  const DeviceAddress address = pool.allocate(64_MiB, stream).value();
  EXPECT_EQ(machine->pool().stats().requested_bytes, 64_MiB);
  EXPECT_GE(pool.reserved(), 64_MiB);
  EXPECT_GT(pool.tallies().total_calls(), calls_before);
  EXPECT_TRUE(pool.audit().ok());

  EXPECT_TRUE(pool.free(address, stream).ok());
  EXPECT_EQ(pool.free(address, stream).code(), Code::already_freed);
  EXPECT_EQ(machine->pool().stats().requested_bytes, Bytes{});
  ASSERT_TRUE(machine->pool().trim(Bytes{}).ok());
  EXPECT_EQ(pool.reserved(), Bytes{});
  EXPECT_GE(pool.reserved_peak(), 64_MiB);
}

TEST(ReplayedPool, PassesTheReportOn) {
  const auto machine = open_machine("", 8_MiB);
  ReplayedPool pool(machine->pool(), machine->pool_device());
  EXPECT_EQ(pool.out_of_memory_report(), "");
  EXPECT_EQ(pool.allocate(16_MiB, StreamRef{}).error().code(), Code::out_of_memory);
  EXPECT_THAT(pool.out_of_memory_report(), ::testing::HasSubstr("16 MiB"));
}

TEST(ReplayedPool, WorkOfTheToolIsNotInItsTallies) {
  const auto machine = open_machine();
  const ReplayedPool pool(machine->pool(), machine->pool_device());
  const CallTallies before = pool.tallies();
  Device& tool = machine->tool_device();
  void* const words = tool.host_alloc(4_KiB).value();
  const EventHandle event = tool.create_event().value();
  ASSERT_TRUE(tool.record(event, StreamRef{}).ok());
  ASSERT_TRUE(tool.synchronize().ok());
  ASSERT_TRUE(tool.host_free(words).ok());
  EXPECT_EQ(pool.tallies().since(before).total_calls(), 0U);
  EXPECT_EQ(pool.tallies().since(before).event_calls, 0U);
}

}  // namespace
}  // namespace ferry::replay
