// SPDX-License-Identifier: Apache-2.0
#include "front/report/output_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace ferry::replay {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OutputFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "ferry_output_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static std::string content(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

  fs::path folder_;
};

TEST_F(OutputFile, WritesANewOneWithTheUsualRights) {
  const mode_t mask = umask(027);
  EXPECT_EQ(write_file(path("a"), "text"), "");
  umask(mask);
  EXPECT_EQ(content(path("a")), "text");
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(fs::status(path("a")).permissions(), static_cast<fs::perms>(0640));
}

TEST_F(OutputFile, ReplacesAndKeepsRights) {
  EXPECT_EQ(write_file(path("a"), "old and longer"), "");
  fs::permissions(path("a"), static_cast<fs::perms>(0600));
  EXPECT_EQ(write_file(path("a"), "new"), "");
  EXPECT_EQ(content(path("a")), "new");
  EXPECT_EQ(fs::status(path("a")).permissions(), static_cast<fs::perms>(0600));
  EXPECT_EQ(files(), 1U);
}

TEST_F(OutputFile, FollowsLinksAndKeepsThem) {
  EXPECT_EQ(write_file(path("real"), "old"), "");
  fs::create_symlink("real", path("link"));
  EXPECT_EQ(write_file(path("link"), "new"), "");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("real")), "new");
}

TEST_F(OutputFile, WritesMuch) {
  const std::string much(5'000'000, 'x');
  EXPECT_EQ(write_file(path("a"), much), "");
  EXPECT_EQ(content(path("a")), much);
}

TEST_F(OutputFile, ExplainsWhatItCannotDo) {
  EXPECT_THAT(write_file(path("no/such/folder"), "x"), HasSubstr("No such file or directory"));
  EXPECT_EQ(write_file(folder_.string(), "x"), "it is a folder.");
  EXPECT_EQ(write_file(path("a"), "text"), "");
  EXPECT_THAT(write_file(path("a/b"), "x"), HasSubstr("Not a directory"));
  EXPECT_EQ(content(path("a")), "text");
  EXPECT_EQ(files(), 1U);
}

TEST_F(OutputFile, AFullDeviceIsToldAndStaysWhatItIs) {
  EXPECT_THAT(write_file("/dev/full", "x"), HasSubstr("No space left on device"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_EQ(write_file("/dev/null", "x"), "");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

// A limit on file sizes stands for the full disk. It cannot be taken back, so the process ends.
[[noreturn]] void write_with_little_room(const std::string& path) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = 1000, .rlim_max = 1000};
  setrlimit(RLIMIT_FSIZE, &limit);
  const std::string trouble = write_file(path, std::string(5000, 'x'));
  std::_Exit(trouble.starts_with("it could not be written: ") ? 7 : 1);
}

TEST_F(OutputFile, AFullDiskLeavesTheOldFileAndNoOther) {
  EXPECT_EQ(write_file(path("a"), "old"), "");
  EXPECT_EXIT(write_with_little_room(path("a")), ::testing::ExitedWithCode(7), "");
  EXPECT_EQ(content(path("a")), "old");
  EXPECT_EQ(files(), 1U);
}

// Root may write everywhere, so somebody else tries.
[[noreturn]] void write_as_nobody(const std::string& path) {
  if (geteuid() == 0 && seteuid(65534) != 0) std::_Exit(1);
  const bool possible = write_trouble(path).empty();
  std::_Exit(possible && write_file(path, "new").empty() ? 7 : 2);
}

TEST_F(OutputFile, AFileInAFolderThatCannotBeWrittenIsWrittenInPlace) {
  EXPECT_EQ(write_file(path("a"), "old and longer"), "");
  fs::permissions(path("a"), static_cast<fs::perms>(0666));
  fs::permissions(folder_, static_cast<fs::perms>(0555));
  EXPECT_EXIT(write_as_nobody(path("a")), ::testing::ExitedWithCode(7), "");
  EXPECT_EXIT(write_as_nobody(path("b")), ::testing::ExitedWithCode(2), "");
  fs::permissions(folder_, static_cast<fs::perms>(0755));
  EXPECT_EQ(content(path("a")), "new");
}

TEST_F(OutputFile, TroubleIsForeseenAndNothingIsLeftBehind) {
  EXPECT_EQ(write_trouble(path("a")), "");
  EXPECT_EQ(files(), 0U);
  EXPECT_EQ(write_file(path("a"), "text"), "");
  EXPECT_EQ(write_trouble(path("a")), "");
  EXPECT_EQ(content(path("a")), "text");
  EXPECT_EQ(write_trouble(folder_.string()), "it is a folder.");
  EXPECT_EQ(write_trouble("/dev/null"), "");
  EXPECT_THAT(write_trouble(path("no/such/folder")), HasSubstr("No such file or directory"));
}

TEST_F(OutputFile, AStreamThatTakesNothingIsTold) {
  std::FILE* const full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  EXPECT_THAT(write_stream(full, "x"), HasSubstr("No space left on device"));
  std::fclose(full);
  std::FILE* const file = std::fopen(path("a").c_str(), "w");
  EXPECT_EQ(write_stream(file, "text"), "");
  EXPECT_EQ(content(path("a")), "text");  // flushed already
  std::fclose(file);
}

}  // namespace
}  // namespace ferry::replay
