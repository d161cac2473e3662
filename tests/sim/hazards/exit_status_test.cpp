// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/exit_status.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace ferry::sim {
namespace {

// In a process of its own: has that many hazards.
void have_hazards(int hazards) {
  auto* const log = new HazardLog();
  watch_exit_status(*log);
  Toucher copy;
  copy.symbol = Symbol::cuMemcpyAsync;
  for (int i = 0; i < hazards; ++i)
    log->add(pair_of_changed_memory(copy), [] { return std::string("hazard: x\n"); });
}

[[noreturn]] void end_with(int status, int hazards) {
  have_hazards(hazards);
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
        have_hazards(1);
        const pid_t child = fork();
        if (child == 0) std::exit(0);
        int status = -1;
        if (waitpid(child, &status, 0) != child) _exit(2);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 3);
      },
      testing::ExitedWithCode(0), "hazard: x");
}

TEST_F(ExitStatusDeathTest, RepeatsAreSaidWhateverTheStatus) {
  EXPECT_EXIT(end_with(0, 15), testing::ExitedWithCode(66), "hazard: x\nferry-sim: 14 more");
  EXPECT_EXIT(end_with(7, 15), testing::ExitedWithCode(7), "hazard: x\nferry-sim: 14 more");
}

}  // namespace
}  // namespace ferry::sim
