// SPDX-License-Identifier: Apache-2.0
#include "memory/foreign_uses.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "memory/sim_device.hpp"
#include "memory/stream_key.hpp"

namespace ferry {
namespace {

using testing_support::SimDevice;

class ForeignUsesTest : public testing::Test {
 protected:
  void TearDown() override { uses_.give_back_all(events_); }

  SimDevice sim_{"schedule=lazy"};
  EventPool events_{sim_.pool_side()};
  ForeignUses uses_;
  StreamRef stream_ = sim_.stream();
  const DeviceAddress block_{4096};
};

TEST_F(ForeignUsesTest, AStreamIsNamedOnceAndTakenOnce) {
  ASSERT_TRUE(uses_.add(block_, stream_, events_));
  ASSERT_TRUE(uses_.add(block_, stream_, events_));
  const std::vector<ForeignUse> uses = uses_.take(block_);
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses[0].stream, stream_);
  EXPECT_EQ(uses[0].key, stream_key(stream_));
  EXPECT_FALSE(uses[0].has_event());
  EXPECT_TRUE(uses_.take(block_).empty());
}

TEST_F(ForeignUsesTest, AnEndingStreamLeavesAnEvent) {
  ASSERT_TRUE(uses_.add(block_, stream_, events_));
  const DeviceAddress memory = sim_.test_side().alloc(4_KiB).value();
  sim_.write(memory, 1, stream_);
  uses_.stream_will_end(stream_, events_);
  ASSERT_TRUE(uses_.add(block_, stream_, events_)) << "another stream with the same handle";
  std::vector<ForeignUse> uses = uses_.take(block_);
  ASSERT_EQ(uses.size(), 2U);
  ASSERT_TRUE(uses[0].has_event());
  EXPECT_FALSE(uses[1].has_event());
  EXPECT_FALSE(sim_.pool_side().query(uses[0].event).value()) << "the write is still queued";
  events_.give_back(uses[0].event);
  sim_.drain();
  ASSERT_TRUE(sim_.test_side().free(memory));
}

TEST_F(ForeignUsesTest, AnEventThatFailsLeavesTheStreamNamed) {
  ASSERT_TRUE(uses_.add(block_, stream_, events_));
  sim_.fail_nth("cuEventRecord", 1, 999);
  uses_.stream_will_end(stream_, events_);
  const std::vector<ForeignUse> uses = uses_.take(block_);
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_FALSE(uses[0].has_event());
}

TEST_F(ForeignUsesTest, APerThreadStreamIsMarkedByItsOwnThread) {
  const StreamRef per_thread{reinterpret_cast<void*>(2)};
  ASSERT_TRUE(uses_.add(block_, per_thread, events_));
  ASSERT_TRUE(uses_.add(block_, per_thread, events_)) << "marked again, not twice";
  std::thread([&] { EXPECT_TRUE(uses_.add(block_, per_thread, events_)); }).join();
  const std::vector<ForeignUse> uses = uses_.take(block_);
  ASSERT_EQ(uses.size(), 2U);
  for (const ForeignUse& use : uses) {
    EXPECT_TRUE(use.has_event());
    events_.give_back(use.event);
  }
  EXPECT_NE(uses[0].key, uses[1].key);
}

TEST_F(ForeignUsesTest, APerThreadStreamThatCannotBeMarkedIsAnError) {
  const StreamRef per_thread{reinterpret_cast<void*>(2)};
  sim_.fail_nth("cuEventRecord", 1, 999);
  EXPECT_FALSE(uses_.add(block_, per_thread, events_));
  EXPECT_TRUE(uses_.take(block_).empty());
}

}  // namespace
}  // namespace ferry
