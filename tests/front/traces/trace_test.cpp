// SPDX-License-Identifier: Apache-2.0
#include "front/traces/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/traces/files.hpp"
#include "front/traces/kineto_samples.hpp"
#include "front/traces/snapshot_samples.hpp"

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFile;

TEST(DeviceName, NamesTheHost) {
  EXPECT_EQ(device_name(0), "device 0");
  EXPECT_EQ(device_name(-1), "the host");
}

TEST(Trace, FormatsAreToldByContent) {
  const auto format_of = [](const std::string& bytes) {
    auto trace = read_trace_bytes(bytes, "name.txt");
    if (!trace) return trace.error().describe();
    EXPECT_EQ(trace->name, "name.txt");
    return trace->format;
  };
  const std::string kineto = testing::kineto_trace(testing::json_of({1, 2, 3, 3, 0}));
  const std::string rmm = "Thread,Time,Action,Pointer,Size,Stream\n1,1:0:0.0,allocate,0x1,1,0\n";
  for (int protocol = 0; protocol <= 5; ++protocol) {
    const std::string pickle = testing::pickled(testing::sample_snapshot(), protocol);
    EXPECT_EQ(format_of(pickle), "PyTorch snapshot") << protocol;
    EXPECT_EQ(format_of(testing::gzipped(pickle)), "PyTorch snapshot");
  }
  EXPECT_EQ(format_of(kineto), "Kineto trace");
  EXPECT_EQ(format_of(" \r\n\t" + kineto), "Kineto trace");
  EXPECT_EQ(format_of(testing::gzipped(kineto)), "Kineto trace");
  EXPECT_EQ(format_of(rmm), "RMM log");
  EXPECT_EQ(format_of(testing::gzipped(rmm)), "RMM log");
}

TEST(Trace, OtherFilesAreRefused) {
  const auto error_of = [](const std::string& bytes) {
    return read_trace_bytes(bytes, "x").error().describe();
  };
  EXPECT_EQ(error_of(""), "is empty");
  EXPECT_EQ(error_of(testing::gzipped("")), "is empty");
  const std::string unknown =
      "is no known trace: neither a PyTorch memory snapshot, nor an RMM log, nor a Kineto trace, "
      "at "
      "byte 0";
  EXPECT_EQ(error_of("hello"), unknown);
  EXPECT_EQ(error_of("id,lower,upper,size\n1,2,3,4\n"), unknown);
  EXPECT_EQ(error_of(std::string("\x7f"
                                 "ELF\0\0",
                                 6)),
            unknown);
  EXPECT_EQ(error_of(testing::gzipped(testing::gzipped("{}"))), unknown);
  EXPECT_THAT(error_of("cposix\nsystem\n."), HasSubstr("asks for the global 'posix.system'"));
  EXPECT_THAT(error_of("\x1f\x8b"), HasSubstr("cut off"));
}

TEST(Trace, ErrorsNameThePlace) {
  EXPECT_EQ((TraceError{"is odd", 17}.describe()), "is odd, at byte 17");
  EXPECT_EQ((TraceError{"is odd", std::nullopt}.describe()), "is odd");
}

// Offsets are those of the decompressed stream.
TEST(Trace, OffsetsCountDecompressedBytes) {
  testing::Py sample = testing::sample_snapshot();
  sample["device_traces"].at(0).at(5)["size"] = -1;
  const std::string pickle = testing::pickled(sample);
  const std::string packed = testing::gzipped(pickle);
  ASSERT_LT(packed.size(), pickle.rfind('}'));
  EXPECT_EQ(read_trace_bytes(packed, "x").error().offset, pickle.rfind('}'));
}

TEST(Trace, ReadsFilesByPath) {
  const TemporaryFile file(testing::pickled(testing::sample_snapshot()), "a.pickle");
  auto trace = read_trace(file.path());
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->name, file.path().substr(file.path().rfind('/') + 1));
  EXPECT_EQ(read_trace("/nonexistent/x").error().describe(), "does not exist");
  EXPECT_EQ(read_trace(::testing::TempDir()).error().describe(), "is a directory, not a trace");
  const TemporaryFile empty("", "b");
  EXPECT_EQ(read_trace(empty.path()).error().describe(), "is empty");
}

TEST(Trace, PeakLiveCountsTheStart) {
  DeviceTrace trace;
  trace.blocks = {{100_B, 0}, {50_B, 0}, {30_B, 0}};
  compute_peak_live(trace);
  EXPECT_EQ(trace.peak_live, 0_B);
  trace.start = {0};
  compute_peak_live(trace);
  EXPECT_EQ(trace.peak_live, 100_B);
  using Kind = TraceEvent::Kind;
  trace.events = {{Kind::free, 0, 0, 0},
                  {Kind::allocate, 1, 0, 0},
                  {Kind::allocate, 2, 0, 0},
                  {Kind::free, 1, 0, 0}};
  compute_peak_live(trace);
  EXPECT_EQ(trace.peak_live, 100_B);
  trace.events.erase(trace.events.begin());
  compute_peak_live(trace);
  EXPECT_EQ(trace.peak_live, 180_B);
}

TEST(Trace, PeakLiveStaysAtTheLargestOnOverflow) {
  DeviceTrace trace;
  trace.blocks = {{Bytes{std::uint64_t{1} << 63}, 0}, {Bytes{std::uint64_t{1} << 63}, 0}};
  trace.start = {0, 1};
  compute_peak_live(trace);
  EXPECT_EQ(trace.peak_live, Bytes{~std::uint64_t{0}});
}

}  // namespace
}  // namespace ferry::replay
