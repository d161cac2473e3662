// SPDX-License-Identifier: Apache-2.0
#include "front/cli/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "front/cli/run_program.hpp"

namespace ferry::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Outcome;
using Environment = std::vector<std::string>;

Outcome doctor(const std::vector<std::string>& options, const Environment& environment = {}) {
  std::vector<std::string> arguments{FERRY_PROGRAM, "doctor"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return testing::run_program(std::move(arguments), environment);
}

TEST(Doctor, FindsEverythingOnTheStandIn) {
  const Outcome run = doctor({"--device", "sim"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("lib/sim/libcuda.so.1"), HasSubstr("not a GPU"),
                             HasSubstr("device 0"), HasSubstr("virtual memory"),
                             HasSubstr("Ferry can be used")));
  EXPECT_THAT(run.out, Not(HasSubstr("missing")));
  EXPECT_THAT(run.err, IsEmpty());
}

TEST(Doctor, TheVariableChoosesToo) {
  const Outcome run = doctor({}, {"FERRY_DRIVER=sim"});
  EXPECT_EQ(run.exit_code, 0) << run.out;
  EXPECT_THAT(run.out, HasSubstr("the stand-in was asked for"));
}

TEST(Doctor, JsonHoldsTheSame) {
  const Outcome run = doctor({"--json", "--device", "sim"}, {"FERRY_SIM=devices=2;capacity=24GiB"});
  EXPECT_EQ(run.exit_code, 0) << run.out;
  const nlohmann::json json = nlohmann::json::parse(run.out);
  EXPECT_TRUE(json["usable"].get<bool>());
  EXPECT_TRUE(json["driver"]["stand_in"].get<bool>());
  EXPECT_THAT(json["driver"]["missing_functions"], IsEmpty());
  ASSERT_EQ(json["devices"].size(), 2U);
  const nlohmann::json& device = json["devices"][1];
  EXPECT_EQ(device["ordinal"], 1);
  EXPECT_EQ(device["total_bytes"], std::uint64_t{24} << 30);
  EXPECT_EQ(device["findings"].size(), 4U);
  EXPECT_EQ(device["findings"][1]["subject"], "virtual memory");
  EXPECT_EQ(device["findings"][1]["ok"], true);
}

TEST(Doctor, WithoutAStandInSaysWhatToDo) {
  const Outcome run = doctor({"--device", "sim"}, {"FERRY_SIM_DIR=/nonexistent"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, AllOf(HasSubstr("FERRY_SIM_DIR=/nonexistent holds no libcuda.so.1"),
                             HasSubstr("Ferry cannot be used")));
  const Outcome json = doctor({"--device", "sim", "--json"}, {"FERRY_SIM_DIR=/nonexistent"});
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_TRUE(nlohmann::json::parse(json.out)["driver"].is_null());
}

TEST(Doctor, WhatToDoWithoutADriverIsARemedy) {
  const Outcome run = doctor({"--json", "--device", "/nonexistent/libcuda.so.1"});
  const nlohmann::json driver = nlohmann::json::parse(run.out)["findings"].at(0);
  EXPECT_EQ(driver["subject"], "driver");
  EXPECT_THAT(driver["detail"].get<std::string>(), HasSubstr("could not be loaded"));
  EXPECT_THAT(driver["remedy"].get<std::string>(),
              AllOf(HasSubstr("Check the path"), HasSubstr("ferry doctor --device sim")));
  const Outcome sim = doctor({"--json", "--device", "sim"}, {"FERRY_SIM_DIR=/nonexistent"});
  const nlohmann::json missing = nlohmann::json::parse(sim.out)["findings"].at(0);
  EXPECT_THAT(missing["remedy"].get<std::string>(),
              AllOf(HasSubstr("Correct the folder"), Not(HasSubstr("--device sim"))));
}

TEST(Doctor, NamesOfFilesMayHoldAnyBytes) {
  const Outcome run = doctor({"--json", "--device", "/tmp/\xff\x1b.so"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_FALSE(nlohmann::json::parse(run.out)["usable"].get<bool>());
  EXPECT_THAT(doctor({"--device", "/tmp/\x1b[31m.so"}).out, HasSubstr("/tmp/\\x1b[31m.so"));
}

TEST(Doctor, AStandInThatForgetsDataIsNoFault) {
  const Outcome run = doctor({"--device", "sim"}, {"FERRY_SIM=devices=2;data=none"});
  EXPECT_EQ(run.exit_code, 0) << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("device 1"), Not(HasSubstr("missing"))));
}

TEST(Doctor, DevicesThatCannotBeCountedAreNotNone) {
  const Outcome run = doctor({"--device", "sim"}, {"FERRY_SIM=fault=cuDeviceGetCount@1:999"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("could not be counted: "));
}

TEST(Doctor, WithNoDeviceVisibleNamesTheVariable) {
  const Outcome run = doctor({"--device", "sim"}, {"CUDA_VISIBLE_DEVICES="});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("CUDA_VISIBLE_DEVICES"));
}

TEST(Doctor, MisuseIsToldInJsonToo) {
  const Outcome run = doctor({"--json", "--device", "gpu"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(nlohmann::json::parse(run.out)["error"].get<std::string>(),
              HasSubstr("names no driver"));
}

TEST(Doctor, SettingsThatAreNotUnderstoodAreOneMessage) {
  const Outcome run = doctor({"--device", "sim"}, {"FERRY_SIM=foo=1"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("the stand-in does not understand FERRY_SIM: 'foo=1'"));
  EXPECT_THAT(run.err, IsEmpty());
}

TEST(Doctor, AFailureOfWhatIsNeededMakesTheMachineUnusable) {
  const Outcome run = doctor({"--device", "sim"}, {"FERRY_SIM=fault=cuMemCreate@1:2"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, AllOf(HasSubstr("out of memory (cuMemCreate: CUDA error 2, "),
                             HasSubstr("Free memory"), HasSubstr("Ferry cannot be used")));
}

TEST(Doctor, AFailureOfWhatIsNotNeededDoesNot) {
  const Outcome run = doctor({"--device", "sim"}, {"FERRY_SIM=fault=cuCtxRecordEvent@1:801"});
  EXPECT_EQ(run.exit_code, 0) << run.out;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("missing"), HasSubstr("CUDA 12.5"), HasSubstr("Ferry can be used")));
}

TEST(Doctor, OneGoodDeviceIsEnough) {
  const Outcome run = doctor({"--device", "sim"}, {"FERRY_SIM=devices=2;fault=cuMemCreate@1:2"});
  EXPECT_EQ(run.exit_code, 0) << run.out;
  EXPECT_THAT(run.out, HasSubstr("out of memory"));
}

// A driver without devices, found by the loader as a real one would be.
const std::string kFakeFirst = "LD_LIBRARY_PATH=" FAKE_FOLDER;

TEST(Doctor, ADriverWithoutDevicesIsExplained) {
  for (const char* device : {"auto", "cuda"}) {
    const Outcome run = doctor({"--device", device}, {kFakeFirst, "FAKE_DEVICES=0"});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.out, AllOf(HasSubstr(FAKE_FOLDER), HasSubstr("CUDA_VISIBLE_DEVICES")))
        << device;
  }
}

TEST(Doctor, ADriverThatDoesNotStartIsExplained) {
  const Outcome run = doctor({}, {kFakeFirst, "FERRY_DRIVER", "FAKE_INIT=100"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, AllOf(HasSubstr("did not start"), HasSubstr("CUDA error 100"),
                             HasSubstr("FERRY_DRIVER=sim")));
}

TEST(Doctor, ADeviceWithoutVirtualMemoryIsNotUsable) {
  const Outcome run = doctor({}, {kFakeFirst, "FERRY_DRIVER"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("Ferry needs a device with virtual memory management."));
}

TEST(Doctor, ADriverThatLacksWhatIsOptionalIsUsed) {
  const Outcome run = doctor({}, {kFakeFirst, "FERRY_DRIVER", "FAKE_MISSING=cuCtxRecordEvent"});
  EXPECT_THAT(run.out, HasSubstr("not in this driver: cuCtxRecordEvent (CUDA 12.5)"));
}

}  // namespace
}  // namespace ferry::cli
