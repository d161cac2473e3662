// SPDX-License-Identifier: Apache-2.0
#include "front/cli/replay_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace ferry::cli {
namespace {

using replay::CapacityOption;
using ::testing::HasSubstr;

class ReplayPlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("FERRY_SIM");
    unsetenv("FERRY_DRIVER");
  }
  void TearDown() override { SetUp(); }

  static ReplayPlan plan_for(const ReplayArguments& arguments) {
    auto plan = make_plan(arguments);
    if (!plan) ADD_FAILURE() << plan.error();
    return plan ? *plan : ReplayPlan{};
  }
  static std::string error_of(const ReplayArguments& arguments) {
    const auto plan = make_plan(arguments);
    return plan ? "no error" : plan.error();
  }
};

TEST_F(ReplayPlanTest, WithoutAnyWishTheStandInServesUnlimited) {
  const ReplayPlan plan = plan_for({});
  EXPECT_EQ(plan.costs->name, "a100");
  EXPECT_EQ(plan.capacity.kind, CapacityOption::Kind::unlimited);
  EXPECT_EQ(plan.driver.kind, DriverChoice::Kind::sim);
  EXPECT_EQ(plan.stand_in.schedule, "eager");
}

TEST_F(ReplayPlanTest, TheEnvironmentCountsWhereTheLineIsSilent) {
  setenv("FERRY_DRIVER", "cuda", 1);
  setenv("FERRY_SIM", "capacity=2MiB;schedule=lazy", 1);
  ReplayPlan plan = plan_for({});
  EXPECT_EQ(plan.driver.kind, DriverChoice::Kind::cuda);
  EXPECT_EQ(plan.capacity.size, 2_MiB);
  EXPECT_EQ(plan.stand_in.schedule, "lazy");
  ReplayArguments arguments;
  arguments.device = "sim";
  arguments.capacity = "min";
  arguments.schedule = "eager";
  plan = plan_for(arguments);
  EXPECT_EQ(plan.driver.kind, DriverChoice::Kind::sim);
  EXPECT_EQ(plan.capacity.kind, CapacityOption::Kind::minimum);
  EXPECT_EQ(plan.stand_in.schedule, "eager");
}

TEST_F(ReplayPlanTest, ASeedNeedsTheRandomSchedule) {
  ReplayArguments arguments;
  arguments.seed = 4;
  EXPECT_EQ(error_of(arguments), "--seed: the schedule eager has none; add --schedule random.");
  arguments.schedule = "random";
  EXPECT_EQ(plan_for(arguments).stand_in.seed, 4U);
  arguments.schedule.reset();
  setenv("FERRY_SIM", "schedule=random", 1);
  EXPECT_EQ(plan_for(arguments).stand_in.seed, 4U);
}

TEST_F(ReplayPlanTest, AMistakeNamesItsOption) {
  ReplayArguments arguments;
  arguments.costs = "snapshot.pickle";
  EXPECT_THAT(error_of(arguments), HasSubstr("--costs: there is no cost table \"snapshot.pickle\"; "
                                             "known: a100"));
  arguments = {};
  arguments.capacity = "much";
  EXPECT_THAT(error_of(arguments), HasSubstr("--capacity: "));
  arguments = {};
  arguments.device = "gpu";
  EXPECT_THAT(error_of(arguments), HasSubstr("--device: "));
}

}  // namespace
}  // namespace ferry::cli
