// SPDX-License-Identifier: Apache-2.0
// What programs find is tested with `ferry sim run` (sim_command_test.cpp); here what no command
// shows.
#include "front/cli/stand_in_program.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "front/cli/run_program.hpp"

namespace ferry::cli {
namespace {

// The exit code of a child that becomes the program.
int exit_of(const StandInProgram& program) {
  const pid_t child = fork();
  if (child == 0) _exit(exec_on_stand_in(program));
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(StandInProgram, BecomesTheProgramWithItsArguments) {
  StandInProgram program;
  program.program = {"sh", "-c", "exit $0", "7"};
  EXPECT_EQ(exit_of(program), 7);
}

TEST(StandInProgram, ReturnsWhereThereIsNoSuchProgramAndWhereSettingsAreWrong) {
  StandInProgram program;
  program.program = {"/nonexistent/program"};
  EXPECT_EQ(exit_of(program), 127);
  program.program = {"true"};
  program.machine.emplace_back("capacity", "much");
  EXPECT_EQ(exit_of(program), 2);
}

TEST(StandInProgram, NamesTheLibraryForBackendFerryUnlessThatWasDone) {
  const testing::ScratchFile file;
  StandInProgram program;
  program.program = {"sh", "-c", "echo \"$FERRY_LIBRARY\" > " + file.path()};
  unsetenv("FERRY_LIBRARY");
  ASSERT_EQ(exit_of(program), 0);
  EXPECT_THAT(file.content(), ::testing::HasSubstr("/libferry.so"));
  setenv("FERRY_LIBRARY", "/mine.so", 1);
  ASSERT_EQ(exit_of(program), 0);
  EXPECT_EQ(file.content(), "/mine.so\n");
  unsetenv("FERRY_LIBRARY");
}

}  // namespace
}  // namespace ferry::cli
