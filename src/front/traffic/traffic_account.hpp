// SPDX-License-Identifier: Apache-2.0
// Copies added up: by the steps of a training, their phases, and the way that the bytes went.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "front/traffic/traffic_records.hpp"

namespace ferry::traffic {

// Copies below are bound by what a call costs, not by the link (DESIGN.md section 7).
inline constexpr Bytes kSmallCopy = 64_KiB;

struct Amount {
  Bytes bytes;
  std::uint64_t calls = 0;
  std::uint64_t small_calls = 0;  // of less than kSmallCopy
  Bytes pageable_bytes;
  std::uint64_t pageable_calls = 0;
  std::uint64_t blocking_calls = 0;  // the host waited in them

  void add(const Copy& copy);
};

struct CallerAmount {
  Caller caller;
  Way way = Way::to_device;
  Amount amount;
};

struct WaitAmount {
  Caller caller;
  std::string call;
  std::uint64_t calls = 0;
};

struct PhaseAccount {
  std::string name;
  std::array<Amount, kWays> ways{};
  std::uint64_t waits = 0;
  std::vector<CallerAmount> callers;     // of copies over the link, those with most bytes first
  std::vector<WaitAmount> wait_callers;  // those with most calls first

  [[nodiscard]] const Amount& of(Way way) const { return ways[static_cast<std::size_t>(way)]; }
};

struct StepAccount {
  std::uint64_t step = 1;
  std::uint64_t micro_steps = 0;
  bool has_optimizer = false;        // a phase "step" is part of it
  std::vector<PhaseAccount> phases;  // in the order of their first begin
};

// What is called a phase: what the program was found to do, or its outermost ranges of NVTX.
enum class PhasesBy : std::uint8_t { phase, range };

[[nodiscard]] std::vector<StepAccount> add_up(const Records& records, PhasesBy by);

// The step that stands for the others: the last one in which an optimizer ran, or else the last.
// Requires: there is one.
[[nodiscard]] const StepAccount& typical_step(const std::vector<StepAccount>& steps);

}  // namespace ferry::traffic
