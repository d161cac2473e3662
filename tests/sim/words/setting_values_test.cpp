// SPDX-License-Identifier: Apache-2.0
#include "sim/words/setting_values.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

TEST(SettingValues, NumbersAreWhole) {
  EXPECT_EQ(parse_number<int>("17"), 17);
  EXPECT_EQ(parse_number<int>("17x"), std::nullopt);
  EXPECT_EQ(parse_number<int>(""), std::nullopt);
  EXPECT_EQ(parse_number<std::uint64_t>("-1"), std::nullopt);
}

TEST(SettingValues, ASizeIsNotZero) {
  EXPECT_EQ(parse_size("3MiB"), 3_MiB);
  EXPECT_EQ(parse_size("0"), std::nullopt);
  EXPECT_EQ(parse_size("much"), std::nullopt);
}

TEST(SettingValues, MomentsNeedAUnit) {
  EXPECT_EQ(parse_moment("7ns"), 7'000);
  EXPECT_EQ(parse_moment("7us"), 7'000'000);
  EXPECT_EQ(parse_moment("7ms"), 7'000'000'000);
  EXPECT_EQ(parse_moment("7s"), 7'000'000'000'000);
  EXPECT_EQ(parse_moment("0us"), 0);
  EXPECT_EQ(parse_moment("86400s"), 86'400'000'000'000'000);
  for (const char* const wrong : {"7", "us", "7h", "-7us", "1.5us", "86401s", ""})
    EXPECT_EQ(parse_moment(wrong), std::nullopt) << wrong;
}

TEST(SettingValues, FailuresByNumberAndName) {
  EXPECT_EQ(parse_failure("700"), 700);
  EXPECT_EQ(parse_failure("CUDA_ERROR_OUT_OF_MEMORY"), 2);
  EXPECT_EQ(parse_failure("0"), std::nullopt) << "success";
  EXPECT_EQ(parse_failure("CUDA_SUCCESS"), std::nullopt);
  EXPECT_EQ(parse_failure("12345"), std::nullopt);
}

TEST(SettingValues, SplitAtTheFirstMark) {
  const std::optional<Halves> halves = split("a:b:c", ':');
  ASSERT_TRUE(halves);
  EXPECT_EQ(halves->before, "a");
  EXPECT_EQ(halves->after, "b:c");
  EXPECT_FALSE(split("abc", ':'));
}

}  // namespace
}  // namespace ferry::sim
