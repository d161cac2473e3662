// SPDX-License-Identifier: Apache-2.0
#include "front/traces/kineto_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/traces/kineto_samples.hpp"
#include "front/traces/trace_check.hpp"

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::json_of;
using testing::kineto_trace;

Trace read(const std::string& json) {
  ByteSource source = ByteSource::over(json);
  auto trace = read_kineto(source);
  if (!trace) {
    ADD_FAILURE() << trace.error().describe();
    return {};
  }
  EXPECT_EQ(testing::broken_promise(*trace), "");
  EXPECT_EQ(trace->format, "Kineto trace");
  return std::move(*trace);
}

std::string error_of(const std::string& json) {
  ByteSource source = ByteSource::over(json);
  auto trace = read_kineto(source);
  return trace ? "read without error" : trace.error().message;
}

TEST(KinetoReader, WhatIsLeftOfTotalAllocatedIsOneBlock) {
  const Trace trace = read(kineto_trace(json_of({100, 0x1000, 512, 10'512, 20'000}),
                                        json_of({101, 0x2000, 1024, 11'536, 20'000}),
                                        json_of({105, 0x1000, -512, 11'024, 22'000})));
  ASSERT_EQ(trace.devices.size(), 1U);
  const DeviceTrace& device = trace.devices[0];
  ASSERT_EQ(device.start.size(), 1U);
  EXPECT_EQ(device.blocks[device.start[0]].bytes, 10'000_B);
  ASSERT_EQ(device.events.size(), 3U);
  EXPECT_EQ(device.events[2].time_us, 5);
  EXPECT_EQ(device.events[2].stream, 0U);
  EXPECT_EQ(device.peak_live, 11'536_B);
  EXPECT_EQ(device.recorded_peak_reserved, 22'000_B);
  ASSERT_EQ(device.recorded_reserved.size(), 2U);
  EXPECT_EQ(device.recorded_reserved[0].event, 0U);
  EXPECT_EQ(device.recorded_reserved[0].reserved, 20'000_B);
  EXPECT_EQ(device.recorded_reserved[1].event, 3U);
  ASSERT_EQ(trace.notes.size(), 1U);
  EXPECT_THAT(trace.notes[0], HasSubstr("live before the window"));
}

TEST(KinetoReader, UnknownFreesComeOutOfTheRemainder) {
  const Trace trace =
      read(kineto_trace(json_of({1, 0x1000, -300, 700, 0}), json_of({2, 0x2000, 50, 750, 0}),
                        json_of({3, 0x3000, -200, 550, 0})));
  const DeviceTrace& device = trace.devices[0];
  ASSERT_EQ(device.start.size(), 3U);
  EXPECT_EQ(device.blocks[device.start[0]].bytes, 500_B) << "the remainder comes first";
  EXPECT_EQ(device.blocks[device.start[1]].bytes, 300_B);
  EXPECT_EQ(device.blocks[device.start[2]].bytes, 200_B);
  EXPECT_EQ(device.peak_live, 1000_B);
}

TEST(KinetoReader, WithoutRemainderThereIsNoBlock) {
  const Trace trace =
      read(kineto_trace(json_of({1, 0x1000, 300, 300, 0}), json_of({2, 0x1000, -300, 0, 0})));
  EXPECT_THAT(trace.devices[0].start, IsEmpty());
  EXPECT_THAT(trace.notes, IsEmpty());
}

TEST(KinetoReader, ARemainderBelowZeroIsNoted) {
  const Trace trace =
      read(kineto_trace(json_of({1, 0x1000, -300, 0, 0}), json_of({2, 0x2000, -300, 0, 0})));
  EXPECT_EQ(trace.devices[0].start.size(), 2U);
  ASSERT_EQ(trace.notes.size(), 3U);
  EXPECT_THAT(trace.notes[0], HasSubstr("frees 300 B more of older blocks"));
  EXPECT_THAT(trace.notes[1], HasSubstr("at 1 event 'Total Allocated' is not what"));
}

TEST(KinetoReader, EventsAreOrderedByTime) {
  const Trace trace =
      read(kineto_trace(json_of({5, 0x1000, -512, 0, 0}), json_of({3, 0x1000, 512, 512, 0})));
  const DeviceTrace& device = trace.devices[0];
  EXPECT_THAT(device.start, IsEmpty());
  EXPECT_EQ(device.events[0].kind, TraceEvent::Kind::allocate);
  EXPECT_EQ(device.events[1].time_us, 2);
  EXPECT_THAT(trace.notes, IsEmpty());
}

TEST(KinetoReader, AtOneTimeTheOrderOfTheFileCounts) {
  const Trace trace =
      read(kineto_trace(json_of({1, 0x1000, 512, 512, 0}), json_of({1, 0x1000, -512, 0, 0}),
                        json_of({1, 0x1000, 256, 256, 0}), json_of({1, 0x1000, -256, 0, 0})));
  EXPECT_EQ(trace.devices[0].events.size(), 4U);
  EXPECT_EQ(trace.devices[0].peak_live, 512_B);
  EXPECT_THAT(trace.notes, IsEmpty());
}

TEST(KinetoReader, HostMemoryAloneIsReplayedWithANote) {
  const Trace trace = read(kineto_trace(json_of({1, 0x1000, 300, 300, 0, 0, -1}),
                                        json_of({2, 0x2000, -50, 250, 0, 0, -1})));
  EXPECT_EQ(trace.devices.at(0).events.size(), 2U);
  ASSERT_EQ(trace.notes.size(), 3U);
  EXPECT_EQ(trace.notes[0],
            "The memory in this file is host memory; it is replayed as if it were device memory.");
  EXPECT_THAT(trace.notes[2], HasSubstr("The host: 1 block is freed that no event allocates"));
}

TEST(KinetoReader, HostMemoryBesideDeviceMemoryIsCounted) {
  const std::string device = json_of({1, 0x1000, 512, 512, 0});
  const std::string host = json_of({2, 0x1000, 256, 256, 0, 0, -1});
  EXPECT_EQ(read(kineto_trace(device, host)).notes.at(0),
            "1 event of other memory is left out: only those of device memory are replayed.");
  EXPECT_EQ(read(kineto_trace(host, device, host)).notes.at(0),
            "2 events of other memory are left out: only those of device memory are replayed.");
}

TEST(KinetoReader, WithoutMemoryEventsSaysHowToRecordThem) {
  const std::string none = kineto_trace();
  ByteSource source = ByteSource::over(none);
  const auto trace = read_kineto(source);
  ASSERT_FALSE(trace);
  EXPECT_TRUE(trace.error().nothing_to_replay);
  EXPECT_THAT(trace.error().message, HasSubstr("profile_memory=True"));
}

TEST(KinetoReader, LinesOfJsonAreNoTrace) {
  const std::string lines = "{\"a\":1}\n{\"a\":2}\n";
  ByteSource source = ByteSource::over(lines);
  const auto trace = read_kineto(source);
  ASSERT_FALSE(trace);
  EXPECT_TRUE(trace.error().nothing_to_replay);
  EXPECT_THAT(trace.error().message, HasSubstr("more than one JSON value"));
}

TEST(KinetoReader, DevicesAreApart) {
  const Trace trace = read(kineto_trace(json_of({10, 0x1000, 512, 512, 0, 1, 1}),
                                        json_of({15, 0x1000, 256, 1256, 0, 1, 0})));
  ASSERT_EQ(trace.devices.size(), 2U);
  EXPECT_EQ(trace.devices[0].device, 0);
  EXPECT_EQ(trace.devices[0].peak_live, 1256_B);
  EXPECT_EQ(trace.devices[0].events[0].time_us, 5) << "one clock for all devices";
  EXPECT_EQ(trace.devices[1].device, 1);
  EXPECT_EQ(trace.devices[1].peak_live, 512_B);
}

TEST(KinetoReader, HostMemoryCountsOnlyAlone) {
  const std::string host = json_of({1, 0x1000, 64, 64, 0, 0, -1});
  const Trace with_device = read(kineto_trace(host, json_of({2, 0x1000, 512, 512, 0, 6, 0})));
  ASSERT_EQ(with_device.devices.size(), 1U);
  EXPECT_EQ(with_device.devices[0].device, 0);
  EXPECT_EQ(with_device.devices[0].peak_live, 512_B);
  const Trace alone = read(kineto_trace(host));
  EXPECT_EQ(alone.devices[0].device, -1);
  EXPECT_EQ(alone.devices[0].peak_live, 64_B);
  EXPECT_EQ(alone.devices[0].recorded_peak_reserved, std::nullopt) << "the host has no reserve";
  EXPECT_THAT(alone.devices[0].recorded_reserved, IsEmpty());
}

TEST(KinetoReader, WithoutTotalsTheStartIsUnknown) {
  const Trace trace = read(kineto_trace(
      R"({"name":"[memory]","ts":1,"args":{"Addr":5,"Bytes":7,"Device Type":1,"Device Id":0}})"));
  EXPECT_THAT(trace.devices[0].start, IsEmpty());
  ASSERT_EQ(trace.notes.size(), 1U);
  EXPECT_THAT(trace.notes[0], HasSubstr("is not recorded"));
}

TEST(KinetoReader, FilesWithoutMemoryEventsAreRefused) {
  EXPECT_THAT(error_of("{}"), HasSubstr("no '[memory]' events"));
  EXPECT_THAT(error_of(kineto_trace(json_of({1, 2, 3, 4, 5, 20, 0}))),
              HasSubstr("of the device type 20 only"));
}

TEST(KinetoReader, SumsBeyond64BitsAreRefused) {
  const std::int64_t most = std::int64_t{1} << 60;
  EXPECT_THAT(error_of(kineto_trace(json_of({1, 1, most, 0, 0}), json_of({2, 2, most, 0, 0}),
                                    json_of({3, 3, most, 0, 0}))),
              HasSubstr("can be counted, on device 0"));
  EXPECT_THAT(error_of(kineto_trace(json_of({1, 1, most, 0, 0}), json_of({2, 2, -most, 0, 0}),
                                    json_of({3, 3, most, 0, 0}), json_of({4, 4, -most, 0, 0}),
                                    json_of({5, 5, -most, 0, 0}))),
              HasSubstr("can be counted"));
}

}  // namespace
}  // namespace ferry::replay
