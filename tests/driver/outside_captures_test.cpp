// SPDX-License-Identifier: Apache-2.0
#include "driver/outside_captures.hpp"

#include <gtest/gtest.h>

#include "driver/capturing.hpp"
#include "driver/device.hpp"
#include "driver/stand_in.hpp"

namespace ferry {
namespace {

using testing::StandIn;
using testing_support::Capturing;

class OutsideCapturesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = Device::open(sim_.driver(), DeviceId{0}).value();
    stream_ = device_->create_stream().value();
    event_ = device_->create_event().value();
    ASSERT_TRUE(device_->record(event_, stream_));
  }
  Code query() { return device_->query(event_).error().code(); }

  StandIn& sim_ = StandIn::reset("schedule=eager");
  std::unique_ptr<Device> device_;
  StreamRef stream_;
  EventHandle event_;
};

TEST_F(OutsideCapturesTest, ACaptureOfTheProgramIsNotInTheWayNorSpoilt) {
  Capturing capturing(sim_.driver(), stream_);
  {
    const OutsideCaptures outside(sim_.driver());
    EXPECT_TRUE(device_->query(event_).value());
    void* const memory = device_->host_alloc(Bytes{4096}).value();
    EXPECT_TRUE(device_->host_free(memory));
  }
  EXPECT_EQ(capturing.end(), 0U);
}

TEST_F(OutsideCapturesTest, AfterwardsTheDriverIsAsStrictAsBefore) {
  Capturing capturing(sim_.driver(), stream_);
  {
    const OutsideCaptures outside(sim_.driver());
    const OutsideCaptures again(sim_.driver());
  }
  EXPECT_EQ(query(), Code::capture_active);
}

TEST_F(OutsideCapturesTest, AThreadWhoseModeCannotBeChangedKeepsIt) {
  sim_.fail_nth("cuThreadExchangeStreamCaptureMode", 1, 2);
  { const OutsideCaptures outside(sim_.driver()); }
  Capturing capturing(sim_.driver(), stream_);
  EXPECT_EQ(query(), Code::capture_active) << "the thread is as strict as before";
}

TEST_F(OutsideCapturesTest, ACapturingStreamIsNamedAndItsCaptureGoesOn) {
  EXPECT_TRUE(refuse_capturing(*device_, stream_));
  Capturing capturing(sim_.driver(), stream_);
  EXPECT_EQ(refuse_capturing(*device_, stream_).code(), Code::capture_active);
  EXPECT_EQ(capturing.end(), 0U);
  EXPECT_TRUE(refuse_capturing(*device_, stream_));
}

}  // namespace
}  // namespace ferry
