// SPDX-License-Identifier: Apache-2.0
#include "front/traces/rmm_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/traces/trace_check.hpp"

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = TraceEvent::Kind;

const std::string kHeader = "Thread,Time,Action,Pointer,Size,Stream\n";

Trace read(const std::string& log) {
  ByteSource source = ByteSource::over(log);
  auto trace = read_rmm_log(source);
  if (!trace) {
    ADD_FAILURE() << trace.error().describe();
    return {};
  }
  EXPECT_EQ(testing::broken_promise(*trace), "");
  EXPECT_EQ(trace->format, "RMM log");
  EXPECT_EQ(trace->devices.size(), 1U);
  EXPECT_EQ(trace->devices[0].recorded_peak_reserved, std::nullopt);
  return std::move(*trace);
}

TraceError error_of(const std::string& log) {
  ByteSource source = ByteSource::over(log);
  auto trace = read_rmm_log(source);
  if (trace) return {"read without error", std::nullopt};
  EXPECT_LE(trace.error().offset.value_or(0), log.size());
  return trace.error();
}

TEST(RmmReader, ReadsALog) {
  const Trace trace = read(kHeader +
                           "1,10:12:01:500000,allocate,0x7f0000000000,1000,0x0\n"
                           "2,10:12:01:500010,allocate,0x7f0000000400,500,0x55aa\n"
                           "1,10:12:02:000000,free,0x7f0000000000,1000,0x2\n"
                           "1,10:12:02:000001,allocate,0x7f0000000000,300,(nil)\n");
  const DeviceTrace& device = trace.devices[0];
  EXPECT_EQ(device.device, 0);
  EXPECT_TRUE(device.start.empty());
  ASSERT_EQ(device.blocks.size(), 3U);
  EXPECT_EQ(device.blocks[1].bytes, 500_B);
  EXPECT_EQ(device.blocks[1].stream, 0x55aaU);
  ASSERT_EQ(device.events.size(), 4U);
  EXPECT_EQ(device.events[0].time_us, 0);
  EXPECT_EQ(device.events[1].time_us, 10);
  EXPECT_EQ(device.events[2].kind, Kind::free);
  EXPECT_EQ(device.events[2].stream, 2U);
  EXPECT_EQ(device.events[2].time_us, 500'000);
  EXPECT_EQ(device.peak_live, 1500_B);
  EXPECT_THAT(trace.notes, IsEmpty());
}

TEST(RmmReader, ColumnsAreFoundByName) {
  const Trace trace = read(
      "size, \"POINTER\" ,extra,action\r\n"
      "1000,4096,x,ALLOCATE\r\n"
      "\r\n"
      "1000,\"4096\",x,deallocate,more\r\n"
      "7,00ff,x,allocate");
  ASSERT_EQ(trace.devices[0].events.size(), 3U);
  EXPECT_EQ(trace.devices[0].blocks[1].bytes, 7_B);
  EXPECT_EQ(trace.devices[0].events[2].time_us, 0);
}

TEST(RmmReader, NothingIsGivenForZeroBytes) {
  const Trace trace = read(kHeader +
                           "1,00:00:01.0,allocate,(nil),0,0\n"
                           "1,00:00:01.0,free,(nil),0,0\n"
                           "1,00:00:01.0,allocate,0x0,0,0\n"
                           "1,00:00:01.0,allocate,0x10,0,0\n");
  EXPECT_EQ(trace.devices[0].events.size(), 1U);
  EXPECT_EQ(trace.devices[0].peak_live, 0_B);
}

TEST(RmmReader, UnknownFreesAreBlocksOfTheStart) {
  const Trace trace = read(kHeader + "1,1:0:0.0,free,0x10,64,0\n1,1:0:0.0,allocate,0x20,8,0\n");
  ASSERT_EQ(trace.devices[0].start.size(), 1U);
  EXPECT_EQ(trace.devices[0].peak_live, 64_B);
  ASSERT_EQ(trace.notes.size(), 1U);
  EXPECT_THAT(trace.notes[0],
              HasSubstr("Device 0: 1 block is freed that no event allocates; it is taken"));
}

TEST(RmmReader, FailuresAreNotedAndNotReplayed) {
  const Trace trace = read(kHeader +
                           "1,1:0:0.0,allocate,0x10,64,0\n"
                           "1,1:0:0.0,allocate failure,(nil),3221225472,0\n");
  EXPECT_EQ(trace.devices[0].events.size(), 1U);
  ASSERT_EQ(trace.notes.size(), 1U);
  EXPECT_THAT(trace.notes[0], HasSubstr("An allocation of the recorded program, of 3 GiB, failed"));
}

TEST(RmmReader, MidnightIsPassed) {
  const Trace trace = read(kHeader +
                           "1,23:59:59:999000,allocate,0x10,1,0\n"
                           "1,23:59:59:998000,allocate,0x20,1,0\n"
                           "1,00:00:00:001000,allocate,0x30,1,0\n"
                           "1,00:00:01.5,allocate,0x40,1,0\n");
  const auto& events = trace.devices[0].events;
  EXPECT_EQ(events[1].time_us, 0) << "threads write a little out of order";
  EXPECT_EQ(events[2].time_us, 2000);
  EXPECT_EQ(events[3].time_us, 1'501'000);
}

TEST(RmmReader, UnreadableTimesAreNoted) {
  const Trace trace = read(kHeader +
                           "1,12:00:00:000001,allocate,0x10,1,0\n"
                           "1,noon,allocate,0x20,1,0\n"
                           "1,12:00,allocate,0x30,1,0\n"
                           "1,12:00:00:x,allocate,0x40,1,0\n"
                           "1,12:00:00,allocate,0x50,1,0\n");
  ASSERT_EQ(trace.notes.size(), 1U);
  EXPECT_THAT(trace.notes[0], HasSubstr("3 lines have a time"));
}

TEST(RmmReader, WrongRowsAreNamedWithTheirPlace) {
  const std::string good = "1,1:0:0.0,allocate,0x10,64,0\n";
  const std::uint64_t row = kHeader.size() + good.size();
  TraceError error = error_of(kHeader + good + "1,1:0:0.0,allocate,0x20,many,0\n");
  EXPECT_EQ(error.message,
            "is no valid RMM log: line 3: the size is 'many', which is no number of bytes");
  EXPECT_EQ(error.offset, row + 24);
  error = error_of(kHeader + good + "1,1:0:0.0,allocate\n");
  EXPECT_EQ(error.message, "is no valid RMM log: line 3: it has 3 fields and the header 6");
  EXPECT_EQ(error.offset, row);
  EXPECT_THAT(error_of(kHeader + "1,1:0:0.0,grab,0x20,1,0\n").message,
              HasSubstr("line 2: the action is 'grab', which is not known"));
  EXPECT_THAT(error_of(kHeader + "1,1:0:0.0,free,pointer,1,0\n").message,
              HasSubstr("the pointer is 'pointer', which is no address"));
  EXPECT_THAT(error_of(kHeader + "1,1:0:0.0,free,0x10,1,main\n").message,
              HasSubstr("the stream is 'main', which is no address"));
  EXPECT_THAT(error_of(kHeader + "1,1:0:0.0,free,0x10,-1,0\n").message,
              HasSubstr("the size is '-1'"));
  EXPECT_THAT(error_of(kHeader + "1,1:0:0.0,free,0x10,,0\n").message, HasSubstr("the size is ''"));
  EXPECT_THAT(error_of(kHeader + "1,1:0:0.0,free,0x10,99999999999999999999,0\n").message,
              HasSubstr("no number of bytes"));
  EXPECT_THAT(error_of(kHeader + "1,1:0:0.0,free,0x10,2305843009213693952,0\n").message,
              HasSubstr("no number of bytes"));
  EXPECT_THAT(error_of(kHeader + "1,1:0:0.0,free,0x1ffffffffffffffff,1,0\n").message,
              HasSubstr("no address"));
}

TEST(RmmReader, WrongHeadersAreNamed) {
  EXPECT_THAT(error_of("Time,Action,Pointer\n").message, HasSubstr("no column 'size'"));
  EXPECT_THAT(error_of("Action,Action,Pointer,Size\n").message,
              HasSubstr("the column 'action' is there twice"));
  EXPECT_THAT(error_of(kHeader).message, HasSubstr("nothing to replay"));
  EXPECT_THAT(error_of(kHeader + std::string(70'000, 'x')).message,
              HasSubstr("has a line of more"));
}

TEST(RmmReader, EveryTruncationIsReadOrRefused) {
  const std::string log = kHeader +
                          "1,10:12:01:500000,allocate,0x7f0000000000,1000,0x0\n"
                          "1,10:12:02:000000,free,0x7f0000000000,1000,0x2\n";
  for (std::size_t kept = 0; kept < log.size(); ++kept) {
    const std::string cut = log.substr(0, kept);
    ByteSource source = ByteSource::over(cut);
    auto trace = read_rmm_log(source);
    if (trace) {
      EXPECT_EQ(testing::broken_promise(*trace), "") << kept;
    } else {
      EXPECT_LE(trace.error().offset.value_or(0), kept);
    }
  }
}

TEST(RmmReader, IsToldByItsHeader) {
  EXPECT_TRUE(looks_like_rmm_log(kHeader));
  EXPECT_TRUE(looks_like_rmm_log("thread,time,ACTION,\"pointer\"\r\n1,2"));
  EXPECT_TRUE(looks_like_rmm_log("Action,Pointer"));
  EXPECT_FALSE(looks_like_rmm_log("id,lower,upper,size\n0,1,2,3\n"));
  EXPECT_FALSE(looks_like_rmm_log("{\"Action\": 1, \"Pointer\": 2}"));
  EXPECT_FALSE(looks_like_rmm_log(""));
}

}  // namespace
}  // namespace ferry::replay
