// SPDX-License-Identifier: Apache-2.0
// What is to happen to calls of a function, and to which of them:
//   FUNCTION@WHICH:RESULT, where WHICH is
//     3          the third call from now
//     3-5, 3-    the third to the fifth, or all from the third on
//     every4     the fourth, the eighth and so on
//     p0.25      each with this probability (p0.25/7: drawn from the seed 7)
//     after1GiB  those that ask for more than is left of so many bytes
//   RESULT,sticky   the call also poisons the current context, as a fault of the device does
// and FUNCTION@WHICH:MILLISECONDS for calls that stand still. Plain data and its reader.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/words/setting_values.hpp"

namespace ferry::sim {

// Which calls a rule is about, counted from 1 = the next.
struct Trigger {
  enum class Kind : std::uint8_t { count, every, chance, budget };

  Kind kind = Kind::count;
  std::uint64_t first = 1;
  std::uint64_t last = 1;
  std::uint64_t every = 1;
  std::uint32_t millionths = 0;       // of a chance
  std::optional<std::uint64_t> seed;  // of a chance; otherwise that of the settings
  std::uint64_t budget = 0;           // in bytes

  [[nodiscard]] static Trigger nth(std::uint64_t call) {
    Trigger trigger;
    trigger.first = trigger.last = call;
    return trigger;
  }
};

struct FaultRule {
  std::string function;  // base name
  Trigger when;
  int result = 0;       // a CUresult; 0: the call goes on
  bool sticky = false;  // the current context is poisoned too
  std::chrono::milliseconds stall{0};
};

// From a call on, whichever it is, a device answers nothing but `result` any more.
struct LostDevice {
  int device = 0;
  std::uint64_t nth = 1;
  int result = 0;
};

[[nodiscard]] Problem read_fault(std::vector<FaultRule>& rules, std::string_view value);
[[nodiscard]] Problem read_stall(std::vector<FaultRule>& rules, std::string_view value);
// DEVICE, DEVICE@N or DEVICE@N:RESULT.
[[nodiscard]] Problem read_lost(std::vector<LostDevice>& lost, std::string_view value);

// The functions that pass the size they are asked for to the gate, by base name.
[[nodiscard]] bool asks_for_bytes(std::string_view function);

}  // namespace ferry::sim
