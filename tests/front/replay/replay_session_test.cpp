// SPDX-License-Identifier: Apache-2.0
#include "front/replay/replay_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/replay/sim_machine.hpp"
#include "front/replay/trace_streams.hpp"
#include "front/traces/files.hpp"
#include "front/traces/trace_builder.hpp"

namespace ferry::replay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::stand_in;
using testing::TemporaryFile;
using testing::TraceBuilder;

SessionOptions options_for(const std::string& capacity, std::uint32_t passes = 2) {
  return {.costs = find_cost_table("a100"),
          .capacity = *CapacityOption::parse(capacity),
          .passes = passes};
}

DeviceResult replayed(const DeviceTrace& trace, const SessionOptions& options) {
  return ReplaySession(stand_in(), options).replay_device(trace, "test");
}

// Sizes that grow, so that what was freed before never fits.
DeviceTrace growing() {
  TraceBuilder builder;
  builder.start(4_MiB);
  for (std::uint64_t mib = 5; mib < 40; ++mib) builder.free(builder.allocate(1_MiB * mib));
  DeviceTrace trace = builder.build();
  trace.recorded_peak_reserved = 500_MiB;
  trace.recorded_reserved = {{0, 500_MiB}};
  return trace;
}

TEST(ReplaySession, UnlimitedHasAllFiguresButTheSearch) {
  const DeviceResult result = replayed(growing(), options_for(""));
  EXPECT_TRUE(result.completed) << result.error;
  EXPECT_EQ(result.events, 70U);
  EXPECT_EQ(result.peak_live, 43_MiB);
  EXPECT_EQ(result.recorded_peak_reserved, 500_MiB);
  EXPECT_EQ(result.recorded_reserved.size(), 1U);
  EXPECT_GE(result.peak_reserved, 43_MiB);
  EXPECT_EQ(result.capacity, std::nullopt);
  EXPECT_EQ(result.min_capacity, std::nullopt);
  ASSERT_EQ(result.passes.size(), 2U);
  EXPECT_GT(result.passes[0].driver_ms, 0);
  EXPECT_EQ(result.passes[0].driver_ms,
            find_cost_table("a100")->milliseconds(result.passes[0].calls));
  EXPECT_GT(result.pair_ns_p50, 0);
  EXPECT_GE(result.pair_ns_p99, result.pair_ns_p50);
  EXPECT_EQ(result.timeline.size(), 71U);
}

TEST(ReplaySession, TheSmallestCapacityCompletesAndOneStepLessDoesNot) {
  const DeviceTrace trace = growing();
  const DeviceResult result = replayed(trace, options_for("min"));
  ASSERT_TRUE(result.completed) << result.error;
  ASSERT_TRUE(result.min_capacity.has_value());
  EXPECT_EQ(result.capacity, result.min_capacity);
  EXPECT_GE(*result.min_capacity, 44_MiB);
  EXPECT_LE(*result.min_capacity, *result.unlimited_peak_reserved);
  EXPECT_LE(result.peak_reserved, *result.min_capacity);
  EXPECT_EQ(result.passes.size(), 2U);

  const std::string found = std::to_string(result.min_capacity->count);
  EXPECT_TRUE(replayed(trace, options_for(found)).completed);
  const std::string less = std::to_string((*result.min_capacity - kCapacityStep).count);
  EXPECT_TRUE(replayed(trace, options_for(less)).out_of_memory);
}

TEST(ReplaySession, ARatioIsTakenOfThePeakLive) {
  const DeviceResult result = replayed(growing(), options_for("1.5x"));
  EXPECT_TRUE(result.completed) << result.error;
  EXPECT_EQ(result.capacity, Bytes{(43_MiB).count * 3 / 2});
  const DeviceResult less = replayed(growing(), options_for("0.5x"));
  EXPECT_FALSE(less.completed);
  EXPECT_TRUE(less.out_of_memory);
  EXPECT_THAT(less.error, AllOf(HasSubstr("in pass 1 asks for"), HasSubstr("largest live blocks")));
  EXPECT_EQ(less.pair_ns_p50, 0);
  EXPECT_THAT(less.passes, IsEmpty());
  EXPECT_THAT(less.timeline, Not(IsEmpty()));
}

TEST(ReplaySession, WhatDoesNotFitUnlimitedHasNoSmallestCapacity) {
  SessionOptions options = options_for("min");
  for (int call = 1; call <= 20; ++call) {  // the pool tries again
    options.stand_in += "fault=cuMemCreate@" + std::to_string(call) + ":2;";
  }
  const DeviceResult result = replayed(growing(), options);
  EXPECT_FALSE(result.completed);
  EXPECT_TRUE(result.out_of_memory);
  EXPECT_EQ(result.min_capacity, std::nullopt);
}

TEST(ReplaySession, UnlimitedIsNotWhatTheStandInIsSetTo) {
  SessionOptions options = options_for("");
  options.stand_in = "capacity=16MiB";
  EXPECT_TRUE(replayed(growing(), options).completed);
}

TEST(ReplaySession, ATraceThatNeedsNoMemoryNeedsNoCapacity) {
  TraceBuilder builder;
  builder.free(builder.allocate(0_B));
  const DeviceResult result = replayed(builder.build(), options_for("min"));
  EXPECT_TRUE(result.completed) << result.error;
  EXPECT_EQ(result.min_capacity, Bytes{});
}

TEST(ReplaySession, AFailureDuringTheSearchIsNotAnAnswer) {
  // The second large block fits only where the memory of the first is moved past the one between.
  TraceBuilder builder;
  const std::uint32_t first = builder.allocate(32_MiB);
  builder.allocate(2_MiB);
  builder.free(first);
  builder.allocate(40_MiB);
  SessionOptions options = options_for("min");
  options.stand_in = "fault=cuMemUnmap@1:999";  // memory is short only within a limit
  const DeviceResult result = replayed(builder.build(), options);
  EXPECT_FALSE(result.completed);
  EXPECT_FALSE(result.out_of_memory);
  EXPECT_EQ(result.min_capacity, std::nullopt);
  EXPECT_THAT(result.error, HasSubstr("CUDA error 999"));
}

TEST(ReplaySession, AMachineThatCannotBeHadIsAFailure) {
  SessionOptions options = options_for("");
  options.stand_in = "devices=0";
  const DeviceResult result = replayed(growing(), options);
  EXPECT_FALSE(result.completed);
  EXPECT_FALSE(result.out_of_memory);
  EXPECT_THAT(result.error, HasSubstr("device 0 cannot be used"));
}

constexpr const char* kLog =
    "Thread,Time,Action,Pointer,Size,Stream\n"
    "1,10:00:00:000001,allocate,0x1000,1048576,0\n"
    "1,10:00:00:000002,allocate,0x2000,2097152,7\n"
    "1,10:00:00:000003,free,0x1000,1048576,7\n"
    "1,10:00:00:000004,free,0x2000,2097152,7\n";

// Two streams of another program fill the same memory while the replay runs.
TEST(ReplaySession, AHazardIsAFailureThatTheReportTells) {
  SessionOptions options = options_for("");
  bool done = false;
  options.progress = [&](const std::string& text) {
    if (done || text.find("pass 1") == std::string::npos) return;
    done = true;
    const auto device = Device::open(stand_in(), DeviceId{0});
    ASSERT_TRUE(device);
    Result<DeviceAddress> memory = (*device)->alloc(64_KiB);
    Result<StreamRef> first = (*device)->create_stream();
    Result<StreamRef> second = (*device)->create_stream();
    ASSERT_TRUE(memory && first && second);
    for (const StreamRef stream : {*first, *second})
      ASSERT_TRUE((*device)->fill_words(*memory, 4_B, 16, 7, stream).ok());
    ASSERT_TRUE((*device)->synchronize().ok());
  };
  const DeviceResult result = replayed(growing(), options);
  ASSERT_TRUE(done);
  EXPECT_FALSE(result.completed);
  EXPECT_FALSE(result.out_of_memory);
  EXPECT_THAT(result.error, HasSubstr("1 access to memory that nothing orders"));
}

TEST(ReplaySession, ReadsAFile) {
  const TemporaryFile file(kLog, "log.csv");
  std::vector<std::string> told;
  SessionOptions options = options_for("");
  options.progress = [&](const std::string& text) { told.push_back(text); };
  const FileResult result = ReplaySession(stand_in(), options).replay_file(file.path());
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.path, file.path());
  EXPECT_EQ(result.name, file_name(file.path()));
  EXPECT_THAT(result.format, HasSubstr("RMM"));
  ASSERT_EQ(result.devices.size(), 1U);
  EXPECT_TRUE(result.devices[0].completed) << result.devices[0].error;
  EXPECT_EQ(result.devices[0].events, 4U);
  EXPECT_EQ(result.devices[0].peak_live, 3_MiB);
  EXPECT_EQ(result.devices[0].recorded_peak_reserved, std::nullopt);
  EXPECT_THAT(told, ::testing::Contains(HasSubstr(result.name + ": pass 2 of 2, event 0 of 4")));
}

TEST(ReplaySession, StreamsThatHadToBeSharedAreNoted) {
  std::string log = "Thread,Time,Action,Pointer,Size,Stream\n";
  for (std::size_t i = 1; i <= TraceStreams::kMost + 1; ++i) {
    log += "1,10:00:00:000001,allocate," + std::to_string(i * 4096) + ",512," + std::to_string(i) +
           "\n";
  }
  const TemporaryFile file(log, "streams.csv");
  const FileResult result = ReplaySession(stand_in(), options_for("")).replay_file(file.path());
  ASSERT_EQ(result.devices.size(), 1U) << result.error;
  EXPECT_TRUE(result.devices[0].completed) << result.devices[0].error;
  EXPECT_THAT(result.notes,
              ::testing::Contains("The 257 streams of device 0 were replayed on 256."));
}

TEST(ReplaySession, AFileThatCannotBeReadIsASentence) {
  const TemporaryFile file("\x80\x02}q\x01(", "cut.pickle");
  const ReplaySession session(stand_in(), options_for(""));
  const FileResult cut = session.replay_file(file.path());
  EXPECT_THAT(cut.error, AllOf(HasSubstr(file.path() + " "), HasSubstr("at byte ")));
  EXPECT_THAT(cut.devices, IsEmpty());
  const FileResult missing = session.replay_file("/nonexistent/trace.pickle");
  EXPECT_THAT(missing.error, HasSubstr("/nonexistent/trace.pickle "));
  EXPECT_EQ(missing.name, "trace.pickle");
  EXPECT_THAT(session.replay_file("/").error, Not(IsEmpty()));
}

TEST(WorstDevice, HasTheLargestRatio) {
  const auto device = [](Bytes reserved, Bytes live) {
    DeviceResult result;
    result.peak_reserved = reserved;
    result.peak_live = live;
    return result;
  };
  EXPECT_EQ(worst_device({}), 0U);
  EXPECT_EQ(worst_device({device(11_MiB, 10_MiB), device(3_MiB, 2_MiB), device(9_MiB, 7_MiB)}), 1U);
  EXPECT_EQ(worst_device({device(0_MiB, 0_MiB), device(1_MiB, 1_MiB)}), 1U);
  EXPECT_EQ(worst_device({device(1_MiB, 1_MiB), device(2_MiB, 0_MiB)}), 1U);
}

TEST(WorstDevice, IsOneThatFailed) {
  const auto device = [](bool completed, bool out_of_memory, Bytes reserved) {
    DeviceResult result;
    result.peak_live = 1_MiB;
    result.peak_reserved = reserved;
    result.completed = completed;
    result.out_of_memory = out_of_memory;
    return result;
  };
  const DeviceResult good = device(true, false, 9_MiB);
  const DeviceResult short_of_memory = device(false, true, 2_MiB);
  const DeviceResult wrong = device(false, false, 1_MiB);
  EXPECT_EQ(worst_device({good, short_of_memory}), 1U);
  EXPECT_EQ(worst_device({good, short_of_memory, wrong}), 2U) << "a failed check is the gravest";
  EXPECT_EQ(worst_device({wrong, wrong}), 0U);
}

TEST(FileName, IsWithoutFolders) {
  EXPECT_EQ(file_name("some/folder/a.pickle"), "a.pickle");
  EXPECT_EQ(file_name("a.pickle"), "a.pickle");
  EXPECT_EQ(file_name("/a"), "a");
  EXPECT_EQ(file_name("some/folder/"), "folder/");
  EXPECT_EQ(file_name("/"), "/");
  EXPECT_EQ(file_name(""), "");
}

}  // namespace
}  // namespace ferry::replay
