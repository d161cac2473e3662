// SPDX-License-Identifier: Apache-2.0
// `ferry replay` and files: which it takes, and where it writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "front/cli/cli.hpp"
#include "front/cli/replay_fixture.hpp"
#include "front/traces/temporary_folder.hpp"

namespace ferry::cli {
namespace {

using nlohmann::json;
using replay::testing::file_content;
using replay::testing::TemporaryFile;
using replay::testing::TemporaryFolder;
using ::testing::AllOf;
using testing::ferry_replay;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Outcome;
using ReplayFiles = testing::ReplayCommand;

TEST_F(ReplayFiles, AFolderStandsForTheTracesBelowIt) {
  const TemporaryFolder folder;
  folder.add("b/two.csv", file_content(good));
  folder.add("a.csv", file_content(good));
  folder.add("notes.txt", "no trace");
  folder.add("lines.jsonl", "{\"a\":1}\n{\"a\":2}\n");
  for (const Outcome& run : {ferry_replay({"--json", folder.path()}),
                             ferry_replay({"--json"}, {"FERRY_TRACE_DIR=" + folder.path()})}) {
    EXPECT_EQ(run.exit_code, kExitOk) << run.err;
    const json root = json::parse(run.out);
    ASSERT_EQ(root["files"].size(), 2U);
    EXPECT_EQ(root["files"][0]["path"], folder.path() + "/a.csv");
    EXPECT_EQ(root["files"][1]["path"], folder.path() + "/b/two.csv");
    ASSERT_EQ(root["notes"].size(), 2U);
    EXPECT_THAT(root["notes"][0].get<std::string>(), HasSubstr("lines.jsonl holds more than one"));
    EXPECT_THAT(root["notes"][1].get<std::string>(), HasSubstr("notes.txt is no known trace"));
  }
  EXPECT_THAT(ferry_replay({folder.path()}).out, HasSubstr("note: Left out: "));
}

TEST_F(ReplayFiles, ADamagedTraceInAFolderIsAnErrorAndAFolderWithoutAnyTraceToo) {
  const TemporaryFolder folder;
  folder.add("notes.txt", "no trace");
  const Outcome none = ferry_replay({"--json", folder.path()});
  EXPECT_EQ(none.exit_code, kExitUsage);
  EXPECT_THAT(json::parse(none.out)["error"].get<std::string>(), HasSubstr("no trace was found"));
  folder.add("cut.pickle", file_content(bad));
  const Outcome run = ferry_replay({folder.path()});
  EXPECT_EQ(run.exit_code, kExitUsage);
  EXPECT_THAT(run.err, HasSubstr("cut.pickle"));
}

TEST_F(ReplayFiles, AFileThatIsNamedIsNotLeftOut) {
  const TemporaryFile text("no trace", "notes.txt");
  const Outcome run = ferry_replay({text.path()});
  EXPECT_EQ(run.exit_code, kExitUsage);
  EXPECT_THAT(run.err, HasSubstr("is no known trace"));
  EXPECT_THAT(run.out, Not(HasSubstr("Driver:"))) << "nothing was replayed";
}

TEST_F(ReplayFiles, WritesThePage) {
  const TemporaryFile page("", "page.html");
  const Outcome run = ferry_replay({"--html", page.path(), good});
  EXPECT_EQ(run.exit_code, kExitOk) << run.err;
  EXPECT_THAT(file_content(page.path()), AllOf(HasSubstr("<svg"), HasSubstr("command.csv")));
  EXPECT_THAT(run.out, HasSubstr("command.csv"));
}

TEST_F(ReplayFiles, OutputThatCannotBeWrittenIsAFailure) {
  const Outcome page = ferry_replay({"--json", "--html", "/dev/full", good});
  EXPECT_EQ(page.exit_code, kExitFailure);
  EXPECT_THAT(page.err, HasSubstr("/dev/full: it could not be written: No space left on device."));
  const json root = json::parse(page.out);
  EXPECT_EQ(root["files"][0]["completed"], true) << "nothing else is lost";
  EXPECT_THAT(root["error"].get<std::string>(), HasSubstr("--html: /dev/full: "));
  const Outcome run = testing::run_program(
      {"/bin/sh", "-c", std::string(FERRY_PROGRAM) + " replay " + good + " > /dev/full"});
  EXPECT_EQ(run.exit_code, kExitFailure);
  EXPECT_THAT(run.err, HasSubstr("No space left on device"));
}

TEST_F(ReplayFiles, APageThatCannotBeWrittenIsNoticedBeforeTheReplay) {
  const Outcome run = ferry_replay({"--json", "--html", "/nonexistent/page.html", good});
  EXPECT_EQ(run.exit_code, kExitFailure);
  EXPECT_THAT(run.err, HasSubstr("--html: /nonexistent/page.html: "));
  const json root = json::parse(run.out);
  EXPECT_THAT(root["error"].get<std::string>(), HasSubstr("--html: /nonexistent/page.html: "));
  EXPECT_EQ(root["files"].at(0)["completed"], false) << "nothing was replayed";
}

TEST_F(ReplayFiles, ATraceIsNeverOverwritten) {
  const std::string before = file_content(good);
  const std::string link = good + ".html";
  std::filesystem::create_symlink(good, link);
  for (const std::string& target : {good, link}) {
    const Outcome run = ferry_replay({"--html", target, good});
    EXPECT_EQ(run.exit_code, kExitUsage);
    EXPECT_THAT(run.err, HasSubstr("is one of the traces"));
  }
  const Outcome other = ferry_replay({"--html", bad, good});
  EXPECT_EQ(other.exit_code, kExitUsage);
  EXPECT_THAT(other.err, HasSubstr("is no page"));
  std::filesystem::remove(link);
  EXPECT_EQ(file_content(good), before);
}

TEST_F(ReplayFiles, AReaderThatHasSeenEnoughLosesNoPage) {
  const TemporaryFolder folder;
  const std::string page = folder.path() + "/page.html";
  const std::string line = std::string(FERRY_PROGRAM) + " replay --json --repeat 3000 --html " +
                           page + " " + good + " | head -1";
  EXPECT_EQ(testing::run_program({"/bin/sh", "-c", line}).exit_code, 0);
  EXPECT_THAT(file_content(page), HasSubstr("</html>"));
}

TEST_F(ReplayFiles, FilesMayHaveBracketsInTheirNames) {
  const TemporaryFolder folder;
  folder.add("[a,b]", file_content(good));
  const std::string in_folder = "cd " + folder.path() + " && exec " + FERRY_PROGRAM + " replay ";
  for (const char* name : {"'[a,b]'", "-- '[a,b]'"}) {
    const Outcome run = testing::run_program({"/bin/sh", "-c", in_folder + name});
    EXPECT_EQ(run.exit_code, kExitOk) << run.err;
    EXPECT_THAT(run.out, HasSubstr("[a,b]: RMM log"));
  }
}

}  // namespace
}  // namespace ferry::cli
