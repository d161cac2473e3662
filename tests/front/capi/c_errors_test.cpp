// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
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

// Fails a call when it is destroyed, and ends the process with 42 if the sentence is right.
struct FailsAtItsEnd {
  ~FailsAtItsEnd() {
    if (!armed) return;
    static_cast<void>(ferry_device_pool_audit(nullptr));
    const bool told = std::strcmp(ferry_last_error(), "ferry_device_pool_audit: pool is NULL") == 0;
    std::_Exit(told ? 42 : 1);
  }
  bool armed = false;
};

TEST(LastErrorDeathTest, CanBeSetWhileAThreadEnds) {
  const auto end_a_thread = [] {
    std::thread([] {
      static thread_local FailsAtItsEnd last;  // made first, so destroyed after what calls make
      last.armed = true;
      static_cast<void>(ferry_device_pool_destroy(nullptr));
    }).join();
  };
  EXPECT_EXIT(end_a_thread(), testing::ExitedWithCode(42), "");
}

TEST(LastErrorDeathTest, CanBeSetWhileTheProcessEnds) {
  const auto end_the_process = [] {
    static FailsAtItsEnd last;
    last.armed = true;
    static_cast<void>(ferry_device_pool_destroy(nullptr));
    std::exit(0);
  };
  EXPECT_EXIT(end_the_process(), testing::ExitedWithCode(42), "");
}

TEST(LastError, KeepsTheBeginningOfALongMessage) {
  const std::string name(20'000, 'x');
  const ferry_options options{sizeof(ferry_options), name.c_str()};
  EXPECT_EQ(ferry_init(&options), FERRY_ERROR_INVALID_ARGUMENT);
  const std::string kept = ferry_last_error();
  EXPECT_THAT(kept, testing::StartsWith("ferry_init: \"xxx"));
  EXPECT_EQ(kept.size(), 8191U);
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
