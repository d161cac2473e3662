// SPDX-License-Identifier: Apache-2.0
#include "driver/driver_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "driver/scoped_variable.hpp"

namespace ferry {
namespace {

using ::testing::HasSubstr;
using testing::ScopedVariable;
using Kind = DriverChoice::Kind;
namespace fs = std::filesystem;

TEST(DriverChoice, ReadsEveryForm) {
  EXPECT_EQ(DriverChoice::parse("auto").value().kind, Kind::automatic);
  EXPECT_EQ(DriverChoice::parse("cuda").value().kind, Kind::cuda);
  EXPECT_EQ(DriverChoice::parse("sim").value().kind, Kind::sim);
  const DriverChoice path = DriverChoice::parse("/opt/libcuda.so.1").value();
  EXPECT_EQ(path.kind, Kind::path);
  EXPECT_EQ(path.path, "/opt/libcuda.so.1");
}

TEST(DriverChoice, RefusesOtherTextWithASentence) {
  for (const char* text : {"", "Sim", "gpu", "libcuda.so.1", "./libcuda.so.1", "auto "}) {
    const auto choice = DriverChoice::parse(text);
    ASSERT_FALSE(choice.ok()) << text;
    EXPECT_THAT(choice.error(), HasSubstr("use auto, cuda, sim"));
  }
}

TEST(DriverChoice, ReadsTheEnvironment) {
  {
    const ScopedVariable unset("FERRY_DRIVER", nullptr);
    EXPECT_EQ(DriverChoice::from_environment().value().kind, Kind::automatic);
  }
  {
    const ScopedVariable empty("FERRY_DRIVER", "");
    EXPECT_EQ(DriverChoice::from_environment().value().kind, Kind::automatic);
  }
  {
    const ScopedVariable sim("FERRY_DRIVER", "sim");
    EXPECT_EQ(DriverChoice::from_environment().value().kind, Kind::sim);
  }
  const ScopedVariable wrong("FERRY_DRIVER", "nonsense");
  EXPECT_THAT(DriverChoice::from_environment().error(), HasSubstr("FERRY_DRIVER"));
}

// A folder that looks like the stand-in's.
class StandInFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / "ferry_stand_in_folder";
    fs::create_directories(folder_);
    std::ofstream(folder_ / kDriverLibrary) << "a library";
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(StandInFolder, TheVariableDecides) {
  const ScopedVariable here("FERRY_SIM_DIR", folder_.c_str());
  EXPECT_EQ(fs::path(stand_in_folder()), folder_);
}

TEST_F(StandInFolder, AVariableThatPointsNowhereIsNotPassedOver) {
  const ScopedVariable elsewhere("FERRY_SIM_DIR", "/nonexistent");
  EXPECT_EQ(stand_in_folder(), "");
}

TEST_F(StandInFolder, IsAlwaysAFullPath) {
  const ScopedVariable relative("FERRY_SIM_DIR", fs::relative(folder_).c_str());
  EXPECT_TRUE(fs::path(stand_in_folder()).is_absolute());
}

TEST_F(StandInFolder, IsFoundBesideTheProgram) {
  const ScopedVariable unset("FERRY_SIM_DIR", nullptr);
  const fs::path program = fs::canonical("/proc/self/exe").parent_path();
  EXPECT_EQ(fs::path(stand_in_folder()), program.parent_path() / "lib" / "sim");
}

}  // namespace
}  // namespace ferry
