// SPDX-License-Identifier: Apache-2.0
#include "front/replay/stand_in_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/replay/sim_machine.hpp"

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;

StandInSettings settings(std::string_view environment, std::optional<std::string> schedule = {},
                         std::optional<std::uint64_t> seed = {}) {
  auto made = StandInSettings::from(environment, schedule, seed);
  if (!made) ADD_FAILURE() << made.error();
  return made ? *made : StandInSettings{};
}

TEST(StandInSettings, WithoutAnyWishTheScheduleIsEager) {
  const StandInSettings none = settings("");
  EXPECT_EQ(none.text, "");
  EXPECT_EQ(none.schedule, "eager");
  EXPECT_EQ(none.seed, 0U);
  EXPECT_EQ(none.capacity, std::nullopt);
}

TEST(StandInSettings, TheEnvironmentIsTheBase) {
  const StandInSettings base = settings("devices=2; schedule = random;seed=9;capacity=24GiB");
  EXPECT_EQ(base.schedule, "random");
  EXPECT_EQ(base.seed, 9U);
  EXPECT_EQ(base.capacity, 24_GiB);
}

TEST(StandInSettings, TheCommandLineOutranksIt) {
  const StandInSettings over = settings("schedule=random;seed=9", "lazy", 11);
  EXPECT_EQ(over.schedule, "lazy");
  EXPECT_EQ(over.seed, 11U);
  EXPECT_EQ(over.text, "schedule=lazy;seed=11");
}

TEST(StandInSettings, AValueTakesThePlaceOfTheOneThatIsThere) {
  EXPECT_EQ(with_setting("", "data", "real"), "data=real");
  EXPECT_EQ(with_setting("data=none", "data", "real"), "data=real");
  EXPECT_EQ(with_setting(" data = none ; seed=1;;", "data", "real"), "seed=1;data=real");
  EXPECT_EQ(with_setting("data;database=x", "data", "real"), "database=x;data=real");
}

TEST(StandInSettings, WhatComesOutIsUnderstood) {
  for (const std::string& text :
       {settings("").text, settings("", "lazy").text, settings("", {}, 7).text,
        settings("devices=2;", "random", ~std::uint64_t{0}).text,
        settings("schedule=lazy;seed=3", "random", 4).text}) {
    EXPECT_TRUE(ReplayMachine::open(testing::stand_in(), {.stand_in = text, .capacity = {}}).ok())
        << text;
  }
}

TEST(StandInSettings, RefusesSchedulesThatDoNotExist) {
  for (const char* name : {"", "Lazy", "fifo", "lazy;capacity=1"}) {
    const auto refused = StandInSettings::from("", name, {});
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_THAT(refused.error(), HasSubstr("none of eager, lazy and random"));
  }
}

}  // namespace
}  // namespace ferry::replay
