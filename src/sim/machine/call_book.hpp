// SPDX-License-Identifier: Apache-2.0
// How often each function was called, and which calls are to fail. Owned by the library; requires
// the library's lock.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/words/settings.hpp"
#include "sim/words/symbols.hpp"

namespace ferry::sim {

class CallBook {
 public:
  // Counts a call. Returns the result it must fail with, or 0 when it may proceed.
  [[nodiscard]] int enter(Symbol symbol);

  // Rules count from now on; several for one function are independent of each other.
  void add_rule(const FaultRule& rule) { rules_.push_back(rule); }

  // All variants of a base name together; 0 for an unknown name.
  [[nodiscard]] std::uint64_t calls(std::string_view name) const;

 private:
  std::array<std::uint64_t, kSymbols.size()> counts_{};
  std::vector<FaultRule> rules_;  // `nth` counts down; a rule goes when it has fired
};

}  // namespace ferry::sim
