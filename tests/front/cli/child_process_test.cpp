// SPDX-License-Identifier: Apache-2.0
#include "front/cli/child_process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace ferry::cli {
namespace {

TEST(ScratchFolder, IsThereAndThenGoneWithWhatIsInIt) {
  std::string path;
  {
    const ScratchFolder folder;
    path = folder.path();
    std::ofstream(path + "/file") << "text";
    EXPECT_TRUE(std::filesystem::exists(path + "/file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(StatusOf, IsTheExitCodeOrTheSignal) {
  const pid_t ends = fork();
  if (ends == 0) _exit(7);
  EXPECT_EQ(status_of(ends), 7);
  const pid_t killed = fork();
  if (killed == 0) {
    raise(SIGKILL);
    _exit(0);
  }
  EXPECT_EQ(status_of(killed), 128 + SIGKILL);
}

}  // namespace
}  // namespace ferry::cli
