// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ferry/ferry.h"

namespace {

using testing::HasSubstr;

ferry_options options_for(const char* driver) {
  return ferry_options{sizeof(ferry_options), driver};
}

TEST(Init, MustComeFirst) {
  ferry_device_pool* pool = nullptr;
  EXPECT_EQ(ferry_device_pool_create(0, nullptr, &pool), FERRY_ERROR_NOT_INITIALIZED);
  EXPECT_THAT(ferry_last_error(), HasSubstr("ferry_init"));
  EXPECT_EQ(pool, nullptr);
}

TEST(Init, RefusesAnOptionsStructWithoutItsSize) {
  const ferry_options options{0, "sim"};
  EXPECT_EQ(ferry_init(&options), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(ferry_last_error(), HasSubstr("struct_size"));
}

TEST(Init, NamesADriverItDoesNotKnowOrCannotLoad) {
  const ferry_options unknown = options_for("gpu");
  EXPECT_EQ(ferry_init(&unknown), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(ferry_last_error(), HasSubstr("gpu"));
  const ferry_options missing = options_for("/nowhere/libcuda.so.1");
  EXPECT_EQ(ferry_init(&missing), FERRY_ERROR_NOT_INITIALIZED);
  EXPECT_THAT(ferry_last_error(), HasSubstr("/nowhere/libcuda.so.1"));
}

TEST(Init, MayBeRepeatedForTheSameDriver) {
  const ferry_options options = options_for("sim");
  ASSERT_EQ(ferry_init(&options), FERRY_OK) << ferry_last_error();
  EXPECT_EQ(ferry_init(&options), FERRY_OK);
  EXPECT_EQ(ferry_init(nullptr), FERRY_OK) << "FERRY_DRIVER names the same one";
  const ferry_options other = options_for("/nowhere/libcuda.so.1");
  EXPECT_EQ(ferry_init(&other), FERRY_ERROR_INVALID_ARGUMENT);
}

TEST(Version, NamesVersionAndCommit) {
  EXPECT_THAT(ferry_version(), testing::MatchesRegex("0\\.1\\.0 \\(commit .+\\)"));
}

}  // namespace
