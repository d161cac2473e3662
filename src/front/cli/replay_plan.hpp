// SPDX-License-Identifier: Apache-2.0
// What a command line of `ferry replay` asks for: its words, and what they come to together with
// the environment. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/driver_choice.hpp"
#include "front/replay/capacity_search.hpp"
#include "front/replay/cost_table.hpp"
#include "front/replay/stand_in_settings.hpp"

namespace ferry::cli {

// As they were typed.
struct ReplayArguments {
  std::vector<std::string> paths;
  std::string device;
  std::string capacity;
  std::uint32_t repeat = 1;
  std::string costs{replay::kDefaultCosts};
  std::optional<std::string> schedule;
  std::optional<std::uint64_t> seed;
  std::uint64_t audit_every = 0;
  bool json = false;
  std::string html;
};

struct ReplayPlan {
  const replay::CostTable* costs = nullptr;
  replay::CapacityOption capacity;
  DriverChoice driver;
  replay::StandInSettings stand_in;
};

// The error is a sentence that begins with the option.
[[nodiscard]] Result<ReplayPlan, std::string> make_plan(const ReplayArguments& arguments);

}  // namespace ferry::cli
