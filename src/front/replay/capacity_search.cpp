// SPDX-License-Identifier: Apache-2.0
#include "front/replay/capacity_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace ferry::replay {

namespace {

// Beyond any device, and small enough for sums not to wrap.
constexpr Bytes kLargestCapacity{std::uint64_t{1} << 50};
constexpr double kLargestRatio = 1000;

Bytes within_reason(Bytes bytes) {
  return std::clamp(bytes, Bytes{1}, kLargestCapacity);
}

std::optional<double> parse_ratio(std::string_view text) {
  double ratio = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, ratio, std::chars_format::fixed);
  if (error != std::errc{} || rest != end || !(ratio > 0) || ratio > kLargestRatio) {
    return std::nullopt;
  }
  return ratio;
}

}  // namespace

Result<CapacityOption, std::string> CapacityOption::parse(std::string_view text) {
  if (text.empty()) return CapacityOption{};
  if (text == "min") return CapacityOption{.kind = Kind::minimum};
  if (text.back() == 'x') {
    if (const auto ratio = parse_ratio(text.substr(0, text.size() - 1))) {
      return CapacityOption{.kind = Kind::ratio, .ratio = *ratio};
    }
  } else if (const auto size = parse_bytes(text); size && *size != Bytes{}) {
    if (*size <= kLargestCapacity) return CapacityOption{.kind = Kind::size, .size = *size};
    return fmt::format("--capacity: {} is more than {}, the most that can be given.", text,
                       format_bytes(kLargestCapacity));
  }
  return fmt::format(
      "--capacity: \"{}\" is neither a size such as 24GiB, nor a multiple of the peak live memory "
      "such as 1.05x, nor min.",
      text);
}

Bytes CapacityOption::bytes_for(Bytes peak_live) const {
  if (kind == Kind::size) return size;
  const double bytes = std::floor(ratio * static_cast<double>(peak_live.count));
  if (bytes >= static_cast<double>(kLargestCapacity.count)) return kLargestCapacity;
  return within_reason(Bytes{static_cast<std::uint64_t>(bytes)});
}

Result<Bytes, std::string> find_min_capacity(Bytes peak_live, Bytes enough,
                                             const CompletesAt& completes_at) {
  const auto steps_for = [](Bytes bytes) {
    return std::max<std::uint64_t>(align_up(bytes, kCapacityStep) / kCapacityStep, 1);
  };
  std::uint64_t fails = steps_for(peak_live);
  Result<bool, std::string> completed = completes_at(kCapacityStep * fails);
  if (!completed) return completed.error();
  if (*completed) return kCapacityStep * fails;

  // What an unlimited run held need not be enough for a limited one, which may reuse in another
  // order: widen until something is.
  std::uint64_t completes = std::max(steps_for(enough), fails + 1);
  for (;;) {
    completed = completes_at(kCapacityStep * completes);
    if (!completed) return completed.error();
    if (*completed) break;
    const std::uint64_t gap = completes - fails;
    fails = completes;
    completes += 2 * gap;
    if (kCapacityStep * completes > kLargestCapacity) {
      return fmt::format("it completes with unlimited memory, but not with {}.",
                         format_bytes(kCapacityStep * fails));
    }
  }
  while (completes - fails > 1) {
    const std::uint64_t middle = fails + (completes - fails) / 2;
    completed = completes_at(kCapacityStep * middle);
    if (!completed) return completed.error();
    (*completed ? completes : fails) = middle;
  }
  return kCapacityStep * completes;
}

}  // namespace ferry::replay
