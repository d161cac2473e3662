// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "ferry/ferry.h"

namespace {

TEST(LastError, TellsWhichCallFailedAndWhy) {
  EXPECT_EQ(ferry_device_free(nullptr, nullptr, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(ferry_last_error(), "ferry_device_free: pool is NULL");
}

TEST(LastError, BelongsToTheThread) {
  EXPECT_EQ(ferry_device_pool_destroy(nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  std::string elsewhere = "unset";
  std::thread([&] { elsewhere = ferry_last_error(); }).join();
  EXPECT_EQ(elsewhere, "");
  EXPECT_THAT(ferry_last_error(), testing::HasSubstr("ferry_device_pool_destroy"));
}

TEST(StatusString, NamesEveryStatus) {
  EXPECT_STREQ(ferry_status_string(FERRY_OK), "ok");
  EXPECT_STREQ(ferry_status_string(FERRY_ERROR_OUT_OF_MEMORY), "out of memory");
  for (int status = FERRY_OK; status <= FERRY_ERROR_INTERNAL; ++status) {
    EXPECT_STRNE(ferry_status_string(static_cast<ferry_status>(status)), "unknown status")
        << status;
  }
  EXPECT_STREQ(ferry_status_string(static_cast<ferry_status>(15)), "unknown status");
}

}  // namespace
