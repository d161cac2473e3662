// SPDX-License-Identifier: Apache-2.0
#include "front/traces/snapshot_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ferry::replay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SnapshotDevice with_one_block() {
  SnapshotDevice device;
  device.history.allocate({0x1000, 100_B, 0, 50});
  return device;
}

TEST(SnapshotDevice, WithoutSegmentsNothingIsKnownOfTheReserve) {
  SnapshotDevice device = with_one_block();
  std::vector<std::string> notes;
  auto trace = device.finish(4, 40, notes);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->device, 4);
  EXPECT_EQ(trace->events[0].time_us, 10);
  EXPECT_EQ(trace->recorded_peak_reserved, std::nullopt);
  EXPECT_THAT(trace->recorded_reserved, IsEmpty());
  EXPECT_THAT(notes, IsEmpty());
}

TEST(SnapshotDevice, ASegmentOrAChangeMakesItKnown) {
  std::vector<std::string> notes;
  SnapshotDevice empty_segment = with_one_block();
  empty_segment.any_segment = true;
  EXPECT_EQ(empty_segment.finish(0, 0, notes)->recorded_peak_reserved, 0_B);

  SnapshotDevice changed = with_one_block();
  changed.any_segment = true;
  changed.segment_bytes = 6_MiB;
  changed.reserve_changes = {{0, true, 4_MiB}, {1, true, 2_MiB}};
  auto trace = changed.finish(0, 0, notes);
  EXPECT_EQ(trace->recorded_peak_reserved, 6_MiB);
  EXPECT_EQ(trace->recorded_reserved.size(), 3U);
  EXPECT_THAT(notes, IsEmpty());

  SnapshotDevice no_segment = with_one_block();
  no_segment.reserve_changes = {{0, true, 4_MiB}};
  EXPECT_EQ(no_segment.finish(0, 0, notes)->recorded_peak_reserved, 4_MiB);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("lower bound")));
}

TEST(SnapshotDevice, SaysWhatHappenedAndWhatWasMended) {
  SnapshotDevice device = with_one_block();
  device.failures = {3, 17, 2_GiB, 1_MiB};
  device.history.allocate({0x1000, 100_B, 0, 60});
  std::vector<std::string> notes;
  ASSERT_TRUE(device.finish(1, 0, notes));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("Device 1: the recorded program ran out of memory 3 "
                                           "times, last, at entry 17: it asked for 2 GiB while "
                                           "1 MiB was free."),
                                 HasSubstr("Device 1: 1 allocation returns an address")));
}

TEST(SnapshotDevice, SaysThatAFreeOfAnUnknownBlockMeansItWasLive) {
  SnapshotDevice device = with_one_block();
  device.history.free({0x2000, 100_B, 0, 60});
  std::vector<std::string> notes;
  ASSERT_TRUE(device.finish(0, 0, notes));
  EXPECT_THAT(notes, ElementsAre("Device 0: 1 block is freed that no event allocates; it is taken "
                                 "to be live at the start."));
}

TEST(SnapshotDevice, SaysThatBlocksAloneTellNothingOfFragmentation) {
  SnapshotDevice device;
  device.history.add_final({0x1000, 100_B, 0, 0}, false);
  std::vector<std::string> notes;
  ASSERT_TRUE(device.finish(2, 0, notes));
  EXPECT_THAT(notes, ElementsAre(AllOf(HasSubstr("Device 2: the snapshot has no events"),
                                       HasSubstr("says nothing about fragmentation"))));
}

TEST(SnapshotDevice, RefusesSumsThatCannotBe) {
  SnapshotDevice device = with_one_block();
  device.segment_bytes = Bytes{~std::uint64_t{0}};
  device.any_segment = true;
  std::vector<std::string> notes;
  EXPECT_THAT(device.finish(0, 0, notes).error().message, HasSubstr("segments add up to more"));
}

}  // namespace
}  // namespace ferry::replay
