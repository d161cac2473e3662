// SPDX-License-Identifier: Apache-2.0
#include "front/report/html_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace ferry::replay {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

// Length of the well-formed UTF-8 sequence of several bytes at the front of `text`; 0 when there is
// none. The ranges of the second byte leave out overlong forms, surrogates and what lies beyond
// U+10FFFF.
std::size_t sequence_length(std::string_view text) {
  const std::uint8_t lead = byte_at(text, 0);
  std::size_t length = 0;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  }
  if (length == 0 || text.size() < length) return 0;
  if (byte_at(text, 1) < low || byte_at(text, 1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte_at(text, i) < 0x80 || byte_at(text, i) > 0xBF) return 0;
  }
  return length;
}

// The text for one byte of ASCII.
std::string_view escaped_ascii(std::string_view character) {
  switch (character[0]) {
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '&':
      return "&amp;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    case '\t':
    case '\n':
      return character;
    default:
      return byte_at(character, 0) < 0x20 || byte_at(character, 0) == 0x7F ? kReplacement
                                                                           : character;
  }
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t length = 1;
    if (byte_at(text, 0) < 0x80) {
      out += escaped_ascii(text.substr(0, 1));
    } else if (length = sequence_length(text); length > 0) {
      out += text.substr(0, length);
    } else {
      out += kReplacement;
      length = 1;
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string grouped(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, 1, ',');
  return digits;
}

std::string precise_bytes(Bytes bytes, std::string_view space) {
  constexpr std::array<std::string_view, 6> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes.count < 1024) return fmt::format("{}{}B", bytes.count, space);
  double value = static_cast<double>(bytes.count) / 1024;
  std::size_t unit = 0;
  // From 1023.9995 on the number would be printed as 1024.000 of the smaller unit.
  while (value >= 1023.9995 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  std::string number = fmt::format("{:.3f}", value);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return fmt::format("{}{}{}", number, space, kUnits[unit]);
}

std::string ratio_text(Bytes part, Bytes whole) {
  if (whole.count == 0) return "–";
  return fmt::format("{:.3f}×", static_cast<double>(part.count) / static_cast<double>(whole.count));
}

std::string counted(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

}  // namespace ferry::replay
