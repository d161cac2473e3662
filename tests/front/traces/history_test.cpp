// SPDX-License-Identifier: Apache-2.0
#include "front/traces/history.hpp"

#include <gtest/gtest.h>

#include "front/traces/trace_check.hpp"

namespace ferry::replay {
namespace {

using testing::broken_promise;
using Kind = TraceEvent::Kind;

HistoryCall call(std::uint64_t address, Bytes bytes, std::int64_t time = 0,
                 std::uint64_t stream = 0) {
  return {address, bytes, stream, time};
}

DeviceTrace finished(History& history, std::int64_t origin = 0) {
  auto trace = history.finish(2, origin);
  EXPECT_TRUE(trace);
  EXPECT_EQ(broken_promise(*trace), "");
  EXPECT_EQ(trace->device, 2);
  return std::move(*trace);
}

TEST(History, PairsAllocationsAndFreesByAddress) {
  History history;
  EXPECT_FALSE(history.any_block());
  history.allocate(call(0x1000, 100_B, 50, 7));
  history.allocate(call(0x2000, 200_B, 60));
  history.free(call(0x1000, 100_B, 70, 8));
  history.allocate(call(0x1000, 300_B, 80));
  EXPECT_TRUE(history.any_block());
  EXPECT_EQ(history.event_count(), 4U);
  EXPECT_EQ(history.first_time(), 50);
  const DeviceTrace trace = finished(history, 50);
  ASSERT_EQ(trace.blocks.size(), 3U);
  EXPECT_TRUE(trace.start.empty());
  EXPECT_EQ(trace.blocks[0].bytes, 100_B);
  EXPECT_EQ(trace.blocks[0].stream, 7U);
  EXPECT_EQ(trace.events[2].kind, Kind::free);
  EXPECT_EQ(trace.events[2].block, 0U);
  EXPECT_EQ(trace.events[2].stream, 8U);
  EXPECT_EQ(trace.events[2].time_us, 20);
  EXPECT_EQ(trace.events[3].block, 2U);
  EXPECT_EQ(trace.peak_live, 500_B);
  EXPECT_TRUE(describe_mending(history.counts(), 2).empty());
}

TEST(History, AFreeWithoutAllocationIsABlockOfTheStart) {
  History history;
  history.free(call(0x3000, 300_B));
  history.free(call(0x1000, 100_B));
  history.allocate(call(0x3000, 1000_B));
  const DeviceTrace trace = finished(history);
  ASSERT_EQ(trace.start.size(), 2U);
  EXPECT_EQ(trace.blocks[trace.start[0]].bytes, 100_B) << "in address order";
  EXPECT_EQ(trace.blocks[trace.start[1]].bytes, 300_B);
  EXPECT_EQ(trace.peak_live, 1000_B);
  EXPECT_EQ(history.counts().start_frees, 2U);
}

TEST(History, ACompletedFreeCountsOnlyWhenItsRequestDidNot) {
  History history;
  history.allocate(call(0x1000, 100_B));
  history.free(call(0x1000, 100_B));
  history.complete_free(call(0x1000, 100_B));  // as asked for
  history.complete_free(call(0x2000, 200_B));  // asked for before the history
  history.allocate(call(0x3000, 300_B));
  history.complete_free(call(0x3000, 300_B));  // requests were not recorded at all
  const DeviceTrace trace = finished(history);
  ASSERT_EQ(trace.events.size(), 5U);
  ASSERT_EQ(trace.start.size(), 1U);
  EXPECT_EQ(trace.blocks[trace.start[0]].bytes, 200_B);
  EXPECT_EQ(trace.events[4].kind, Kind::free);
  EXPECT_EQ(trace.events[4].block, 2U);
  EXPECT_EQ(history.counts().frees_of_dead, 0U);
}

TEST(History, ASecondFreeIsIgnoredAndCounted) {
  History history;
  history.allocate(call(0x1000, 100_B));
  history.free(call(0x1000, 100_B));
  history.free(call(0x1000, 100_B));
  EXPECT_EQ(finished(history).events.size(), 2U);
  EXPECT_EQ(history.counts().frees_of_dead, 1U);
  EXPECT_EQ(describe_mending(history.counts(), 2).size(), 1U);
}

TEST(History, AnAddressGivenTwiceWasFreedBetween) {
  History history;
  history.allocate(call(0x1000, 100_B, 1, 5));
  history.allocate(call(0x1000, 200_B, 2, 6));
  const DeviceTrace trace = finished(history);
  ASSERT_EQ(trace.events.size(), 3U);
  EXPECT_EQ(trace.events[1].kind, Kind::free);
  EXPECT_EQ(trace.events[1].block, 0U);
  EXPECT_EQ(trace.events[1].stream, 5U);
  EXPECT_EQ(trace.events[2].block, 1U);
  EXPECT_EQ(trace.peak_live, 200_B);
  EXPECT_EQ(history.counts().lost_frees, 1U);
}

TEST(History, FinalBlocksThatNoCallMentionsWereLiveAllAlong) {
  History history;
  history.allocate(call(0x5000, 50_B));
  history.add_final(call(0x5000, 50_B), false);        // known from its allocation
  history.add_final(call(0x9000, 90_B, 0, 3), false);  // never mentioned
  history.add_final(call(0x1000, 10_B), true);         // nor this one; its free is under way
  const DeviceTrace trace = finished(history);
  ASSERT_EQ(trace.start.size(), 2U);
  EXPECT_EQ(trace.blocks[trace.start[0]].bytes, 10_B);
  EXPECT_EQ(trace.blocks[trace.start[1]].bytes, 90_B);
  EXPECT_EQ(trace.blocks[trace.start[1]].stream, 3U);
  EXPECT_EQ(trace.peak_live, 150_B);
  EXPECT_EQ(history.counts().contradicted, 0U);
}

TEST(History, FinalBlocksThatTheEventsExcludeAreLeftOut) {
  History history;
  history.allocate(call(0x1000, 0x100_B));
  history.free(call(0x1000, 0x100_B));
  history.allocate(call(0x3080, 0x100_B));
  history.free(call(0x3080, 0x100_B));
  history.allocate(call(0x8000, 0x1000_B));
  history.add_final(call(0x1000, 0x100_B), false);  // freed by the last event there
  history.add_final(call(0x3000, 0x100_B), false);  // overlaps from below
  history.add_final(call(0x8800, 0x100_B), false);  // inside
  history.add_final(call(0x8fff, 0x100_B), false);  // overlaps from above
  history.add_final(call(0x9000, 0x100_B), false);  // touches only, and overlaps the one before
  history.add_final(call(0x7f00, 0x100_B), false);  // touches only
  const DeviceTrace trace = finished(history);
  EXPECT_EQ(history.counts().contradicted, 4U);
  ASSERT_EQ(trace.start.size(), 2U);
  EXPECT_EQ(trace.peak_live, 0x1200_B);
}

TEST(History, AFinalBlockThatIsStillPendingWasFreedByItsRequest) {
  History history;
  history.allocate(call(0x1000, 100_B));
  history.free(call(0x1000, 100_B));
  history.add_final(call(0x1000, 100_B), true);
  EXPECT_TRUE(finished(history).start.empty());
  EXPECT_EQ(history.counts().contradicted, 0U);
}

TEST(History, ARangeAtTheEndOfTheAddressesDoesNotWrap) {
  History history;
  history.allocate(call(~std::uint64_t{0} - 10, kMaxTraceBlock));
  history.add_final(call(0x1000, 100_B), false);
  EXPECT_EQ(finished(history).start.size(), 1U);
}

TEST(History, TheResidentBlockComesFirst) {
  History history;
  history.free(call(0x1, 10_B));
  history.add_resident(1000_B, 0);
  const DeviceTrace trace = finished(history);
  ASSERT_EQ(trace.start.size(), 2U);
  EXPECT_EQ(trace.blocks[trace.start[0]].bytes, 1000_B);
  EXPECT_EQ(trace.peak_live, 1010_B);
}

TEST(History, TimesNeverRunBackwards) {
  History history;
  history.allocate(call(0x1000, 1_B, 100));
  history.allocate(call(0x2000, 1_B, 90));
  history.allocate(call(0x3000, 1_B, 0));
  history.allocate(call(0x4000, 1_B, 130));
  const DeviceTrace trace = finished(history, 95);
  EXPECT_EQ(trace.events[0].time_us, 5);
  EXPECT_EQ(trace.events[1].time_us, 5);
  EXPECT_EQ(trace.events[2].time_us, 5);
  EXPECT_EQ(trace.events[3].time_us, 35);
}

TEST(History, WithoutTimesAllAreZero) {
  History history;
  history.allocate(call(0x1000, 1_B));
  EXPECT_EQ(history.first_time(), std::nullopt);
  EXPECT_EQ(finished(history, 12345).events[0].time_us, 0);
}

TEST(History, RefusesMoreLiveBytesThanCanBe) {
  History history;
  for (std::uint64_t i = 0; i < 4; ++i) history.allocate(call(i << 61, kMaxTraceBlock));
  EXPECT_TRUE(History(history).finish(0, 0));
  history.allocate(call(1, 1_B));
  auto trace = history.finish(0, 0);
  ASSERT_FALSE(trace);
  EXPECT_TRUE(trace.error().message.starts_with("device 0: its live blocks add up to more than"));
}

TEST(History, ManyAddressesOfOnePattern) {
  // A table that took the address itself for its hash would need minutes here.
  History history;
  for (std::uint64_t i = 1; i <= 100'000; ++i) history.allocate(call(i << 40, 1_B));
  for (std::uint64_t i = 1; i <= 100'000; ++i) history.free(call(i << 40, 1_B));
  EXPECT_EQ(finished(history).peak_live, 100'000_B);
}

}  // namespace
}  // namespace ferry::replay
