// SPDX-License-Identifier: Apache-2.0
// What driver calls cost on a named machine, so that call counts become comparable as time. Plain
// data; the figures are models, never measurements of this machine, and reports say so.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/call_counters.hpp"

namespace ferry::replay {

// In microseconds.
struct CallPrice {
  double per_call = 0;
  double per_mib = 0;
  double per_mapping = 0;
  [[nodiscard]] bool priced() const { return per_call > 0; }
};

struct CostTable {
  std::string_view name;
  std::string_view description;
  std::array<CallPrice, kDriverCallKinds> prices{};  // by DriverCall

  [[nodiscard]] const CallPrice& operator[](DriverCall call) const {
    return prices[static_cast<std::size_t>(call)];
  }
  // Kinds without a price count as free.
  [[nodiscard]] double milliseconds(const CallTallies& tallies) const;
  [[nodiscard]] std::vector<std::string_view> unpriced() const;
};

inline constexpr std::string_view kDefaultCosts = "a100";

[[nodiscard]] std::span<const CostTable> cost_tables();

// Null when there is no table of that name.
[[nodiscard]] const CostTable* find_cost_table(std::string_view name);

// "a100, …": for messages that must say which names are known.
[[nodiscard]] std::string known_cost_tables();

// All tables, for people.
[[nodiscard]] std::string describe_cost_tables();

}  // namespace ferry::replay
