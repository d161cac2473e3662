// SPDX-License-Identifier: Apache-2.0
#include "memory/fence_clock.hpp"

#include <gtest/gtest.h>

#include "memory/sim_device.hpp"

namespace ferry {
namespace {

using testing_support::SimDevice;

class FenceClockTest : public testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(sim_.test_side().free(buffer_)); }

  SimDevice sim_{"schedule=lazy"};
  DeviceAddress buffer_ = [this] {
    const Result<DeviceAddress> made = sim_.test_side().alloc(2_MiB);
    EXPECT_TRUE(made.ok());
    return *made;
  }();
  EventPool events_{sim_.pool_side()};
  StreamRef stream_ = sim_.stream();
  FenceClock clock_;
};

TEST_F(FenceClockTest, NothingFreedNeedsNoEvent) {
  EXPECT_TRUE(clock_.marked());
  ASSERT_TRUE(clock_.mark(events_, stream_));
  EXPECT_EQ(sim_.calls("cuEventRecord"), 0U);
}

TEST_F(FenceClockTest, ATickPassesOnlyWhenTheWorkBeforeItsMarkHasRun) {
  sim_.write(buffer_, 1, stream_);
  const std::uint64_t stamp = clock_.tick();
  EXPECT_FALSE(clock_.passed(stamp));
  ASSERT_TRUE(clock_.mark(events_, stream_));
  EXPECT_TRUE(clock_.marked());
  clock_.poll(events_);
  EXPECT_FALSE(clock_.passed(stamp)) << "nothing has waited for the stream yet";
  ASSERT_TRUE(sim_.test_side().synchronize(stream_));
  clock_.poll(events_);
  EXPECT_TRUE(clock_.passed(stamp));
}

TEST_F(FenceClockTest, LaterTicksNeedTheirOwnMark) {
  clock_.tick();
  ASSERT_TRUE(clock_.mark(events_, stream_));
  sim_.write(buffer_, 1, stream_);
  const std::uint64_t later = clock_.tick();
  EXPECT_FALSE(clock_.marked());
  ASSERT_TRUE(sim_.test_side().synchronize(stream_));
  clock_.poll(events_);
  EXPECT_FALSE(clock_.passed(later));
}

TEST_F(FenceClockTest, AContextMarkCoversAStreamThatIsGone) {
  sim_.write(buffer_, 1, stream_);
  const std::uint64_t stamp = clock_.tick();
  ASSERT_TRUE(sim_.test_side().destroy_stream(stream_));
  ASSERT_TRUE(clock_.mark_context(events_));
  clock_.poll(events_);
  EXPECT_FALSE(clock_.passed(stamp));
  sim_.drain();
  clock_.poll(events_);
  EXPECT_TRUE(clock_.passed(stamp));
}

TEST_F(FenceClockTest, AFailedQueryCountsAsNotReached) {
  const std::uint64_t stamp = clock_.tick();
  ASSERT_TRUE(clock_.mark(events_, stream_));
  sim_.drain();
  sim_.fail_nth("cuEventQuery", 1, 999);
  clock_.poll(events_);
  EXPECT_FALSE(clock_.passed(stamp));
  clock_.poll(events_);
  EXPECT_TRUE(clock_.passed(stamp));
}

TEST_F(FenceClockTest, AStreamFarBehindNeedsFewEvents) {
  for (int i = 0; i < 1000; ++i) {
    sim_.write(buffer_, 1, stream_);
    clock_.tick();
    ASSERT_TRUE(clock_.mark_if_few(events_, stream_));
  }
  EXPECT_EQ(clock_.waiting_marks(), 8U);
  EXPECT_FALSE(clock_.marked()) << "the newest ticks wait for room";
  sim_.drain();
  clock_.tick();
  ASSERT_TRUE(clock_.mark_if_few(events_, stream_));
  EXPECT_EQ(clock_.waiting_marks(), 1U);
  EXPECT_TRUE(clock_.marked());
}

TEST_F(FenceClockTest, PassAllReturnsTheEvents) {
  for (int i = 0; i < 3; ++i) {
    clock_.tick();
    ASSERT_TRUE(clock_.mark(events_, stream_));
  }
  clock_.pass_all(events_);
  EXPECT_TRUE(clock_.passed(clock_.now()));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(events_.take().ok());
  EXPECT_EQ(sim_.calls("cuEventCreate"), 3U);
}

}  // namespace
}  // namespace ferry
