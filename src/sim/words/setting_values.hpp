// SPDX-License-Identifier: Apache-2.0
// The values that settings are made of: numbers, sizes, moments, results. A reader answers what it
// expected where it did not understand. Pure.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/bytes.hpp"

namespace ferry::sim {

// What would have been valid; nothing when the value was understood.
using Problem = std::optional<std::string>;

template <typename Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return number;
}

// A size that is not zero.
[[nodiscard]] std::optional<Bytes> parse_size(std::string_view text);

// "20us", in picoseconds: a whole number of ns, us, ms or s, up to a day.
[[nodiscard]] std::optional<std::int64_t> parse_moment(std::string_view text);

// A CUresult that is a failure, as a number or as a name of cuda.h.
[[nodiscard]] std::optional<int> parse_failure(std::string_view text);

// What comes before the first `mark` and after it. Nothing where there is no mark.
struct Halves {
  std::string_view before;
  std::string_view after;
};
[[nodiscard]] std::optional<Halves> split(std::string_view text, char mark);

}  // namespace ferry::sim
