// SPDX-License-Identifier: Apache-2.0
#include "front/cli/doctor_checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "driver/stand_in.hpp"

namespace ferry::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::StandIn;

class DoctorChecks : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    sim_ = &StandIn::reset(GetParam());
    auto opened = Device::open(sim_->driver(), DeviceId{0});
    ASSERT_TRUE(opened.ok()) << opened.error().describe();
    device_ = *std::move(opened);
  }

  // The finding about `subject`, from a fresh check that must leave nothing behind.
  Finding check(const std::string& subject) {
    for (Finding& finding : check_device(*device_)) {
      if (finding.subject == subject) {
        EXPECT_EQ(sim_->memory_in_use(0), 0_B);
        return finding;
      }
    }
    ADD_FAILURE() << "nothing was said about " << subject;
    return {};
  }

  StandIn* sim_ = nullptr;
  std::unique_ptr<Device> device_;
};

INSTANTIATE_TEST_SUITE_P(Schedules, DoctorChecks, testing::schedules());

TEST_P(DoctorChecks, AHealthyDeviceHasNothingToRemedy) {
  for (const char* subject : {"virtual memory", "pinned memory", "context event"}) {
    const Finding finding = check(subject);
    EXPECT_TRUE(finding.ok) << subject << ": " << finding.detail;
    EXPECT_THAT(finding.detail, Not(IsEmpty()));
    EXPECT_THAT(finding.remedy, IsEmpty());
  }
}

TEST_P(DoctorChecks, EveryStepOfVirtualMemoryIsReallyTaken) {
  for (const char* function :
       {"cuMemAddressReserve", "cuMemCreate", "cuMemMap", "cuMemSetAccess", "cuMemHostAlloc",
        "cuMemsetD32Async", "cuMemcpyDtoHAsync", "cuStreamSynchronize"}) {
    sim_->fail_nth(function, 1, 999);
    const Finding finding = check("virtual memory");
    EXPECT_FALSE(finding.ok) << function;
    EXPECT_TRUE(finding.needed);
    EXPECT_THAT(finding.detail, HasSubstr(function));
    EXPECT_THAT(finding.remedy, HasSubstr("FERRY_SIM"));
  }
}

TEST_P(DoctorChecks, MemoryHeldByOthersHasItsOwnRemedy) {
  sim_->fail_nth("cuMemCreate", 1, 2);
  const Finding finding = check("virtual memory");
  EXPECT_THAT(finding.detail, HasSubstr("out of memory"));
  EXPECT_THAT(finding.remedy, HasSubstr("Free memory"));
}

TEST_P(DoctorChecks, PinnedMemoryIsNeeded) {
  sim_->fail_nth("cuMemHostAlloc", 2, 2);  // the first serves the check of virtual memory
  const Finding finding = check("pinned memory");
  EXPECT_FALSE(finding.ok);
  EXPECT_TRUE(finding.needed);
}

TEST_P(DoctorChecks, ContextEventsAreNotNeeded) {
  sim_->fail_nth("cuCtxRecordEvent", 1, 801);
  const Finding finding = check("context event");
  EXPECT_FALSE(finding.ok);
  EXPECT_FALSE(finding.needed);
  EXPECT_THAT(finding.remedy, HasSubstr("CUDA 12.5"));
}

}  // namespace
}  // namespace ferry::cli
