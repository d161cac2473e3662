// SPDX-License-Identifier: Apache-2.0
#include "sim/words/say_once.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

TEST(SayOnce, SaysEachThingOnce) {
  testing::internal::CaptureStderr();
  say_once("one thing of this test");
  say_once("another thing of this test");
  say_once("one thing of this test");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ferry-sim: one thing of this test\nferry-sim: another thing of this test\n");
}

}  // namespace
}  // namespace ferry::sim
