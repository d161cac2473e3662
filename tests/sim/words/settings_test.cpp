// SPDX-License-Identifier: Apache-2.0
#include "sim/words/settings.hpp"

#include <gmock/gmock.h>

namespace ferry::sim {
namespace {

using testing::HasSubstr;

Settings applied(std::string_view text) {
  Result<Settings, std::string> settings = apply_settings(Settings{}, text);
  EXPECT_TRUE(settings.ok()) << text;
  return settings.ok() ? *settings : Settings{};
}

std::string problem(std::string_view text) {
  const Result<Settings, std::string> settings = apply_settings(Settings{}, text);
  EXPECT_FALSE(settings.ok()) << text;
  return settings.ok() ? "" : settings.error();
}

TEST(Settings, DefaultsAreOneLargeEagerDevice) {
  const Settings settings = applied("");
  EXPECT_EQ(settings.devices, 1);
  EXPECT_EQ(settings.capacity, Bytes{std::uint64_t{1} << 40});
  EXPECT_TRUE(settings.with_data);
  EXPECT_EQ(settings.schedule, Schedule::eager);
  EXPECT_TRUE(settings.faults.empty());
  EXPECT_TRUE(settings.profile.empty());
  EXPECT_FALSE(settings.capacity_given);
}

TEST(Settings, EveryKeyIsRead) {
  const Settings settings = applied(
      " devices=3; capacity=24GiB ;profile=h200-pcie5;data=none;schedule=random;seed=7;"
      "fault=cuMemCreate@3:2;fault=cuMemMap@1:CUDA_ERROR_INVALID_VALUE;");
  EXPECT_EQ(settings.devices, 3);
  EXPECT_EQ(settings.capacity, 24_GiB);
  EXPECT_TRUE(settings.capacity_given);
  EXPECT_EQ(settings.profile, "h200-pcie5");
  EXPECT_FALSE(settings.with_data);
  EXPECT_EQ(settings.schedule, Schedule::random);
  EXPECT_EQ(settings.seed, 7U);
  ASSERT_EQ(settings.faults.size(), 2U);
  EXPECT_EQ(settings.faults[0].function, "cuMemCreate");
  EXPECT_EQ(settings.faults[0].when.first, 3U);
  EXPECT_EQ(settings.faults[0].result, 2);
  EXPECT_EQ(settings.faults[1].result, 1);
}

TEST(Settings, LaterPartsAndTextsWin) {
  EXPECT_EQ(applied("devices=2;devices=4").devices, 4);
  Settings base;
  base.devices = 5;
  base.seed = 9;
  const Result<Settings, std::string> settings = apply_settings(base, "seed=1");
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings.value().devices, 5);
  EXPECT_EQ(settings.value().seed, 1U);
}

TEST(Settings, ProblemsNameThePartAndTheChoices) {
  EXPECT_THAT(problem("seed=1;schedule=sometimes"),
              testing::AllOf(HasSubstr("schedule=sometimes"), HasSubstr("eager, lazy or random")));
  EXPECT_THAT(problem("colour=red"),
              testing::AllOf(HasSubstr("colour=red"), HasSubstr("devices, capacity")));
  EXPECT_THAT(problem("devices=17"), HasSubstr("0 to 16"));
  EXPECT_THAT(problem("devices=-1"), HasSubstr("devices=-1"));
  EXPECT_THAT(problem("devices"), HasSubstr("KEY=VALUE"));
  EXPECT_THAT(problem("devices=2x"), HasSubstr("devices=2x"));
  EXPECT_THAT(problem("capacity=lots"), HasSubstr("24GiB"));
  EXPECT_THAT(problem("profile="), HasSubstr("ferry sim list"));
  EXPECT_THAT(problem("capacity=0"), HasSubstr("capacity=0"));
  EXPECT_THAT(problem("data=some"), HasSubstr("real or none"));
  EXPECT_THAT(problem("seed=minus"), HasSubstr("seed=minus"));
}

TEST(Settings, PartsGoToTheirReaders) {
  const Settings settings = applied(
      "vmm=off;granularity=4MiB;rdma=on;taken=1GiB;largest_piece=8MiB;reserve_total=2GiB;"
      "register_call=3GiB;register_total=4GiB;reuse=immediate;stall=cuMemMap@2:30;lost=0@5;"
      "at_exit=deinitialized;slow=to_host:3@1us-2us;stuck=peer@3us-4us");
  EXPECT_FALSE(settings.limits.virtual_memory);
  EXPECT_EQ(settings.limits.granularity, 4_MiB);
  EXPECT_EQ(settings.limits.rdma, Rdma::on);
  EXPECT_EQ(settings.limits.taken, 1_GiB);
  EXPECT_EQ(settings.limits.largest_piece, 8_MiB);
  EXPECT_EQ(settings.limits.reserve_total, 2_GiB);
  EXPECT_EQ(settings.limits.register_call, 3_GiB);
  EXPECT_EQ(settings.limits.register_total, 4_GiB);
  EXPECT_TRUE(settings.limits.reuse_at_once);
  ASSERT_EQ(settings.faults.size(), 1U);
  EXPECT_EQ(settings.faults[0].stall, std::chrono::milliseconds(30));
  ASSERT_EQ(settings.lost.size(), 1U);
  EXPECT_EQ(settings.lost[0].nth, 5U);
  EXPECT_TRUE(settings.deinitialized_at_exit);
  ASSERT_EQ(settings.engine_windows.size(), 2U);
  EXPECT_EQ(settings.engine_windows[0].slowdown, 3U);
  EXPECT_EQ(settings.engine_windows[1].slowdown, 0U);
}

TEST(Settings, ReadersAreNamedInProblems) {
  EXPECT_THAT(problem("seed=1;fault=cuMemCreate"),
              testing::AllOf(HasSubstr("'fault=cuMemCreate'"), HasSubstr("FUNCTION@WHICH")));
  EXPECT_THAT(problem("granularity=3MiB"), HasSubstr("'granularity=3MiB'"));
  EXPECT_THAT(problem("at_exit=gone"), HasSubstr("usable or deinitialized"));
}

}  // namespace
}  // namespace ferry::sim
