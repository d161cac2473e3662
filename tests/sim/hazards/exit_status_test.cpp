// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/exit_status.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace ferry::sim {
namespace {

// In a process of its own: ends with `status` after `hazards` hazards.
[[noreturn]] void end_with(int status, int hazards) {
  auto* const log = new HazardLog();
  watch_exit_status(*log);
  for (int i = 0; i < hazards; ++i) log->add("hazard: x\n");
  std::exit(status);
}

class ExitStatusDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ExitStatusDeathTest, SuccessWithHazardsIs66) {
  EXPECT_EXIT(end_with(0, 1), testing::ExitedWithCode(66), "hazard: x");
}

TEST_F(ExitStatusDeathTest, SuccessWithoutStaysSuccess) {
  EXPECT_EXIT(end_with(0, 0), testing::ExitedWithCode(0), "");
}

TEST_F(ExitStatusDeathTest, AFailureKeepsItsStatus) {
  EXPECT_EXIT(end_with(7, 1), testing::ExitedWithCode(7), "hazard: x");
}

TEST_F(ExitStatusDeathTest, AChildDoesNotAnswerForItsParent) {
  EXPECT_EXIT(
      {
        auto* const log = new HazardLog();
        watch_exit_status(*log);
        log->add("hazard: x\n");
        const pid_t child = fork();
        if (child == 0) std::exit(0);
        int status = -1;
        if (waitpid(child, &status, 0) != child) _exit(2);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 3);
      },
      testing::ExitedWithCode(0), "hazard: x");
}

}  // namespace
}  // namespace ferry::sim
