// SPDX-License-Identifier: Apache-2.0
#include "front/cli/cli.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "front/cli/run_program.hpp"
#include "front/version.hpp"

namespace ferry::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Outcome;

Outcome ferry_with(std::vector<std::string> arguments,
                   const std::vector<std::string>& environment = {}) {
  arguments.insert(arguments.begin(), FERRY_PROGRAM);
  return testing::run_program(std::move(arguments), environment);
}

TEST(Cli, VersionIsOneLine) {
  const Outcome run = ferry_with({"--version"});
  EXPECT_EQ(run.exit_code, kExitOk);
  EXPECT_EQ(run.out, std::string("ferry ") + version_text() + "\n");
  EXPECT_THAT(run.err, IsEmpty());
}

TEST(Cli, HelpNamesCommandsVariablesAndExitCodes) {
  const Outcome run = ferry_with({"--help"});
  EXPECT_EQ(run.exit_code, kExitOk);
  for (const char* word : {"doctor", "sim", "FERRY_DRIVER", "FERRY_SIM", "Exit codes"}) {
    EXPECT_THAT(run.out, HasSubstr(word));
  }
}

struct Misuse {
  std::vector<std::string> arguments;
  const char* says;
  const char* help = "ferry --help";
};

class CliMisuse : public ::testing::TestWithParam<Misuse> {};

INSTANTIATE_TEST_SUITE_P(
    Lines, CliMisuse,
    ::testing::Values(
        Misuse{{}, "a command is needed: doctor, compare, replay and sim"},
        Misuse{{"frobnicate"},
               "there is no command \"frobnicate\", but doctor, compare, replay and sim"},
        Misuse{{"--frobnicate"}, "there is no option \"--frobnicate\""},
        Misuse{{"doctor", "--frobnicate"}, "--frobnicate", "ferry doctor --help"},
        Misuse{{"doctor", "surplus"}, "surplus", "ferry doctor --help"},
        Misuse{{"doctor", "--device"}, "--device", "ferry doctor --help"},
        Misuse{{"replay", "--frobnicate"}, "--frobnicate", "ferry replay --help"},
        Misuse{{"replay", "--costs"}, "--costs", "ferry replay --help"},
        Misuse{{"sim"}, "a command is needed: path, run, list and show", "ferry sim --help"},
        Misuse{{"sim", "frob", "x"},
               "there is no command \"frob\", but path, run, list and show",
               "ferry sim --help"},
        Misuse{{"sim", "--frob"}, "there is no option \"--frob\"", "ferry sim --help"},
        Misuse{{"sim", "run"}, "program is required", "ferry sim run --help"}));

TEST_P(CliMisuse, IsOneSentenceAndExitCodeTwo) {
  const Outcome run = ferry_with(GetParam().arguments);
  EXPECT_EQ(run.exit_code, kExitUsage);
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err, HasSubstr(GetParam().says));
  EXPECT_TRUE(run.err.starts_with("ferry: ")) << run.err;
  EXPECT_TRUE(run.err.ends_with(std::string("; see ") + GetParam().help + ".\n")) << run.err;
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1);
}

TEST(Cli, AMistakeBesideJsonIsToldInJsonToo) {
  for (const char* command : {"doctor", "replay"}) {
    for (const std::vector<std::string>& rest : std::vector<std::vector<std::string>>{
             {"--json", "--frobnicate"}, {"--frobnicate", "--json"}}) {
      std::vector<std::string> line{command};
      line.insert(line.end(), rest.begin(), rest.end());
      const Outcome run = ferry_with(line);
      EXPECT_EQ(run.exit_code, kExitUsage);
      EXPECT_THAT(nlohmann::json::parse(run.out)["error"].get<std::string>(),
                  HasSubstr("--frobnicate"));
    }
  }
  EXPECT_THAT(ferry_with({"replay", "--frobnicate", "--", "--json"}).out, IsEmpty());
}

TEST(Cli, OutputThatIsLostIsAFailure) {
  for (const char* line : {"doctor --device sim", "doctor --device sim --json", "sim path",
                           "--version", "--help", "replay --help"}) {
    for (const char* lost : {" > /dev/full", " >&-"}) {
      const Outcome run =
          testing::run_program({"/bin/sh", "-c", std::string(FERRY_PROGRAM) + " " + line + lost});
      EXPECT_EQ(run.exit_code, kExitFailure) << line << lost;
      EXPECT_THAT(run.err, HasSubstr("the standard output could not be written")) << line << lost;
    }
  }
}

TEST(Cli, AMessageIsOneLineWhateverANameHolds) {
  const Outcome run = ferry_with({"replay", "/no/\x1b[31m\nx"});
  EXPECT_EQ(run.err, "ferry: /no/\\x1b[31m\\x0ax does not exist\n");
  EXPECT_THAT(run.out, HasSubstr("\\x1b[31m\\x0ax: not replayed\n"));
}

TEST(Cli, ADriverThatIsNoneIsMisuse) {
  const Outcome option = ferry_with({"doctor", "--device", "gpu"});
  EXPECT_EQ(option.exit_code, kExitUsage);
  EXPECT_THAT(option.err, HasSubstr("--device: \"gpu\" names no driver"));
  const Outcome variable = ferry_with({"doctor"}, {"FERRY_DRIVER=gpu"});
  EXPECT_EQ(variable.exit_code, kExitUsage);
  EXPECT_THAT(variable.err, HasSubstr("FERRY_DRIVER: \"gpu\" names no driver"));
}

TEST(Cli, TheOptionOutranksTheVariable) {
  EXPECT_EQ(driver_choice("sim").value().kind, DriverChoice::Kind::sim);
  const Outcome run =
      ferry_with({"doctor", "--device", "/nonexistent/libcuda.so.1"}, {"FERRY_DRIVER=gpu"});
  EXPECT_EQ(run.exit_code, kExitFailure);
  EXPECT_THAT(run.out, HasSubstr("/nonexistent/libcuda.so.1"));
}

}  // namespace
}  // namespace ferry::cli
