// SPDX-License-Identifier: Apache-2.0
#include "driver/driver.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>

#include "driver/scoped_variable.hpp"
#include "driver/stand_in.hpp"

namespace ferry {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ScopedVariable;
using testing::StandIn;
using Kind = DriverChoice::Kind;

std::string error_of(const DriverChoice& choice) {
  const auto driver = Driver::load(choice);
  return driver ? "" : driver.error();
}

DriverChoice at_path(const char* path) {
  return {.kind = Kind::path, .path = path};
}

TEST(CudaVersion, IsWrittenAsPeopleDo) {
  EXPECT_EQ(format_cuda_version(13000), "13.0");
  EXPECT_EQ(format_cuda_version(12080), "12.8");
  EXPECT_EQ(format_cuda_version(11020), "11.2");
}

TEST(DriverLoad, AMissingFileIsExplained) {
  EXPECT_THAT(error_of(at_path("/nonexistent/libcuda.so.1")),
              AllOf(HasSubstr("/nonexistent/libcuda.so.1 could not be loaded"),
                    HasSubstr("No such file"), HasSubstr("FERRY_DRIVER=sim")));
}

TEST(DriverLoad, AMissingStandInIsExplained) {
  const ScopedVariable elsewhere("FERRY_SIM_DIR", "/nonexistent");
  EXPECT_THAT(
      error_of({.kind = Kind::sim, .path = {}}),
      AllOf(HasSubstr("the stand-in was not found"), HasSubstr("FERRY_SIM_DIR=/nonexistent")));
}

TEST(DriverLoad, ALibraryThatIsNoDriverIsExplained) {
  Dl_info info{};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&std::terminate), &info), 0);
  EXPECT_THAT(error_of(at_path(info.dli_fname)),
              AllOf(HasSubstr(info.dli_fname), HasSubstr("driver version unknown"),
                    HasSubstr("lacks cuInit (CUDA 2.0) and "), HasSubstr("FERRY_DRIVER=sim")));
}

TEST(DriverLoad, AsksForEveryFunctionAtItsCompiledVersion) {
  const auto driver = Driver::load(at_path(FAKE_DRIVER));
  ASSERT_TRUE(driver.ok()) << driver.error();
  EXPECT_THAT((*driver)->missing_optional(), IsEmpty());
  EXPECT_EQ((*driver)->version(), 12080);
  EXPECT_EQ((*driver)->library_path(), FAKE_DRIVER);
  EXPECT_FALSE((*driver)->is_stand_in());
  EXPECT_EQ((*driver)->find_symbol("ferry_sim_reset"), nullptr);
}

TEST(DriverLoad, NamesTheRequiredFunctionThatIsMissing) {
  const ScopedVariable missing("FAKE_MISSING", "cuMemCreate");
  EXPECT_THAT(error_of(at_path(FAKE_DRIVER)),
              AllOf(HasSubstr("driver version 12.8"), HasSubstr("lacks cuMemCreate (CUDA 10.2)."),
                    HasSubstr("CUDA 11.2 or newer")));
}

TEST(DriverLoad, ListsTheOptionalFunctionThatIsMissing) {
  const ScopedVariable missing("FAKE_MISSING", "cuCtxRecordEvent");
  const auto driver = Driver::load(at_path(FAKE_DRIVER));
  ASSERT_TRUE(driver.ok()) << driver.error();
  EXPECT_THAT((*driver)->missing_optional(), ElementsAre("cuCtxRecordEvent (CUDA 12.5)"));
}

TEST(DriverLoad, DriversWithoutVersionedLookupAreAskedForTheirSymbols) {
  const auto driver = Driver::load(at_path(FAKE_OLD_DRIVER));
  ASSERT_TRUE(driver.ok()) << driver.error();
  EXPECT_EQ((*driver)->find_symbol("cuGetProcAddress_v2"), nullptr);
  EXPECT_EQ((*driver)->device_count().value(), 1);
}

TEST(DriverLoad, ADriverThatDoesNotStartIsExplained) {
  const ScopedVariable init("FAKE_INIT", "803");
  EXPECT_THAT(error_of(at_path(FAKE_DRIVER)),
              AllOf(HasSubstr(FAKE_DRIVER), HasSubstr("did not start"),
                    HasSubstr("CUDA error 803, a fake error"), HasSubstr("nvidia-smi")));
}

TEST(DriverLoad, StandInIsUsedWhenAskedFor) {
  const Driver& driver = StandIn::reset("").driver();
  EXPECT_TRUE(driver.is_stand_in());
  EXPECT_EQ(driver.library_path(), stand_in_folder() + "/" + kDriverLibrary);
  EXPECT_THAT(driver.reason(), HasSubstr("stand-in"));
  EXPECT_THAT(driver.missing_optional(), IsEmpty());
  EXPECT_GE(driver.version(), 12050);
}

// The stand-in is in this process by now, under the name by which the automatic choice asks.
TEST(DriverLoad, StandInIsNeverChosenSilently) {
  (void)StandIn::reset("");
  for (const Kind kind : {Kind::automatic, Kind::cuda}) {
    EXPECT_THAT(error_of({.kind = kind, .path = {}}),
                AllOf(HasSubstr("Ferry's stand-in"), HasSubstr("FERRY_DRIVER=sim")));
  }
}

TEST(DriverDevices, AreCountedAndDescribed) {
  const Driver& driver = StandIn::reset("devices=2;capacity=24GiB").driver();
  ASSERT_EQ(driver.device_count().value(), 2);
  const auto info = driver.device_info(DeviceId{1});
  ASSERT_TRUE(info.ok()) << info.error().describe();
  EXPECT_EQ(info->id, DeviceId{1});
  EXPECT_THAT(info->name, Not(IsEmpty()));
  EXPECT_EQ(info->total_memory, 24_GiB);
  EXPECT_GE(info->compute_major, 1);
  EXPECT_TRUE(info->supports_virtual_memory);
}

TEST(DriverDevices, ThatDoNotExistAreRefused) {
  const Driver& driver = StandIn::reset("devices=1").driver();
  EXPECT_EQ(driver.device_info(DeviceId{1}).error().code(), Code::no_device);
  EXPECT_EQ(driver.device_info(DeviceId{-1}).error().code(), Code::no_device);
}

TEST(DriverDevices, FailuresAreTranslated) {
  StandIn& sim = StandIn::reset("");
  sim.fail_nth("cuDeviceGetCount", 1, 3);
  const Status status = sim.driver().device_count().error();
  EXPECT_EQ(status.code(), Code::not_initialized);
  EXPECT_STREQ(status.site(), "cuDeviceGetCount");
}

TEST(DriverLoad, AStandInThatDoesNotStartNamesItsSettings) {
  StandIn::reset("").fail_nth("cuInit", 1, 1);
  EXPECT_THAT(error_of({.kind = Kind::sim, .path = {}}),
              AllOf(HasSubstr("did not start"), HasSubstr("FERRY_SIM, and CUDA_VISIBLE_DEVICES.")));
}

}  // namespace
}  // namespace ferry
