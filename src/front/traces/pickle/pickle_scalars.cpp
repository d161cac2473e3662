// SPDX-License-Identifier: Apache-2.0
#include "front/traces/pickle/pickle_scalars.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "front/traces/messages.hpp"

namespace ferry::replay {
namespace {

// The text of INT ("42"; "00" and "01" are truth values) and LONG ("42L").
PickleValue read_decimal(Opcode opcode, PickleInput& input, PickleDocument& document) {
  std::string_view line;
  if (!input.take_line(line)) return {};
  if (opcode == Opcode::integer && (line == "00" || line == "01")) {
    return PickleDocument::make_boolean(line == "01");
  }
  std::string_view digits = line;
  if (opcode == Opcode::long_text && digits.ends_with('L')) digits.remove_suffix(1);
  PickleInteger number;
  number.negative = digits.starts_with('-');
  if (number.negative) digits.remove_prefix(1);
  const char* const last = digits.data() + digits.size();
  const auto [end, code] = std::from_chars(digits.data(), last, number.magnitude);
  number.beyond_64_bits = code == std::errc::result_out_of_range;
  if (code == std::errc::invalid_argument || end != last) {
    input.fail(fmt::format("has {} where a whole number belongs", in_quotes(line)));
    return {};
  }
  return document.make_integer(number);
}

PickleValue read_decimal_real(PickleInput& input, PickleDocument& document) {
  std::string_view line;
  if (!input.take_line(line)) return {};
  double value = 0;
  const char* const last = line.data() + line.size();
  const auto [end, code] = std::from_chars(line.data(), last, value);
  if (code == std::errc::invalid_argument || end != last) {
    input.fail(fmt::format("has {} where a number belongs", in_quotes(line)));
    return {};
  }
  return document.make_real(value);
}

// Two's complement, lowest byte first, of any length.
PickleValue read_long(std::uint64_t length, PickleInput& input, PickleDocument& document) {
  std::string_view raw;
  if (length > std::uint64_t{0x7fffffff}) {
    input.fail("has a number of negative length");
    return {};
  }
  if (!input.take(length, raw)) return {};
  PickleInteger number;
  if (raw.empty()) return document.make_integer(number);
  number.negative = (static_cast<unsigned char>(raw.back()) & 0x80U) != 0;
  const unsigned char filler = number.negative ? 0xff : 0x00;
  std::uint64_t low = number.negative ? ~std::uint64_t{0} : 0;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const auto byte = static_cast<unsigned char>(raw[i]);
    if (i < 8) {
      low &= ~(std::uint64_t{0xff} << (8 * i));
      low |= std::uint64_t{byte} << (8 * i);
    } else if (byte != filler) {
      number.beyond_64_bits = true;
    }
  }
  number.magnitude = number.negative ? ~low + 1 : low;
  // -2^64: the low 64 bits are all zero, and its magnitude needs 65.
  if (number.negative && low == 0) number.beyond_64_bits = true;
  return document.make_integer(number);
}

PickleValue read_binary_real(PickleInput& input, PickleDocument& document) {
  std::string_view raw;
  if (!input.take(8, raw)) return {};
  std::uint64_t bits = 0;
  for (const char c : raw) bits = (bits << 8) | static_cast<unsigned char>(c);
  return document.make_real(std::bit_cast<double>(bits));
}

PickleValue read_binary_integer(Opcode opcode, PickleInput& input, PickleDocument& document) {
  const unsigned width = opcode == Opcode::bin_int1 ? 1 : opcode == Opcode::bin_int2 ? 2 : 4;
  std::uint64_t value = 0;
  if (!input.take_number(width, value)) return {};
  if (opcode != Opcode::bin_int) return document.make_integer({false, false, value});
  const auto number = std::int64_t{static_cast<std::int32_t>(value)};  // the only signed one
  const auto magnitude = static_cast<std::uint64_t>(number < 0 ? -number : number);
  return document.make_integer({number < 0, false, magnitude});
}

PickleValue text_value(std::uint64_t offset, std::uint64_t length, PickleKind kind,
                       PickleInput& input, PickleDocument& document) {
  if (length > PickleDocument::kLongestText) {
    input.fail(fmt::format("has a single text of {}", format_bytes(Bytes{length})));
    return {};
  }
  return document.make_text(offset, length, kind);
}

PickleValue read_counted_text(unsigned width, PickleKind kind, PickleInput& input,
                              PickleDocument& document) {
  std::uint64_t length = 0;
  std::string_view raw;
  if (!input.take_number(width, length)) return {};
  const std::uint64_t start = input.at();
  if (!input.take(length, raw)) return {};
  return text_value(start, length, kind, input, document);
}

// A text of protocol 0. Escapes stay as they are written: no name that a reader looks for needs
// any.
PickleValue read_line_text(Opcode opcode, PickleInput& input, PickleDocument& document) {
  std::uint64_t start = input.at();
  std::string_view line;
  if (!input.take_line(line)) return {};
  if (opcode == Opcode::string) {
    const char quote = line.empty() ? '\0' : line.front();
    if (line.size() < 2 || (quote != '\'' && quote != '"') || line.back() != quote) {
      input.fail("has a text without its quotation marks");
      return {};
    }
    line = line.substr(1, line.size() - 2);
    ++start;
  }
  return text_value(start, line.size(), PickleKind::text, input, document);
}

}  // namespace

bool is_number_opcode(Opcode opcode) {
  switch (opcode) {
    case Opcode::none:
    case Opcode::new_true:
    case Opcode::new_false:
    case Opcode::integer:
    case Opcode::bin_int:
    case Opcode::bin_int1:
    case Opcode::bin_int2:
    case Opcode::long_text:
    case Opcode::long1:
    case Opcode::long4:
    case Opcode::real:
    case Opcode::bin_float:
      return true;
    default:
      return false;
  }
}

bool is_text_opcode(Opcode opcode) {
  switch (opcode) {
    case Opcode::string:
    case Opcode::bin_string:
    case Opcode::short_bin_string:
    case Opcode::unicode:
    case Opcode::bin_unicode:
    case Opcode::short_bin_unicode:
    case Opcode::bin_unicode8:
    case Opcode::bin_bytes:
    case Opcode::short_bin_bytes:
    case Opcode::bin_bytes8:
    case Opcode::byte_array8:
      return true;
    default:
      return false;
  }
}

PickleValue read_number(Opcode opcode, PickleInput& input, PickleDocument& document) {
  std::uint64_t length = 0;
  switch (opcode) {
    case Opcode::none:
      return PickleDocument::make_none();
    case Opcode::new_true:
      return PickleDocument::make_boolean(true);
    case Opcode::new_false:
      return PickleDocument::make_boolean(false);
    case Opcode::integer:
    case Opcode::long_text:
      return read_decimal(opcode, input, document);
    case Opcode::long1:
    case Opcode::long4:
      if (!input.take_number(opcode == Opcode::long1 ? 1 : 4, length)) return {};
      return read_long(length, input, document);
    case Opcode::real:
      return read_decimal_real(input, document);
    case Opcode::bin_float:
      return read_binary_real(input, document);
    default:
      return read_binary_integer(opcode, input, document);
  }
}

PickleValue read_text(Opcode opcode, PickleInput& input, PickleDocument& document) {
  switch (opcode) {
    case Opcode::string:
    case Opcode::unicode:
      return read_line_text(opcode, input, document);
    case Opcode::short_bin_string:
    case Opcode::short_bin_unicode:
      return read_counted_text(1, PickleKind::text, input, document);
    case Opcode::bin_string:
    case Opcode::bin_unicode:
      return read_counted_text(4, PickleKind::text, input, document);
    case Opcode::bin_unicode8:
      return read_counted_text(8, PickleKind::text, input, document);
    case Opcode::short_bin_bytes:
      return read_counted_text(1, PickleKind::bytes, input, document);
    case Opcode::bin_bytes:
      return read_counted_text(4, PickleKind::bytes, input, document);
    default:
      return read_counted_text(8, PickleKind::bytes, input, document);
  }
}

}  // namespace ferry::replay
