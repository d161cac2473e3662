// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

namespace ferry {

namespace {

struct Unit {
  char letter;
  unsigned shift;
  [[nodiscard]] constexpr std::uint64_t bytes() const { return std::uint64_t{1} << shift; }
};
constexpr std::array<Unit, 6> kUnits{
    {{'K', 10}, {'M', 20}, {'G', 30}, {'T', 40}, {'P', 50}, {'E', 60}}};

// "" and "B" are bytes; "K", "KB" and "KiB" are all 1024 bytes.
std::optional<unsigned> unit_shift(std::string_view suffix) {
  std::string upper(suffix);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (upper.empty() || upper == "B") return 0U;
  const std::string tail = upper.substr(1);
  if (!tail.empty() && tail != "B" && tail != "IB") return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (unit.letter == upper[0]) return unit.shift;
  }
  return std::nullopt;
}

double in_unit(Bytes bytes, const Unit& unit) {
  return std::ldexp(static_cast<double>(bytes.count), -static_cast<int>(unit.shift));
}

// Reads the digits at the front of `text` and drops them. False: no digit, or too large.
bool take_number(std::string_view& text, std::uint64_t& number) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return error == std::errc{};
}

// Reads ".25" at the front of `text` and drops it. False: no digit after the point.
bool take_fraction(std::string_view& text, double& fraction) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789", 1), text.size());
  if (end == 1) return false;
  (void)std::from_chars(text.data(), text.data() + end, fraction, std::chars_format::fixed);
  fraction = std::min(fraction, std::nextafter(1.0, 0.0));  // ".99999999999999999999" reads as 1
  text.remove_prefix(end);
  return true;
}

}  // namespace

std::string format_bytes(Bytes bytes) {
  if (bytes.count < kUnits.front().bytes()) return fmt::format("{} B", bytes.count);
  // 1023.96 KiB would be printed as 1024.0 KiB: from there on the next unit is the honest one.
  std::size_t i = 0;
  while (i + 1 < kUnits.size() && in_unit(bytes, kUnits[i]) >= 1023.95) ++i;
  const Unit& unit = kUnits[i];
  if (bytes.count % unit.bytes() == 0) {
    return fmt::format("{} {}iB", bytes.count / unit.bytes(), unit.letter);
  }
  return fmt::format("{:.1f} {}iB", in_unit(bytes, unit), unit.letter);
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  std::uint64_t whole = 0;
  if (!take_number(text, whole)) return std::nullopt;
  double fraction = 0;
  const bool has_fraction = text.starts_with('.');
  if (has_fraction && !take_fraction(text, fraction)) return std::nullopt;
  while (text.starts_with(' ')) text.remove_prefix(1);
  const std::optional<unsigned> shift = unit_shift(text);
  if (!shift || (has_fraction && *shift == 0)) return std::nullopt;
  if (whole > std::numeric_limits<std::uint64_t>::max() >> *shift) return std::nullopt;
  const double rest = std::ldexp(fraction, static_cast<int>(*shift));
  return Bytes{(whole << *shift) + static_cast<std::uint64_t>(rest)};
}

}  // namespace ferry
