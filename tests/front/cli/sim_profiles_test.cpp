// SPDX-License-Identifier: Apache-2.0
#include "front/cli/sim_profiles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "front/cli/run_program.hpp"

namespace ferry::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Outcome;

Outcome sim(const std::vector<std::string>& arguments,
            const std::vector<std::string>& environment = {}) {
  std::vector<std::string> line{FERRY_PROGRAM, "sim"};
  line.insert(line.end(), arguments.begin(), arguments.end());
  return testing::run_program(std::move(line), environment);
}

TEST(SimList, OneLineForEachProfile) {
  const Outcome run = sim({"list"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 4);
  for (const char* name : {"a100-pcie4", "gh200-c2c", "h100-pcie5-2socket", "h200-pcie5"})
    EXPECT_THAT(run.out, ContainsRegex(std::string("(^|\n)") + name + " +One ")) << name;
}

TEST(SimList, JsonHasWhatAProgramNeeds) {
  const Outcome run = sim({"list", "--json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto list = nlohmann::json::parse(run.out);
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[0].at("name"), "a100-pcie4");
  EXPECT_EQ(list[0].at("device"), "NVIDIA A100 80GB PCIe");
  EXPECT_TRUE(std::filesystem::exists(list[0].at("path").get<std::string>()));
}

TEST(SimList, NeedsAStandIn) {
  const Outcome run = sim({"list"}, {"FERRY_SIM_DIR=/nonexistent"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("the stand-in was not found"));
}

TEST(SimShow, EveryFigureWithItsSource) {
  const Outcome run = sim({"show", "h200-pcie5"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Modelled, not measured"));
  EXPECT_THAT(run.out, ContainsRegex("link\\.to_device +55400 MB/s +read +DeepSpeed#8283"));
  EXPECT_THAT(run.out, ContainsRegex("device\\.name +NVIDIA H200 +inferred"));
  EXPECT_THAT(run.out, ContainsRegex("calls\\.batch_each +520 ns +inferred"));
}

TEST(SimShow, JsonIsTheFile) {
  const Outcome run = sim({"show", "a100-pcie4", "--json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto profile = nlohmann::json::parse(run.out);
  EXPECT_EQ(profile.at("name"), "a100-pcie4");
  EXPECT_EQ(profile.at("link").at("to_device").at("value"), 24800);
}

TEST(SimShow, AnUnknownNameIsRefusedWithTheList) {
  const Outcome run = sim({"show", "h300"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err, AllOf(HasSubstr("\"h300\""), HasSubstr("a100-pcie4, gh200-c2c")));
}

TEST(SimShow, AFileByItsPath) {
  EXPECT_EQ(sim({"show", "/nonexistent.json"}).exit_code, 2);
  EXPECT_EQ(sim({"show", "/"}).exit_code, 2) << "a folder";
  const auto list = nlohmann::json::parse(sim({"list", "--json"}).out);
  const Outcome run = sim({"show", list[1].at("path").get<std::string>()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("gh200-c2c: "));
}

TEST(SimShow, AFileIsRefusedAsItIsWhereItWouldCount) {
  const testing::ScratchFile file;
  std::ofstream(file.path()) << "{}";
  const std::string refusal =
      "the profile " + file.path() + " is not valid: \"name\" is missing.\n";
  for (const char* const form : {"", "--json"}) {
    std::vector<std::string> line{"show", file.path()};
    if (*form != '\0') line.emplace_back(form);
    const Outcome show = sim(line, {"FERRY_SIM=devices=many"});
    EXPECT_EQ(show.exit_code, 2);
    EXPECT_THAT(show.out, IsEmpty());
    EXPECT_EQ(show.err, "ferry: " + refusal);
  }
  const Outcome run = sim({"run", "--settings", "profile=" + file.path(), "--", "true"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err, "ferry: the stand-in does not understand --settings: " + refusal);
  const Outcome variable = sim({"run", "--", "true"}, {"FERRY_SIM=profile=" + file.path()});
  EXPECT_EQ(variable.err, "ferry: the stand-in does not understand FERRY_SIM: " + refusal);
}

TEST(SimRunWithProfile, AnUnknownOneIsRefusedWithTheList) {
  const Outcome run = sim({"run", "--settings", "profile=h300", "--", "true"});
  EXPECT_EQ(run.exit_code, 2) << "before the program starts";
  EXPECT_THAT(run.err, AllOf(HasSubstr("'h300'"), HasSubstr("h100-pcie5-2socket")));
}

}  // namespace
}  // namespace ferry::cli
