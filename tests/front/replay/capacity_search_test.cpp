// SPDX-License-Identifier: Apache-2.0
#include "front/replay/capacity_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;
using Kind = CapacityOption::Kind;

TEST(CapacityOption, KnowsItsForms) {
  EXPECT_EQ(CapacityOption::parse("")->kind, Kind::unlimited);
  EXPECT_EQ(CapacityOption::parse("min")->kind, Kind::minimum);
  EXPECT_EQ(CapacityOption::parse("24GiB")->kind, Kind::size);
  EXPECT_EQ(CapacityOption::parse("24GiB")->size, 24_GiB);
  EXPECT_EQ(CapacityOption::parse("1.05x")->kind, Kind::ratio);
  EXPECT_DOUBLE_EQ(CapacityOption::parse("1.05x")->ratio, 1.05);
  EXPECT_DOUBLE_EQ(CapacityOption::parse("2x")->ratio, 2);
}

TEST(CapacityOption, RefusesEverythingElse) {
  for (const char* text : {"x", "-1x", "0x", "0", "0GiB", "nanx", "infx", "1.05 x", "1e3x",
                           "1.0.5x", "24GiBs", "max", "minx", " ", "99999999999x", "1,05x"}) {
    const auto option = CapacityOption::parse(text);
    ASSERT_FALSE(option.ok()) << text;
    EXPECT_THAT(option.error(), HasSubstr(std::string("\"") + text + "\"")) << text;
    EXPECT_THAT(option.error(), HasSubstr("1.05x"));
  }
}

TEST(CapacityOption, ARatioIsOfThePeakLive) {
  const CapacityOption option = *CapacityOption::parse("1.5x");
  EXPECT_EQ(option.bytes_for(1000_MiB), 1500_MiB);
  EXPECT_EQ(option.bytes_for(Bytes{3}), Bytes{4});  // rounded down
  EXPECT_EQ(option.bytes_for(Bytes{}), Bytes{1});   // 0 would mean unlimited
  EXPECT_EQ(CapacityOption::parse("7MiB")->bytes_for(1000_MiB), 7_MiB);
}

TEST(CapacityOption, HugeResultsStayInRange) {
  const Bytes most = CapacityOption::parse("1000x")->bytes_for(Bytes{~std::uint64_t{0}});
  EXPECT_GT(most, 1024_GiB);
  EXPECT_EQ(CapacityOption::parse("1024T")->size, most);
  EXPECT_THAT(CapacityOption::parse("1025T").error(), ::testing::HasSubstr("more than 1 PiB"));
}

// Completes from `need` on.
struct Runner {
  Bytes need;
  std::vector<Bytes> tried{};
  Result<bool, std::string> operator()(Bytes capacity) {
    tried.push_back(capacity);
    return capacity >= need;
  }
};

Bytes search(Runner& runner, Bytes peak_live, Bytes enough) {
  auto found = find_min_capacity(peak_live, enough, std::ref(runner));
  if (!found) ADD_FAILURE() << found.error();
  return found ? *found : Bytes{};
}

TEST(MinCapacity, FindsEveryThresholdToOneStep) {
  for (std::uint64_t need = 100; need <= 160; ++need) {
    Runner runner{.need = Bytes{need << 20}};
    const Bytes found = search(runner, 99_MiB, 160_MiB);
    EXPECT_EQ(found, align_up(runner.need, kCapacityStep)) << need;
    EXPECT_LE(runner.tried.size(), 8U) << need;
  }
}

TEST(MinCapacity, TheAnswerAndTheStepBelowWereTried) {
  Runner runner{.need = 131_MiB};
  const Bytes found = search(runner, 100_MiB, 200_MiB);
  EXPECT_EQ(found, 132_MiB);
  EXPECT_EQ(std::ranges::count(runner.tried, 132_MiB), 1);
  EXPECT_EQ(std::ranges::count(runner.tried, 130_MiB), 1);
}

TEST(MinCapacity, TriesThePeakItselfFirst) {
  Runner runner{.need = 100_MiB};
  EXPECT_EQ(search(runner, 100_MiB, 200_MiB), 100_MiB);
  EXPECT_EQ(runner.tried.size(), 1U);
}

TEST(MinCapacity, NeverGoesBelowThePeak) {
  Runner runner{.need = Bytes{}};
  EXPECT_EQ(search(runner, 99_MiB, 200_MiB), 100_MiB);
  EXPECT_EQ(search(runner, Bytes{}, Bytes{}), kCapacityStep);
}

TEST(MinCapacity, WidensWhereWhatWasEnoughIsNotAnyMore) {
  Runner runner{.need = 301_MiB};
  EXPECT_EQ(search(runner, 100_MiB, 110_MiB), 302_MiB);
  Runner other{.need = 103_MiB};
  EXPECT_EQ(search(other, 100_MiB, 50_MiB), 104_MiB);
}

TEST(MinCapacity, AnswersOnlyWhatCompletedWhereMoreIsNotAlwaysBetter) {
  std::vector<Bytes> completed;
  const auto moody = [&](Bytes capacity) -> Result<bool, std::string> {
    const std::uint64_t steps = capacity / kCapacityStep;
    const bool completes = steps >= 60 && (steps >= 90 || steps % 3 == 0);
    if (completes) completed.push_back(capacity);
    return completes;
  };
  const auto found = find_min_capacity(100_MiB, 200_MiB, moody);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, *std::ranges::min_element(completed));
}

TEST(MinCapacity, AFailureThatIsNotMemoryEndsIt) {
  int runs = 0;
  const auto found = find_min_capacity(100_MiB, 200_MiB, [&](Bytes) -> Result<bool, std::string> {
    if (++runs == 3) return std::string("marks were lost");
    return runs == 2;
  });
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error(), "marks were lost");
  EXPECT_EQ(runs, 3);
}

TEST(MinCapacity, GivesUpWhereNothingIsEnough) {
  const auto found =
      find_min_capacity(100_MiB, 200_MiB, [](Bytes) -> Result<bool, std::string> { return false; });
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error(), HasSubstr("completes with unlimited memory, but not with"));
}

}  // namespace
}  // namespace ferry::replay
