// SPDX-License-Identifier: Apache-2.0
#include "front/cli/replay_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "front/cli/cli.hpp"
#include "front/cli/replay_fixture.hpp"

namespace ferry::cli {
namespace {

using nlohmann::json;
using replay::DeviceResult;
using replay::FileResult;
using replay::ReplayReport;
using replay::testing::TemporaryFile;
using ::testing::AllOf;
using testing::ferry_replay;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Outcome;
using testing::ReplayCommand;

TEST_F(ReplayCommand, PrintsATableAndNamesTheStandIn) {
  const Outcome run = ferry_replay({good});
  EXPECT_EQ(run.exit_code, kExitOk) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("command.csv: RMM"), HasSubstr("3 MiB"),
                             HasSubstr("Driver: stand-in (modelled), schedule eager")));
  EXPECT_THAT(run.err, IsEmpty());
}

TEST_F(ReplayCommand, PrintsJsonAndNothingElse) {
  const Outcome run = ferry_replay(
      {"--json", "--repeat", "3", "--schedule", "random", "--seed", "5", "--audit", "1", good});
  EXPECT_EQ(run.exit_code, kExitOk) << run.err;
  const json root = json::parse(run.out);
  EXPECT_EQ(root["costs"], "a100");
  EXPECT_EQ(root["schedule"], "random");
  EXPECT_EQ(root["seed"], 5);
  const json& file = root["files"].at(0);
  EXPECT_EQ(file["path"], good);
  EXPECT_EQ(file["events"], 4);
  EXPECT_EQ(file["completed"], true);
  EXPECT_EQ(file["passes"].size(), 3U);
  EXPECT_EQ(file["peak_live_bytes"], (3_MiB).count);
  EXPECT_TRUE(file["recorded_peak_reserved_bytes"].is_null());
  EXPECT_GT(file["pair_ns"]["p50"], 0);
  EXPECT_THAT(run.err, IsEmpty());
}

TEST_F(ReplayCommand, SearchesTheSmallestCapacity) {
  const Outcome run = ferry_replay({"--json", "--capacity", "min", good});
  EXPECT_EQ(run.exit_code, kExitOk) << run.err;
  const json root = json::parse(run.out);
  const json& file = root["files"].at(0);
  EXPECT_GE(file["min_capacity_bytes"], (4_MiB).count);
  EXPECT_EQ(file["min_capacity_bytes"].get<std::uint64_t>() % (2_MiB).count, 0U);
}

TEST_F(ReplayCommand, ABadFileIsOneSentenceAndTheOthersAreStillReplayed) {
  const Outcome run = ferry_replay({"--json", bad, good, "/nonexistent/trace"});
  EXPECT_EQ(run.exit_code, kExitUsage);
  const json root = json::parse(run.out);
  ASSERT_EQ(root["files"].size(), 3U);
  EXPECT_EQ(root["files"][0]["completed"], false);
  EXPECT_THAT(root["files"][0]["error"].get<std::string>(), HasSubstr("at byte "));
  EXPECT_EQ(root["files"][1]["completed"], true);
  EXPECT_EQ(root["files"][2]["completed"], false);
  EXPECT_THAT(run.err, AllOf(HasSubstr("ferry: " + bad + " "), HasSubstr("at byte "),
                             HasSubstr("ferry: /nonexistent/trace ")));
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 2);
}

TEST_F(ReplayCommand, TheHostsMemoryRunningOutIsSaidAsSuch) {
  const Outcome run = testing::run_program(
      {"/bin/sh", "-c",
       "ulimit -v 400000; exec " + std::string(FERRY_PROGRAM) + " replay --json " + good});
  if (run.exit_code > 128 || run.out.empty()) GTEST_SKIP() << "cannot run with little memory";
  EXPECT_EQ(run.exit_code, kExitOutOfMemory) << run.err;
  const std::string error = json::parse(run.out)["files"].at(0)["error"];
  EXPECT_THAT(error, HasSubstr("this machine's own memory is exhausted"));
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
}

TEST_F(ReplayCommand, TooLittleMemoryIsReportedAndTheOthersAreStillReplayed) {
  const Outcome run = ferry_replay({"--json", "--capacity", "2MiB", good, good});
  EXPECT_EQ(run.exit_code, kExitOutOfMemory);
  const json root = json::parse(run.out);
  EXPECT_EQ(root["files"][1]["completed"], false);
  EXPECT_EQ(root["files"][1]["capacity_bytes"], (2_MiB).count);
  EXPECT_THAT(root["files"][1]["error"].get<std::string>(),
              AllOf(HasSubstr("event 2 of 4"), HasSubstr("largest live blocks")));
  EXPECT_THAT(run.err, HasSubstr("out of memory: event 2 of 4 in pass 1"));

  const Outcome table = ferry_replay({"--capacity", "2MiB", good});
  EXPECT_EQ(table.exit_code, kExitOutOfMemory);
  EXPECT_THAT(table.out, AllOf(HasSubstr("out of memory"), HasSubstr("largest live blocks")));
}

TEST_F(ReplayCommand, AStandInThatForgetsDataIsReplayedWithoutMarks) {
  const Outcome run = ferry_replay({"--json", good}, {"FERRY_SIM=data=none"});
  EXPECT_EQ(run.exit_code, kExitOk) << run.err;
  EXPECT_THAT(json::parse(run.out)["notes"].at(0).get<std::string>(), HasSubstr("data=none"));
}

TEST_F(ReplayCommand, DevicesHiddenFromOtherProgramsDoNotMatter) {
  for (const char* hidden : {"", "3", "-1", "GPU-00"}) {
    const Outcome run = ferry_replay({good}, {std::string("CUDA_VISIBLE_DEVICES=") + hidden});
    EXPECT_EQ(run.exit_code, kExitOk) << hidden << run.err;
  }
}

TEST_F(ReplayCommand, WithoutACapacityThereIsRoomForAnyTrace) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer leaves the stand-in half a tebibyte of addresses, not 16";
#endif
  std::string text = "Action,Pointer,Size\n";
  for (int i = 1; i <= 3; ++i) {
    text += "allocate,0x" + std::to_string(i) + "00000000000," + std::to_string(1ULL << 40) + "\n";
  }
  const TemporaryFile large(text, "large.csv");
  const Outcome run = ferry_replay({"--json", large.path()});
  EXPECT_EQ(run.exit_code, kExitOk) << run.err;
  EXPECT_EQ(json::parse(run.out)["files"][0]["peak_live_bytes"], std::uint64_t{3} << 40);
}

TEST_F(ReplayCommand, TheEnvironmentOfTheStandInCounts) {
  const Outcome run = ferry_replay({"--json", good}, {"FERRY_SIM=schedule=lazy;capacity=2MiB"});
  EXPECT_EQ(run.exit_code, kExitOutOfMemory);
  const json root = json::parse(run.out);
  EXPECT_EQ(root["schedule"], "lazy");
  EXPECT_EQ(root["files"][0]["capacity_bytes"], (2_MiB).count);
  const Outcome over = ferry_replay({"--json", "--capacity", "64MiB", "--schedule", "eager", good},
                                    {"FERRY_SIM=schedule=lazy;capacity=2MiB"});
  EXPECT_EQ(over.exit_code, kExitOk) << over.err;
  EXPECT_EQ(json::parse(over.out)["schedule"], "eager");
}

TEST_F(ReplayCommand, ADriverThatFailsIsAFailure) {
  const Outcome run = ferry_replay({good}, {"FERRY_SIM=fault=cuMemMap@1:999"});
  EXPECT_EQ(run.exit_code, kExitFailure);
  EXPECT_THAT(run.err, HasSubstr("CUDA error 999"));
}

TEST_F(ReplayCommand, MisuseIsExitCodeTwoAndStillJson) {
  struct Misuse {
    std::vector<std::string> arguments;
    const char* says;
  };
  const std::vector<Misuse> misuses{
      {{"--costs", "h100"}, "there is no cost table \"h100\"; known: a100"},
      {{"--capacity", "much"}, "--capacity: \"much\" is neither"},
      {{"--capacity", "2000TiB"}, "--capacity: 2000TiB is more than 1 PiB"},
      {{"--schedule", "fifo"}, "--schedule: \"fifo\" is none of"},
      {{"--device", "gpu"}, "--device: \"gpu\" names no driver"},
      {{"--seed", "3"}, "--seed: the schedule eager has none"},
  };
  for (const Misuse& misuse : misuses) {
    std::vector<std::string> arguments{"--json", good};
    arguments.insert(arguments.end(), misuse.arguments.begin(), misuse.arguments.end());
    const Outcome run = ferry_replay(arguments);
    EXPECT_EQ(run.exit_code, kExitUsage);
    EXPECT_THAT(run.err, HasSubstr(misuse.says));
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
    const json root = json::parse(run.out);
    EXPECT_THAT(root["error"].get<std::string>(), HasSubstr(misuse.says));
    EXPECT_EQ(root["files"].at(0)["completed"], false);
  }
}

TEST_F(ReplayCommand, MisuseThatTheParserFinds) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--repeat", "0", good},
                                             {"--repeat", "-1", good},
                                             {"--seed", "-1", good},
                                             {"--html", "", good},
                                             {"--audit", "x", good},
                                             {"--audit", "0", good},
                                             {"--audit", "-1", good},
                                             {"--repeat", "010", good},
                                             {"--seed", "18446744073709551616", good},
                                             {"--seed", "abc", good},
                                             {"--frobnicate", good}}) {
    const Outcome run = ferry_replay(arguments);
    EXPECT_EQ(run.exit_code, kExitUsage) << arguments[0];
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
    EXPECT_THAT(run.err, HasSubstr("; see ferry replay --help."));
    EXPECT_LT(run.err.size(), 150U) << run.err;
  }
}

TEST_F(ReplayCommand, NeedsAFile) {
  const Outcome run = ferry_replay({}, {"FERRY_TRACE_DIR"});
  EXPECT_EQ(run.exit_code, kExitUsage);
  EXPECT_THAT(run.err, HasSubstr("a trace FILE is needed"));
}

TEST_F(ReplayCommand, WithoutADriverPrintsJsonToo) {
  const Outcome run =
      ferry_replay({"--json", good}, {"FERRY_DRIVER", "FERRY_SIM_DIR=/nonexistent"});
  EXPECT_EQ(run.exit_code, kExitFailure);
  EXPECT_THAT(run.err, HasSubstr("the stand-in was not found"));
  const json root = json::parse(run.out);
  EXPECT_THAT(root["files"].at(0)["error"].get<std::string>(), HasSubstr("was not found"));
}

TEST_F(ReplayCommand, TheVariableChoosesTheDriverWhereTheOptionDoesNot) {
  const Outcome run = ferry_replay({good}, {"FERRY_DRIVER=/nonexistent/libcuda.so.1"});
  EXPECT_EQ(run.exit_code, kExitFailure);
  EXPECT_THAT(run.err, HasSubstr("/nonexistent/libcuda.so.1"));
  EXPECT_EQ(
      ferry_replay({"--device", "sim", good}, {"FERRY_DRIVER=/nonexistent/libcuda.so.1"}).exit_code,
      kExitOk);
}

TEST_F(ReplayCommand, ListsCostTables) {
  const Outcome run = ferry_replay({"--costs", "list"});
  EXPECT_EQ(run.exit_code, kExitOk);
  EXPECT_THAT(run.out, AllOf(HasSubstr("a100"), HasSubstr("create"), HasSubstr("assumption")));
  const Outcome programs = ferry_replay({"--json", "--costs", "list"});
  EXPECT_EQ(programs.exit_code, kExitOk);
  EXPECT_EQ(json::parse(programs.out)["cost_tables"].at(0)["name"], "a100");
}

TEST_F(ReplayCommand, HelpSaysWhatServesByDefault) {
  const Outcome run = ferry_replay({"--help"});
  EXPECT_EQ(run.exit_code, kExitOk);
  EXPECT_THAT(run.out, AllOf(HasSubstr("else sim"), HasSubstr("Exit codes"), HasSubstr("RATIOx")));
  EXPECT_THAT(run.out, AllOf(HasSubstr("-1 is\nthe host"), HasSubstr("FERRY_TRACE_DIR"),
                             HasSubstr("whether they succeed or not")));
  EXPECT_THAT(run.out, Not(HasSubstr("ferry doctor ")));
}

// --- The exit code ---

FileResult file_with(bool completed, bool out_of_memory = false) {
  FileResult file;
  DeviceResult& device = file.devices.emplace_back();
  device.completed = completed;
  device.out_of_memory = out_of_memory;
  return file;
}

TEST(ReplayExitCode, TheGravestCounts) {
  FileResult unreadable;
  unreadable.error = "is empty";
  ReplayReport report;
  EXPECT_EQ(replay_exit_code(report), kExitOk);
  report.files = {file_with(true)};
  EXPECT_EQ(replay_exit_code(report), kExitOk);
  report.files.push_back(file_with(false, true));
  EXPECT_EQ(replay_exit_code(report), kExitOutOfMemory);
  report.files.push_back(unreadable);
  EXPECT_EQ(replay_exit_code(report), kExitUsage);
  report.files.push_back(file_with(false));
  EXPECT_EQ(replay_exit_code(report), kExitFailure);
}

TEST(ReplayExitCode, TheHostsMemoryIsMemoryToo) {
  ReplayReport report;
  report.files.emplace_back();
  report.files[0].error = "could not be replayed";
  report.files[0].host_memory_exhausted = true;
  EXPECT_EQ(replay_exit_code(report), kExitOutOfMemory);
}

TEST(ReplayExitCode, EveryDeviceCounts) {
  ReplayReport report;
  report.files = {file_with(true)};
  report.files[0].devices.push_back(file_with(false, true).devices[0]);
  EXPECT_EQ(replay_exit_code(report), kExitOutOfMemory);
}

}  // namespace
}  // namespace ferry::cli
