// SPDX-License-Identifier: Apache-2.0
#include "front/cli/trace_selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "front/traces/temporary_folder.hpp"

namespace ferry::cli {
namespace {

using replay::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TraceSelection : public ::testing::Test {
 protected:
  void SetUp() override { unsetenv("FERRY_TRACE_DIR"); }
  void TearDown() override { unsetenv("FERRY_TRACE_DIR"); }

  static std::vector<std::string> paths(const std::vector<std::string>& named) {
    const auto files = select_traces(named);
    if (!files) {
      ADD_FAILURE() << files.error();
      return {};
    }
    std::vector<std::string> result;
    for (const SelectedFile& file : *files) {
      result.push_back((file.named ? "" : "found ") + file.path);
    }
    return result;
  }
  static std::string error_of(const std::vector<std::string>& named) {
    const auto files = select_traces(named);
    return files ? "no error" : files.error();
  }

  const TemporaryFolder folder_;
  const std::string base = folder_.path();
};

TEST_F(TraceSelection, FilesKeepTheirOrderWhetherTheyExistOrNot) {
  EXPECT_THAT(paths({"/no/b", "/no/a"}), ElementsAre("/no/b", "/no/a"));
}

TEST_F(TraceSelection, AFolderGivesItsFilesInOrderWithThoseBelow) {
  folder_.add("z.csv", "");
  folder_.add("deep/er/b.csv", "");
  folder_.add("a.csv", "");
  folder_.add(".hidden", "");
  folder_.add(".git/c.csv", "");
  std::filesystem::create_directory_symlink(base, base + "/circle");
  std::filesystem::create_symlink(base + "/a.csv", base + "/linked.csv");
  EXPECT_THAT(
      paths({"/no/first", base}),
      ElementsAre("/no/first", "found " + base + "/a.csv", "found " + base + "/deep/er/b.csv",
                  "found " + base + "/linked.csv", "found " + base + "/z.csv"));
}

TEST_F(TraceSelection, WithoutANameTheVariableCounts) {
  EXPECT_THAT(error_of({}), HasSubstr("a trace FILE is needed"));
  folder_.add("a.csv", "");
  setenv("FERRY_TRACE_DIR", base.c_str(), 1);
  EXPECT_THAT(paths({}), ElementsAre("found " + base + "/a.csv"));
  EXPECT_THAT(paths({"/no/b"}), ElementsAre("/no/b"));
  setenv("FERRY_TRACE_DIR", "/nonexistent", 1);
  EXPECT_EQ(error_of({}), "FERRY_TRACE_DIR: there is no folder /nonexistent.");
  setenv("FERRY_TRACE_DIR", "", 1);
  EXPECT_THAT(error_of({}), HasSubstr("a trace FILE is needed"));
}

TEST_F(TraceSelection, AnEmptyFolderIsAMistake) {
  EXPECT_EQ(error_of({base}), base + ": the folder holds no file.");
}

}  // namespace
}  // namespace ferry::cli
