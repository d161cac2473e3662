// SPDX-License-Identifier: Apache-2.0
#include "sim/words/fault_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sim/words/symbols.hpp"

namespace ferry::sim {

namespace {

constexpr int kDeviceUnavailable = 46;  // CUDA_ERROR_DEVICE_UNAVAILABLE
constexpr std::uint64_t kLongestStall = 600'000;

constexpr std::array<std::string_view, 10> kAskForBytes{
    "cuMemAlloc",      "cuMemAllocPitch",         "cuMemAllocManaged", "cuMemAllocHost",
    "cuMemAllocAsync", "cuMemAllocFromPoolAsync", "cuMemHostAlloc",    "cuMemHostRegister",
    "cuMemCreate",     "cuMemAddressReserve"};

Problem read_chance(Trigger& trigger, std::string_view text) {
  trigger.kind = Trigger::Kind::chance;
  if (const std::optional<Halves> halves = split(text, '/')) {
    trigger.seed = parse_number<std::uint64_t>(halves->after);
    if (!trigger.seed) return "a seed after the /, such as p0.25/7";
    text = halves->before;
  }
  constexpr double kMillion = 1e6;
  const std::optional<double> chance = parse_number<double>(text);
  if (!chance || !(*chance * kMillion >= 1) || *chance > 1)
    return "a probability from 0.000001 to 1 after the p";
  trigger.millionths = static_cast<std::uint32_t>(std::lround(*chance * kMillion));
  return std::nullopt;
}

Problem read_count(Trigger& trigger, std::string_view text) {
  const std::optional<Halves> range = split(text, '-');
  const auto first = parse_number<std::uint64_t>(range ? range->before : text);
  std::optional<std::uint64_t> last = first;
  if (range) {
    last = range->after.empty() ? std::numeric_limits<std::uint64_t>::max()
                                : parse_number<std::uint64_t>(range->after);
  }
  if (!first || *first == 0 || !last || *last < *first) {
    return "a call number from 1 on after the @, or 3-5, 3-, every4, p0.25 or after64MiB";
  }
  trigger.first = *first;
  trigger.last = *last;
  return std::nullopt;
}

Problem read_trigger(Trigger& trigger, std::string_view function, std::string_view text) {
  constexpr std::string_view kEvery = "every";
  constexpr std::string_view kAfter = "after";
  if (text.starts_with(kEvery)) {
    const auto every = parse_number<std::uint64_t>(text.substr(kEvery.size()));
    if (!every || *every == 0) return "a number from 1 on after every";
    trigger.kind = Trigger::Kind::every;
    trigger.every = *every;
    return std::nullopt;
  }
  if (text.starts_with(kAfter)) {
    const std::optional<Bytes> budget = parse_bytes(text.substr(kAfter.size()));
    if (!budget) return "a size after the word after, such as after64MiB";
    if (!asks_for_bytes(function))
      return fmt::format("a byte budget only for a function that allocates, not '{}'", function);
    trigger.kind = Trigger::Kind::budget;
    trigger.budget = budget->count;
    return std::nullopt;
  }
  if (text.starts_with('p')) return read_chance(trigger, text.substr(1));
  return read_count(trigger, text);
}

// FUNCTION@WHICH:REST; `rest` is left to the caller.
Problem read_rule(FaultRule& rule, std::string_view& rest, std::string_view value,
                  const char* shape) {
  const std::optional<Halves> halves = split(value, ':');
  const std::optional<Halves> front = halves ? split(halves->before, '@') : std::nullopt;
  if (!front) return shape;
  if (!is_function_name(front->before)) {
    return fmt::format("a driver function of the stand-in by its base name, not '{}'",
                       front->before);
  }
  rule.function = front->before;
  rest = halves->after;
  return read_trigger(rule.when, front->before, front->after);
}

}  // namespace

bool asks_for_bytes(std::string_view function) {
  return std::find(kAskForBytes.begin(), kAskForBytes.end(), function) != kAskForBytes.end();
}

Problem read_fault(std::vector<FaultRule>& rules, std::string_view value) {
  FaultRule rule;
  std::string_view rest;
  if (Problem expected =
          read_rule(rule, rest, value, "FUNCTION@WHICH:RESULT, such as cuMemCreate@3:2"))
    return expected;
  constexpr std::string_view kSticky = ",sticky";
  if (rest.ends_with(kSticky)) {
    rule.sticky = true;
    rest.remove_suffix(kSticky.size());
  }
  const std::optional<int> result = parse_failure(rest);
  if (!result) return "a CUresult of cuda.h that is a failure after the :, and at most ,sticky";
  rule.result = *result;
  rules.push_back(std::move(rule));
  return std::nullopt;
}

Problem read_stall(std::vector<FaultRule>& rules, std::string_view value) {
  FaultRule rule;
  std::string_view rest;
  if (Problem expected =
          read_rule(rule, rest, value, "FUNCTION@WHICH:MILLISECONDS, such as cuMemCreate@3:50"))
    return expected;
  const auto milliseconds = parse_number<std::uint64_t>(rest);
  if (!milliseconds || *milliseconds == 0 || *milliseconds > kLongestStall)
    return fmt::format("milliseconds from 1 to {} after the :", kLongestStall);
  rule.stall = std::chrono::milliseconds(*milliseconds);
  rules.push_back(std::move(rule));
  return std::nullopt;
}

Problem read_lost(std::vector<LostDevice>& lost, std::string_view value) {
  LostDevice rule;
  rule.result = kDeviceUnavailable;
  if (const std::optional<Halves> halves = split(value, ':')) {
    const std::optional<int> result = parse_failure(halves->after);
    if (!result) return "a CUresult of cuda.h that is a failure after the :";
    rule.result = *result;
    value = halves->before;
  }
  if (const std::optional<Halves> halves = split(value, '@')) {
    const auto nth = parse_number<std::uint64_t>(halves->after);
    if (!nth || *nth == 0) return "a call number from 1 on after the @";
    rule.nth = *nth;
    value = halves->before;
  }
  const std::optional<int> device = parse_number<int>(value);
  if (!device || *device < 0) return "DEVICE, DEVICE@N or DEVICE@N:RESULT, such as 0@100";
  rule.device = *device;
  lost.push_back(rule);
  return std::nullopt;
}

}  // namespace ferry::sim
