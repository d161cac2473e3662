// SPDX-License-Identifier: Apache-2.0
#include "front/replay/cost_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ferry::replay {

namespace {

constexpr CostTable make_a100() {
  CostTable table{.name = "a100",
                  .description =
                      "NVIDIA A100, microseconds per call. The growth with size (per MiB, per "
                      "mapping) is an assumption."};
  const auto price = [&](DriverCall call, CallPrice value) {
    table.prices[static_cast<std::size_t>(call)] = value;
  };
  price(DriverCall::create, {.per_call = 190, .per_mib = 1});
  price(DriverCall::map, {.per_call = 1.45});
  price(DriverCall::set_access, {.per_call = 34, .per_mapping = 1});
  price(DriverCall::unmap, {.per_call = 24, .per_mapping = 1.5});
  price(DriverCall::alloc, {.per_call = 160, .per_mib = 1});
  price(DriverCall::free, {.per_call = 300});
  price(DriverCall::synchronize, {.per_call = 10});
  return table;
}

constexpr std::array kTables{make_a100()};

std::string describe(const CallPrice& price) {
  if (!price.priced()) return "no price known, counted as free";
  std::string text = fmt::format("{:g}", price.per_call);
  if (price.per_mib > 0) text += fmt::format(" + {:g} per MiB", price.per_mib);
  if (price.per_mapping > 0) text += fmt::format(" + {:g} per mapping", price.per_mapping);
  return text;
}

}  // namespace

double CostTable::milliseconds(const CallTallies& tallies) const {
  double microseconds = 0;
  for (std::size_t i = 0; i < kDriverCallKinds; ++i) {
    const CallPrice& price = prices[i];
    const CallTally& tally = tallies.by_kind[i];
    const double mib = static_cast<double>(tally.bytes) / static_cast<double>((1_MiB).count);
    microseconds += price.per_call * static_cast<double>(tally.calls) + price.per_mib * mib +
                    price.per_mapping * static_cast<double>(tally.mappings);
  }
  return microseconds / 1000;
}

std::vector<std::string_view> CostTable::unpriced() const {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kDriverCallKinds; ++i) {
    if (!prices[i].priced()) names.push_back(name_of(static_cast<DriverCall>(i)));
  }
  return names;
}

std::span<const CostTable> cost_tables() {
  return kTables;
}

const CostTable* find_cost_table(std::string_view name) {
  const auto found = std::find_if(kTables.begin(), kTables.end(),
                                  [&](const CostTable& table) { return table.name == name; });
  return found == kTables.end() ? nullptr : &*found;
}

std::string known_cost_tables() {
  std::string names;
  for (const CostTable& table : kTables) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", table.name);
  }
  return names;
}

std::string describe_cost_tables() {
  std::string text;
  for (const CostTable& table : kTables) {
    text += fmt::format("{}{}: {}\n", text.empty() ? "" : "\n", table.name, table.description);
    for (std::size_t i = 0; i < kDriverCallKinds; ++i) {
      text += fmt::format("  {:<14} {}\n", name_of(static_cast<DriverCall>(i)),
                          describe(table.prices[i]));
    }
  }
  return text;
}

}  // namespace ferry::replay
