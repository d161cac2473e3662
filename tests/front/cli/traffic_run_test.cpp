// SPDX-License-Identifier: Apache-2.0
// With programs that write the stand-in's record themselves, and with one of the driver's.
#include "front/cli/traffic_run.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "front/cli/run_program.hpp"
#include "front/traffic/traffic_samples.hpp"

namespace ferry::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Outcome;

Outcome run_traffic(const std::vector<std::string>& options, const std::string& script,
                    const std::vector<std::string>& environment = {}) {
  std::vector<std::string> command{FERRY_PROGRAM, "sim", "run"};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"--no-preload", "--", "sh", "-c", script});
  return testing::run_program(command, environment);
}

const std::string& record() {
  static const std::string text = traffic::testing_traffic::two_micro_steps().text();
  return text;
}
const std::string kWrite = "printf '%s' \"$RECORD\" > $FERRY_SIM_TRAFFIC/12.jsonl; ";

TEST(TrafficRun, TheTableGoesToStandardErrorAndTheExitCodeIsTheProgrammes) {
  const Outcome outcome = run_traffic({"--traffic", "--gpu", "h200-pcie5"},
                                      kWrite + "echo mine; exit 9", {"RECORD=" + record()});
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_EQ(outcome.out, "mine\n");
  EXPECT_THAT(outcome.err, HasSubstr("on h200-pcie5, on the stand-in"));
  EXPECT_THAT(outcome.err, HasSubstr("Process 12: 4,096 parameters"));
  EXPECT_THAT(outcome.err, HasSubstr("with --values cpu")) << "contents mean nothing without";
}

TEST(TrafficRun, WritesJsonAndThePage) {
  const testing::ScratchFile json;
  const testing::ScratchFile page;
  const Outcome outcome = run_traffic({"--traffic=" + json.path(), "--traffic-html", page.path(),
                                       "--values", "cpu", "--traffic-parameters", "8192"},
                                      kWrite, {"RECORD=" + record()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto parsed = nlohmann::json::parse(json.content());
  EXPECT_EQ(parsed["processes"].at(0)["parameters"], 8192);
  EXPECT_EQ(parsed["values"], "cpu");
  EXPECT_THAT(page.content(), HasSubstr("Process 12: step 1 of 1"));
}

TEST(TrafficRun, RangesCanBeThePhases) {
  const Outcome outcome =
      run_traffic({"--traffic", "--traffic-phases", "nvtx"}, kWrite, {"RECORD=" + record()});
  EXPECT_THAT(outcome.err, HasSubstr("outside ranges"));
  EXPECT_EQ(run_traffic({"--traffic-phases", "moon"}, "true").exit_code, 2);
}

TEST(TrafficRun, AProgramThatCopiesNothingIsToldSo) {
  const Outcome outcome = run_traffic({"--traffic"}, "exit 3");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("No process copied anything."));
}

TEST(TrafficRun, AProgramThatIsNotThereGetsNoTable) {
  const Outcome outcome = testing::run_program(
      {FERRY_PROGRAM, "sim", "run", "--traffic", "--no-preload", "--", "/nonexistent/program"});
  EXPECT_EQ(outcome.exit_code, 127);
  EXPECT_THAT(outcome.err, Not(HasSubstr("No process")));
}

TEST(TrafficRun, AFileThatCannotBeWrittenIsNamedBeforeTheProgramRuns) {
  const Outcome outcome = run_traffic({"--traffic=/nonexistent/folder/x.json"}, "echo ran");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("/nonexistent/folder/x.json"));
}

TEST(TrafficRun, LeavesNothingBehind) {
  const Outcome outcome = run_traffic({"--traffic"}, "echo $FERRY_SIM_TRAFFIC");
  const std::string folder = outcome.out.substr(0, outcome.out.find('\n'));
  ASSERT_FALSE(folder.empty());
  EXPECT_NE(access(folder.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace ferry::cli
