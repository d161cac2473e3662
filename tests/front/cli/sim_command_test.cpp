// SPDX-License-Identifier: Apache-2.0
#include "front/cli/sim_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "driver/driver_choice.hpp"
#include "front/cli/run_program.hpp"
#include "front/traces/files.hpp"

namespace ferry::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Outcome;
using Environment = std::vector<std::string>;

Outcome sim(const std::vector<std::string>& arguments, const Environment& environment = {}) {
  std::vector<std::string> line{FERRY_PROGRAM, "sim"};
  line.insert(line.end(), arguments.begin(), arguments.end());
  return testing::run_program(std::move(line), environment);
}

// Matches where `env` printed exactly this line.
auto has_line(const std::string& line) {
  return ::testing::ContainsRegex("(^|\n)" + line + "\n");
}

TEST(SimPath, PrintsTheFolderAndNothingElse) {
  const Outcome run = sim({"path"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, stand_in_folder() + "\n");
  EXPECT_THAT(run.out, Not(IsEmpty()));
}

TEST(SimPath, SaysSoWhereThereIsNone) {
  const Outcome run = sim({"path"}, {"FERRY_SIM_DIR=/nonexistent"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err, HasSubstr("the stand-in was not found"));
}

TEST(SimRun, PointsEveryWayToTheStandIn) {
  const Outcome run = sim({"run", "--settings", "devices=3", "--", "env"},
                          {"LD_LIBRARY_PATH=/some/folder", "LD_PRELOAD", "FERRY_DRIVER=cuda"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::string folder = stand_in_folder();
  EXPECT_THAT(run.out, has_line("LD_LIBRARY_PATH=" + folder + ":/some/folder"));
  EXPECT_THAT(run.out,
              has_line("LD_PRELOAD=" + folder + "/libcuda.so.1:" + folder + "/libcudart.so.13"));
  EXPECT_THAT(run.out, has_line("PYTHONPATH=" + folder + "/python"));
  EXPECT_THAT(run.out, has_line("FERRY_DRIVER=sim"));
  EXPECT_THAT(run.out, has_line("USE_PYTORCH_KERNEL_CACHE=0"));
  EXPECT_THAT(run.out, has_line("FERRY_SIM=devices=3"));
}

TEST(SimRun, KeepsSettingsThatWereThere) {
  const Outcome run = sim({"run", "--", "env"}, {"FERRY_SIM=devices=4", "LD_LIBRARY_PATH"});
  EXPECT_THAT(run.out, has_line("FERRY_SIM=devices=4"));
  EXPECT_THAT(run.out, has_line("LD_LIBRARY_PATH=" + stand_in_folder()));
}

TEST(SimRun, SettingsTakeThePlaceOfTheVariableAndSaySo) {
  const Outcome run =
      sim({"run", "--settings", "capacity=1GiB", "--", "env"}, {"FERRY_SIM=devices=4;seed=\x1b"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, has_line("FERRY_SIM=capacity=1GiB"));
  EXPECT_EQ(run.err,
            "ferry: FERRY_SIM is set to \"devices=4;seed=\\x1b\" and not heeded: --settings counts "
            "alone.\n");
  const Outcome none = sim({"run", "--settings", "", "--", "env"}, {"FERRY_SIM=devices=4"});
  EXPECT_THAT(none.out, has_line("FERRY_SIM="));
  EXPECT_THAT(none.err, HasSubstr("\"devices=4\" and not heeded"));
  for (const char* const nothing_lost : {"FERRY_SIM", "FERRY_SIM=", "FERRY_SIM=devices=2"})
    EXPECT_THAT(sim({"run", "--settings", "devices=2", "--", "env"}, {nothing_lost}).err,
                IsEmpty());
  EXPECT_THAT(sim({"run", "--help"}).out, HasSubstr("the place of those in FERRY_SIM"));
}

TEST(SimRun, OptionsOfTheMachineAreSettings) {
  EXPECT_THAT(
      sim({"run", "--gpu", "h200-pcie5", "--capacity", "24GiB", "--devices", "2", "--", "env"},
          {"FERRY_SIM"})
          .out,
      has_line("FERRY_SIM=profile=h200-pcie5;capacity=24GiB;devices=2"));
  EXPECT_THAT(sim({"run", "--devices", "2", "--", "env"}, {"FERRY_SIM=seed=3"}).out,
              has_line("FERRY_SIM=seed=3;devices=2"));
  const Outcome twice = sim({"run", "--devices", "2", "--settings", "devices=3", "--", "env"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, HasSubstr("devices only once"));
  EXPECT_EQ(sim({"run", "--gpu", "nothing", "--", "env"}).exit_code, 2);
}

TEST(SimCommand, ValuesAreThoseOfTheOptionOrOfTheEnvironment) {
  EXPECT_THAT(sim({"run", "--values", "cpu", "--", "env"}).out, has_line("FERRY_SIM_VALUES=cpu"));
  EXPECT_THAT(sim({"run", "--values", "off", "--", "env"}, {"FERRY_SIM_VALUES=cpu"}).out,
              has_line("FERRY_SIM_VALUES=off"));
  EXPECT_THAT(sim({"run", "--", "env"}, {"FERRY_SIM_VALUES=cpu"}).out,
              has_line("FERRY_SIM_VALUES=cpu"));
  const Outcome wrong = sim({"run", "--values", "gpu", "--", "env"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("off"));
}

TEST(SimRun, PassesArgumentsAndExitCodeThrough) {
  const Outcome run =
      sim({"run", "--", "sh", "-c", "echo \"$0 $1\"; exit 7", "--one", "two words"});
  EXPECT_EQ(run.exit_code, 7);
  EXPECT_EQ(run.out, "--one two words\n");
}

TEST(SimRun, PassesWordsInBracketsOn) {
  const Outcome run = sim({"run", "--", "echo", "[1,2]", "[]", "--", "{\"a\":1}"});
  EXPECT_EQ(run.out, "[1,2] [] -- {\"a\":1}\n");
}

TEST(SimRun, WantsTheProgramAfterDashesAndShowsTheLine) {
  const Outcome run = sim({"run", "./upload", "--forget-wait", "it's", ""});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err,
            "ferry: -- is missing before the program: ferry sim run -- ./upload --forget-wait "
            "'it'\\''s' ''; see ferry sim run --help.\n");
  const Outcome with = sim({"run", "--no-preload", "--settings", "seed=1;devices=2", "env"});
  EXPECT_THAT(with.err,
              HasSubstr(": ferry sim run --settings 'seed=1;devices=2' --no-preload -- env;"));
  EXPECT_EQ(with.exit_code, 2);
  EXPECT_EQ(sim({"path", "--", "env"}).exit_code, 2);
}

TEST(SimRun, WordsBeforeTheDashesAreNoProgram) {
  const Outcome option = sim({"run", "--setings", "seed=1", "--", "env"});
  EXPECT_EQ(option.exit_code, 2);
  EXPECT_THAT(option.out, IsEmpty());
  EXPECT_THAT(option.err, HasSubstr("there is no option \"--setings\"; see ferry sim run"));
  const Outcome word = sim({"run", "seed=1", "--", "env"});
  EXPECT_EQ(word.exit_code, 2);
  EXPECT_THAT(word.err, HasSubstr("\"seed=1\" stands before --"));
}

TEST(SimRun, TheHelpExplainsTheExitCodes) {
  const Outcome help = sim({"run", "--help"});
  for (const char* const code : {"66 where", "hazards=off", "126, 127"})
    EXPECT_THAT(help.out, HasSubstr(code));
}

TEST(SimRun, AFolderThatCannotBePreloadedIsNamed) {
  const std::string folder = ::testing::TempDir() + "ferry stand in " + std::to_string(getpid());
  std::filesystem::create_directory_symlink(stand_in_folder(), folder);
  const Outcome run = sim({"run", "--", "env"}, {"FERRY_SIM_DIR=" + folder});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("LD_PRELOAD cannot name a path with blanks"));
  EXPECT_EQ(sim({"run", "--no-preload", "--", "env"}, {"FERRY_SIM_DIR=" + folder}).exit_code, 0);
  std::filesystem::remove(folder);
}

TEST(SimRun, AScriptWithoutItsInterpreterIsThere) {
  const replay::testing::TemporaryFile script("#!/nonexistent/shell\n", "script");
  std::filesystem::permissions(script.path(), std::filesystem::perms::owner_all);
  const Outcome run = sim({"run", "--", script.path()});
  EXPECT_EQ(run.exit_code, 126);
  EXPECT_THAT(run.err, HasSubstr("the interpreter that it names is missing"));
}

TEST(SimRun, TheDevelopmentNameOfTheDriverIsThereToo) {
  EXPECT_TRUE(std::filesystem::exists(stand_in_folder() + "/libcuda.so"));
}

TEST(SimRun, ReachesProgramsThatBringASearchPathOfTheirOwn) {
  const Outcome alone = testing::run_program({WHICH_DRIVER});
  EXPECT_EQ(alone.out, FAKE_FOLDER "/libcuda.so.1\n");
  const Outcome run = sim({"run", "--", WHICH_DRIVER});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, stand_in_folder() + "/libcuda.so.1\n");
  const Outcome path_only = sim({"run", "--no-preload", "--", WHICH_DRIVER});
  EXPECT_EQ(path_only.out, FAKE_FOLDER "/libcuda.so.1\n");
}

TEST(SimRun, FerryItselfFollows) {
  const Outcome run = sim({"run", "--settings", "devices=2", "--", FERRY_PROGRAM, "doctor"});
  EXPECT_EQ(run.exit_code, 0) << run.out;
  EXPECT_THAT(run.out, HasSubstr("device 1"));
}

TEST(SimRun, AProgramThatIsNotThereIsCode127) {
  const Outcome run = sim({"run", "--", "/nonexistent/program"});
  EXPECT_EQ(run.exit_code, 127);
  EXPECT_EQ(run.err, "ferry: there is no program \"/nonexistent/program\".\n");
}

TEST(SimRun, AProgramThatCannotBeExecutedIsCode126) {
  const Outcome run = sim({"run", "--", "/"});
  EXPECT_EQ(run.exit_code, 126);
  EXPECT_THAT(run.err, HasSubstr("\"/\" could not be started"));
}

TEST(SimRun, NeedsAStandIn) {
  const Outcome run = sim({"run", "--", "env"}, {"FERRY_SIM_DIR=/nonexistent"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err, HasSubstr("the stand-in was not found"));
}

}  // namespace
}  // namespace ferry::cli
