// SPDX-License-Identifier: Apache-2.0
#include "front/cli/replay_plan.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "front/cli/cli.hpp"

namespace ferry::cli {

namespace {

using replay::CapacityOption;
using replay::StandInSettings;

// A replay needs no GPU, so the stand-in serves unless a driver is named; the report says which.
Result<DriverChoice, std::string> choose_driver(const std::string& text) {
  const char* const variable = std::getenv("FERRY_DRIVER");
  if (text.empty() && (variable == nullptr || *variable == '\0')) {
    return DriverChoice{.kind = DriverChoice::Kind::sim, .path = {}};
  }
  return driver_choice(text);
}

Result<StandInSettings, std::string> choose_settings(const ReplayArguments& arguments) {
  const char* const variable = std::getenv("FERRY_SIM");
  Result<StandInSettings, std::string> settings = StandInSettings::from(
      variable == nullptr ? "" : variable, arguments.schedule, arguments.seed);
  if (settings && arguments.seed && settings->schedule != "random") {
    return fmt::format("--seed: the schedule {} has none; add --schedule random.",
                       settings->schedule);
  }
  return settings;
}

}  // namespace

Result<ReplayPlan, std::string> make_plan(const ReplayArguments& arguments) {
  ReplayPlan plan;
  plan.costs = replay::find_cost_table(arguments.costs);
  if (plan.costs == nullptr) {
    return fmt::format("--costs: there is no cost table \"{}\"; known: {}, and list to see them.",
                       arguments.costs, replay::known_cost_tables());
  }
  Result<CapacityOption, std::string> capacity = CapacityOption::parse(arguments.capacity);
  if (!capacity) return capacity.error();
  plan.capacity = *capacity;
  Result<DriverChoice, std::string> driver = choose_driver(arguments.device);
  if (!driver) return driver.error();
  plan.driver = *driver;
  Result<StandInSettings, std::string> stand_in = choose_settings(arguments);
  if (!stand_in) return stand_in.error();
  plan.stand_in = *std::move(stand_in);
  if (plan.capacity.kind == CapacityOption::Kind::unlimited && plan.stand_in.capacity) {
    plan.capacity = {.kind = CapacityOption::Kind::size, .size = *plan.stand_in.capacity};
  }
  return plan;
}

}  // namespace ferry::cli
