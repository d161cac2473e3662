// SPDX-License-Identifier: Apache-2.0
#include "sim/words/ptx_symbols.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstring>
#include <span>

#include "sim/words/ptx_words.hpp"

namespace ferry::sim {

namespace {

using Words = std::span<const std::string_view>;

// Initial values are kept up to here; what is declared without any may be larger.
constexpr std::uint64_t kMostInitial = std::uint64_t{1} << 30;
constexpr std::size_t kDeepestBraces = 16;

struct Type {
  std::uint64_t bytes = 0;  // 0: none that a variable can have
  bool is_float = false;
};

Type type_of(std::string_view word) {
  for (const std::string_view kind : {".b", ".u", ".s", ".f", ".bf"}) {
    if (!word.starts_with(kind)) continue;
    const std::string_view bits = word.substr(kind.size());
    if (bits == "8") return {1, false};
    if (bits == "16") return {2, false};  // floats of 16 bits are written as their bits
    if (bits == "16x2") return {4, false};
    if (bits == "32") return {4, kind == ".f"};
    if (bits == "64") return {8, kind == ".f"};
    if (bits == "128") return {16, false};
  }
  return {};
}

std::optional<std::uint64_t> read_digits(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc{} || end == digits.data()) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(digits.data() + digits.size() - end));
  return rest.empty() || rest == "U" ? std::optional(value) : std::nullopt;
}

std::uint64_t bits_of(double value, const Type& type) {
  return type.bytes == 4 ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                         : std::bit_cast<std::uint64_t>(value);
}

// The bits of a number; nothing where it is a name.
std::optional<std::uint64_t> read_number(std::string_view word, const Type& type, bool negative) {
  if (word.empty() || std::isdigit(static_cast<unsigned char>(word.front())) == 0)
    return std::nullopt;
  const std::string_view prefix = word.substr(0, 2);
  const auto is = [&](std::string_view small, std::string_view large) {
    return prefix == small || prefix == large;
  };
  const bool single = is("0f", "0F");
  if (single || is("0d", "0D")) {
    const auto bits = read_digits(word.substr(2), 16);
    if (!bits) return std::nullopt;
    const double value = single ? std::bit_cast<float>(static_cast<std::uint32_t>(*bits))
                                : std::bit_cast<double>(*bits);
    return bits_of(negative ? -value : value, type);
  }
  if (type.is_float) {
    double value = 0;  // what is no number stays zero
    std::from_chars(word.data(), word.data() + word.size(), value);
    return bits_of(negative ? -value : value, type);
  }
  std::optional<std::uint64_t> value;
  if (is("0x", "0X")) {
    value = read_digits(word.substr(2), 16);
  } else if (is("0b", "0B")) {
    value = read_digits(word.substr(2), 2);
  } else {
    value = read_digits(word, word.front() == '0' && word.size() > 1 ? 8 : 10);
  }
  return value && negative ? std::optional(std::uint64_t{0} - *value) : value;
}

// One variable while it is read.
class Declarator {
 public:
  Declarator(Type type, std::uint64_t vector) : type_(type), vector_(vector) {}

  // Takes its words, up to the next "," or the end. Nothing where it has no bytes, or more than any
  // memory.
  std::optional<ImageVariable> take(Words& words) {
    variable_.name = words.front();
    words = words.subspan(1);
    bool open_ended = false;
    while (!words.empty() && words.front() == "[") {
      const auto count = words.size() > 1 ? read_digits(words[1], 10) : std::nullopt;
      open_ended |= !count;
      sides_.push_back(count.value_or(1));
      words = words.subspan(std::min<std::size_t>(count ? 3 : 2, words.size()));
    }
    if (vector_ > 1) sides_.push_back(vector_);
    const auto bytes = step_of(0);
    if (!bytes || *bytes == 0) return std::nullopt;
    most_ = open_ended ? kMostInitial : std::min(*bytes, kMostInitial);
    if (!words.empty() && words.front() == "=") {
      words = words.subspan(1);
      take_value(words, 0, 0);
    }
    while (!words.empty() && words.front() != ",") words = words.subspan(1);
    variable_.bytes = *bytes;
    if (open_ended) variable_.bytes = (variable_.initial.size() + *bytes - 1) / *bytes * *bytes;
    return variable_.bytes == 0 ? std::nullopt : std::optional(std::move(variable_));
  }

 private:
  // From one element of the given level of braces to the next; that of level 0 is the variable.
  [[nodiscard]] std::optional<std::uint64_t> step_of(std::size_t level) const {
    std::uint64_t bytes = type_.bytes;
    for (std::size_t side = level; side < sides_.size(); ++side) {
      if (__builtin_mul_overflow(bytes, sides_[side], &bytes)) return std::nullopt;
    }
    return bytes;
  }

  void take_value(Words& words, std::uint64_t offset, std::size_t level) {
    if (words.empty() || words.front() != "{" || level == kDeepestBraces) {
      take_scalar(words, offset);
      return;
    }
    words = words.subspan(1);
    while (!words.empty() && words.front() != "}") {
      if (words.front() == ",") {
        words = words.subspan(1);
        continue;
      }
      const std::uint64_t step =
          words.front() == "{" ? step_of(level + 1).value_or(most_) : type_.bytes;
      take_value(words, offset, level + 1);
      if (__builtin_add_overflow(offset, step, &offset)) offset = most_;
    }
    if (!words.empty()) words = words.subspan(1);
  }

  // What is no number is the address of something, and stays zero.
  void take_scalar(Words& words, std::uint64_t offset) {
    const bool negative = !words.empty() && words.front() == "-";
    if (negative) words = words.subspan(1);
    const auto value = words.empty() ? std::nullopt : read_number(words.front(), type_, negative);
    int depth = 0;
    while (!words.empty()) {
      if (depth == 0 && (words.front() == "," || words.front() == "}")) break;
      if (words.front() == "(") ++depth;
      if (words.front() == ")") --depth;
      words = words.subspan(1);
    }
    if (offset > most_ || type_.bytes > most_ - offset) return;
    std::vector<std::byte>& bytes = variable_.initial;
    if (bytes.size() < offset + type_.bytes) bytes.resize(offset + type_.bytes);
    if (value) std::memcpy(&bytes[offset], &*value, std::min(type_.bytes, sizeof *value));
  }

  Type type_;
  std::uint64_t vector_;
  std::vector<std::uint64_t> sides_;
  std::uint64_t most_ = 0;
  ImageVariable variable_;
};

bool holds(Words words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// From behind `.global` or `.const` on.
void read_variables(Words words, ImageSymbols& out) {
  bool managed = false;
  std::uint64_t vector = 1;
  Type type;
  while (!words.empty() && type.bytes == 0) {
    const std::string_view word = words.front();
    words = words.subspan(1);
    if (word == ".managed") managed = true;
    if (word == ".v2") vector = 2;
    if (word == ".v4") vector = 4;
    if (word.starts_with('.')) type = type_of(word);
  }
  while (!words.empty()) {
    auto variable = Declarator(type, vector).take(words);
    if (variable) {
      variable->managed = managed;
      out.variables.push_back(std::move(*variable));
    }
    if (!words.empty()) words = words.subspan(1);
  }
}

// One statement outside of functions: without its ";", or without the body in braces.
void read_statement(Words words, ImageSymbols& out) {
  const auto entry = std::ranges::find(words, ".entry");
  if (entry != words.end()) {
    const auto name = std::next(entry);
    if (name != words.end() && !out.has_kernel(*name)) out.kernels.emplace_back(*name);
    return;
  }
  if (holds(words, ".func") || holds(words, ".extern")) return;
  const auto space = std::ranges::find_if(
      words, [](std::string_view word) { return word == ".global" || word == ".const"; });
  if (space != words.end()) read_variables(Words(std::next(space), words.end()), out);
}

void skip_body(std::string_view& text) {
  int depth = 1;
  while (depth > 0 && !text.empty()) {
    const std::string_view word = take_ptx_word(text);
    if (word == "{") ++depth;
    if (word == "}") --depth;
  }
}

}  // namespace

ImageSymbols read_ptx_symbols(std::string_view text) {
  ImageSymbols symbols;
  std::vector<std::string_view> statement;
  bool has_value = false;  // braces are those of a value then, not of a body
  for (std::string_view word = take_ptx_word(text); !word.empty(); word = take_ptx_word(text)) {
    const bool is_body = word == "{" && !has_value;
    if (word != ";" && !is_body) {
      has_value |= word == "=";
      statement.push_back(word);
      continue;
    }
    read_statement(statement, symbols);
    if (is_body) skip_body(text);
    statement.clear();
    has_value = false;
  }
  return symbols;
}

}  // namespace ferry::sim
