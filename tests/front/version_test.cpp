// SPDX-License-Identifier: Apache-2.0
#include "front/version.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "ferry/ferry.h"
#include "front/cli/run_program.hpp"

namespace ferry {
namespace {

TEST(Version, NumberIsThatOfTheHeader) {
  const std::string header = std::to_string(FERRY_VERSION_MAJOR) + "." +
                             std::to_string(FERRY_VERSION_MINOR) + "." +
                             std::to_string(FERRY_VERSION_PATCH);
  EXPECT_EQ(version_number(), header);
}

TEST(Version, TextNamesCommitBuildAndCompiler) {
  const std::regex form(
      R"(\d+\.\d+\.\d+ \(commit (unknown|[0-9a-f]{12,40}(\+dirty)?), [A-Za-z]+, \w+ [0-9.]+\))");
  EXPECT_TRUE(std::regex_match(version_text(), form)) << version_text();
  EXPECT_EQ(std::string(version_text()).find(version_number()), 0U);
}

// What commit.cmake writes about a source folder.
class CommitHeader : public ::testing::Test {
 protected:
  void SetUp() override {
    source_ = std::filesystem::path(::testing::TempDir()) / "ferry_commit_header";
    std::filesystem::remove_all(source_);
    std::filesystem::create_directories(source_);
    write("file", "first");
  }
  void TearDown() override { std::filesystem::remove_all(source_); }

  void write(const char* name, const char* text) { std::ofstream(source_ / name) << text; }

  void git(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"/usr/bin/env", "git", "-C", source_, "-c", "user.name=a",
                                         "-c", "user.email=a@b", "-c", "core.hooksPath=/dev/null"});
    const testing::Outcome run = testing::run_program(std::move(arguments));
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }

  std::string commit() {
    const testing::Outcome run =
        testing::run_program({CMAKE_PROGRAM, "-D", "SOURCE=" + source_.string(), "-D",
                              "OUTPUT=" + header().string(), "-P", COMMIT_SCRIPT});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    std::ostringstream text;
    text << std::ifstream(header()).rdbuf();
    std::smatch match;
    const std::string content = text.str();
    const std::regex form("#define FERRY_COMMIT \"(.*)\"\n");
    return std::regex_match(content, match, form) ? match[1].str() : "not understood: " + content;
  }

  [[nodiscard]] std::filesystem::path header() const { return source_ / "header" / "commit.hpp"; }

  std::filesystem::path source_;
};

TEST_F(CommitHeader, AFolderThatIsNoCheckoutIsUnknown) {
  EXPECT_EQ(commit(), "unknown");
}

TEST_F(CommitHeader, ACheckoutWithoutCommitsIsUnknown) {
  git({"init", "-q"});
  EXPECT_EQ(commit(), "unknown");
}

TEST_F(CommitHeader, FollowsCommitsAndChanges) {
  git({"init", "-q"});
  git({"add", "file"});
  git({"commit", "-q", "-m", "one"});
  const std::string first = commit();
  EXPECT_TRUE(std::regex_match(first, std::regex("[0-9a-f]{12}"))) << first;

  const auto written = std::filesystem::last_write_time(header());
  EXPECT_EQ(commit(), first);
  EXPECT_EQ(std::filesystem::last_write_time(header()), written) << "would rebuild for nothing";

  write("file", "second");
  EXPECT_EQ(commit(), first + "+dirty");
  git({"commit", "-q", "-a", "-m", "two"});
  const std::string second = commit();
  EXPECT_TRUE(std::regex_match(second, std::regex("[0-9a-f]{12}"))) << second;
  EXPECT_NE(second, first);
}

}  // namespace
}  // namespace ferry
