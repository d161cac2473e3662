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

TEST(Settings, LaterTextsWin) {
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

TEST(Settings, AKeyIsGivenOnce) {
  EXPECT_EQ(problem("devices=2;seed=1; devices =4"),
            "'devices =4' is not understood; expected devices only once, and there is 'devices=2' "
            "(these may repeat: fault, stall, lost, slow, stuck)");
  for (const char* const key :
       {"capacity=1GiB", "profile=h200-pcie5", "data=none", "kernels=skipped", "schedule=lazy",
        "seed=1", "threads=free", "hazards=off", "vmm=on", "granularity=2MiB", "rdma=on",
        "taken=1GiB", "largest_piece=1GiB", "reserve_total=1GiB", "register_call=1GiB",
        "register_total=1GiB", "reuse=late", "at_exit=usable"}) {
    EXPECT_THAT(problem(std::string(key) + ";" + key), HasSubstr("only once")) << key;
  }
  const Settings settings = applied(
      "fault=cuMemMap@1:2;fault=cuMemMap@2:2;stall=cuMemMap@3:1;stall=cuMemMap@4:1;lost=0;lost=0@9;"
      "slow=peer:2@1us-2us;slow=peer:2@3us-4us;stuck=peer@5us-6us;stuck=peer@7us-8us");
  EXPECT_EQ(settings.faults.size(), 4U);
  EXPECT_EQ(settings.lost.size(), 2U);
  EXPECT_EQ(settings.engine_windows.size(), 4U);
}

TEST(Settings, ACapacityThatHoldsNothingIsRefused) {
  EXPECT_EQ(problem("seed=1;capacity=24"),
            "'capacity=24' is not understood; expected a capacity of at least 2 MiB, the smallest "
            "piece of memory (is a unit such as GiB missing?)");
  EXPECT_THAT(problem("capacity=2047KiB"), testing::Not(HasSubstr("unit")));
  EXPECT_EQ(applied("capacity=2MiB").capacity, 2_MiB);
  EXPECT_EQ(applied("capacity=2097152").capacity, 2_MiB);
  EXPECT_EQ(applied("capacity=64KiB;granularity=64KiB").capacity, 64_KiB);
  EXPECT_THAT(problem("capacity=64KiB;granularity=64KiB;vmm=off"), HasSubstr("at least 2 MiB"));
  EXPECT_EQ(applied("granularity=16MiB;capacity=2MiB").capacity, 2_MiB) << "of plain memory";
}

TEST(Settings, PiecesThatNothingFitsInAreRefused) {
  EXPECT_THAT(problem("largest_piece=1MiB"),
              testing::AllOf(HasSubstr("'largest_piece=1MiB'"),
                             HasSubstr("a largest_piece of at least 2 MiB")));
  EXPECT_THAT(problem("largest_piece=64"), HasSubstr("is a unit such as GiB missing?"));
  EXPECT_EQ(applied("largest_piece=2MiB").limits.largest_piece, 2_MiB);
  EXPECT_EQ(applied("largest_piece=64KiB;granularity=64KiB").limits.largest_piece, 64_KiB);
  EXPECT_EQ(applied("largest_piece=none").limits.largest_piece, std::nullopt);
}

TEST(Settings, NoMoreIsTakenThanThereIs) {
  for (const char* const text : {"taken=25GiB;capacity=24GiB", "capacity=24GiB;taken=25GiB"}) {
    EXPECT_EQ(problem(text),
              "'taken=25GiB' is not understood; expected taken to be at most the capacity, 24 GiB");
  }
  EXPECT_THAT(problem("taken=2TiB"), HasSubstr("1 TiB"));
  EXPECT_EQ(applied("taken=24GiB;capacity=24GiB").limits.taken, 24_GiB) << "a device that is full";
  EXPECT_EQ(applied("taken=2TiB;profile=x").limits.taken, 2048_GiB)
      << "the profile's may be larger";
  EXPECT_THAT(problem("taken=2GiB;profile=x;capacity=1GiB"), HasSubstr("1 GiB"));
}

TEST(Settings, APartIsBlamedThoughItsMatchCameEarlier) {
  Settings base = applied("taken=8GiB;granularity=64KiB;largest_piece=64KiB");
  const auto refusal = [&](std::string_view text) {
    const Result<Settings, std::string> settings = apply_settings(base, text);
    return settings.ok() ? "none" : settings.error();
  };
  EXPECT_THAT(refusal("capacity=1GiB"),
              testing::AllOf(HasSubstr("'capacity=1GiB'"), HasSubstr("taken to be at most")));
  EXPECT_THAT(refusal("granularity=2MiB"),
              testing::AllOf(HasSubstr("'granularity=2MiB'"), HasSubstr("a largest_piece of")));
  EXPECT_EQ(refusal("seed=4"), "none");
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
