// SPDX-License-Identifier: Apache-2.0
#include "sim/words/setting_values.hpp"

#include <algorithm>

#include "sim/words/error_text.hpp"

namespace ferry::sim {

std::optional<Bytes> parse_size(std::string_view text) {
  const std::optional<Bytes> size = parse_bytes(text);
  return size && *size == Bytes{} ? std::nullopt : size;
}

std::optional<std::int64_t> parse_moment(std::string_view text) {
  constexpr std::int64_t kDay = 86'400'000'000'000'000;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_number<std::int64_t>(text.substr(0, digits));
  if (!number) return std::nullopt;
  const std::string_view unit = text.substr(digits);
  std::int64_t picoseconds = 0;
  if (unit == "ns") picoseconds = 1'000;
  if (unit == "us") picoseconds = 1'000'000;
  if (unit == "ms") picoseconds = 1'000'000'000;
  if (unit == "s") picoseconds = 1'000'000'000'000;
  if (picoseconds == 0 || *number > kDay / picoseconds) return std::nullopt;
  return *number * picoseconds;
}

std::optional<int> parse_failure(std::string_view text) {
  std::optional<int> result = parse_number<int>(text);
  if (!result) result = result_by_name(text);
  return result && is_result(*result) && *result != 0 ? result : std::nullopt;
}

std::optional<Halves> split(std::string_view text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  return Halves{text.substr(0, at), text.substr(at + 1)};
}

}  // namespace ferry::sim
