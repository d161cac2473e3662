// SPDX-License-Identifier: Apache-2.0
// How often each function was called, and what is to happen to which calls. Owned by the library;
// requires the library's lock.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "sim/words/fault_rule.hpp"
#include "sim/words/symbols.hpp"

namespace ferry::sim {

// What the rules make of one call.
struct Verdict {
  int result = 0;       // it fails with this CUresult; 0: it may proceed
  bool sticky = false;  // and the failure poisons the current context
  std::chrono::milliseconds stall{0};
};

class CallBook {
 public:
  // Counts a call that asks for `bytes`, of no meaning for most functions.
  [[nodiscard]] Verdict enter(Symbol symbol, std::uint64_t bytes = 0);

  // Rules count from now on; several for one function are independent of each other. The first
  // that makes a call fail names the result; calls stand still as long as all rules together say.
  void add_rule(const FaultRule& rule, std::uint64_t seed = 0);
  void add_lost(const LostDevice& lost) { losing_.push_back(lost); }

  // The devices that have been lost since it was last asked.
  [[nodiscard]] std::vector<LostDevice> take_lost();

  // What a call cost the host, in picoseconds of virtual time.
  void add_cost(Symbol symbol, std::int64_t picoseconds) {
    costs_[static_cast<std::size_t>(symbol)] += static_cast<std::uint64_t>(picoseconds);
  }

  // All variants of a base name together; 0 for an unknown name.
  [[nodiscard]] std::uint64_t calls(std::string_view name) const { return sum(counts_, name); }
  [[nodiscard]] std::uint64_t cost(std::string_view name) const { return sum(costs_, name); }

 private:
  struct Watch {
    FaultRule rule;
    std::uint64_t seen = 0;   // calls of its function so far
    std::uint64_t spent = 0;  // bytes of its budget
    std::mt19937_64 random;
  };

  [[nodiscard]] static bool strikes(Watch& watch, std::uint64_t bytes);

  using BySymbol = std::array<std::uint64_t, kSymbols.size()>;
  [[nodiscard]] static std::uint64_t sum(const BySymbol& amounts, std::string_view name);

  BySymbol counts_{};
  BySymbol costs_{};
  std::vector<Watch> watches_;
  std::vector<LostDevice> losing_;  // `nth` counts down
};

}  // namespace ferry::sim
