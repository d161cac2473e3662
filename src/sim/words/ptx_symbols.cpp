// SPDX-License-Identifier: Apache-2.0
#include "sim/words/ptx_symbols.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <set>

#include "sim/words/ptx_constants.hpp"
#include "sim/words/ptx_words.hpp"

namespace ferry::sim {

namespace {

using Words = PtxWords;

constexpr std::size_t kMostSides = 64;

struct Type {
  std::uint64_t bytes = 0;  // 0: none that a variable can have
  char kind = 0;            // 'f' is a float, 'b' bits, which may be written as one
};

// The first thing that is wrong. What stands behind it is not read.
struct Fault {
  std::string_view at;
  std::string what;

  [[nodiscard]] bool is_there() const { return !what.empty(); }
};

Type type_of(std::string_view word) {
  for (const std::string_view kind : {".b", ".u", ".s", ".f", ".bf"}) {
    if (!word.starts_with(kind)) continue;
    const std::string_view bits = word.substr(kind.size());
    if (bits == "8") return {1, kind[1]};
    if (bits == "16") return {2, 'u'};  // floats of 16 bits are written as their bits
    if (bits == "16x2") return {4, 'u'};
    if (bits == "32") return {4, kind[1]};
    if (bits == "64") return {8, kind[1]};
    if (bits == "128") return {16, kind[1]};
  }
  return {};
}

// A constant as a value of a type; nothing where the type has none such.
std::optional<std::uint64_t> bits_of(const PtxConstant& constant, const Type& type) {
  if (!constant.is_float() && type.kind != 'f') {
    const bool is_negative = constant.kind == PtxConstant::Kind::with_sign &&
                             static_cast<std::int64_t>(constant.integer) < 0;
    return is_negative && type.bytes > 8 ? std::nullopt : std::optional(constant.integer);
  }
  if (type.kind != 'f' && type.kind != 'b') return std::nullopt;
  if (type.bytes != 4 && type.bytes != 8) return std::nullopt;
  double number = constant.number;
  if (!constant.is_float()) {
    number = constant.kind == PtxConstant::Kind::with_sign
                 ? static_cast<double>(static_cast<std::int64_t>(constant.integer))
                 : static_cast<double>(constant.integer);
  }
  const bool is_single =
      type.bytes == 4 || (type.kind == 'b' && constant.kind == PtxConstant::Kind::single_bits);
  return is_single ? std::bit_cast<std::uint32_t>(static_cast<float>(number))
                   : std::bit_cast<std::uint64_t>(number);
}

// One variable while it is read.
class Declarator {
 public:
  Declarator(Type type, std::uint64_t vector, Fault& fault)
      : type_(type), vector_(vector), fault_(fault) {}

  // Takes its words, up to the next "," or the end. Nothing where it has no size, or one larger
  // than any memory.
  std::optional<ImageVariable> take(Words& words, bool is_extern) {
    const std::string_view name = words.front();
    variable_.name = name;
    words = words.subspan(1);
    while (!words.empty() && words.front() == "[") take_side(words);
    if (vector_ > 1) sides_.push_back(vector_);
    const bool has_size = !fault_.is_there() && measure();
    if (has_size && !words.empty() && words.front() == "=") {
      words = words.subspan(1);
      take_value(words, 0);
    }
    while (!words.empty() && words.front() != ",") words = words.subspan(1);
    if (!has_size || fault_.is_there()) return std::nullopt;
    if (open_ended_ && __builtin_mul_overflow(variable_.bytes, rows_, &variable_.bytes))
      return std::nullopt;
    if (variable_.bytes > 0) return std::move(variable_);
    if (!is_extern) fail(name, "a variable without a size");
    return std::nullopt;
  }

 private:
  void fail(std::string_view at, std::string_view what) {
    if (!fault_.is_there()) fault_ = {at, std::string(what)};
  }

  void take_side(Words& words) {
    const std::string_view bracket = words.front();
    const auto end = std::ranges::find(words, "]");
    const Words inner(std::next(words.begin()), end);
    words = Words(end == words.end() ? end : std::next(end), words.end());
    if (end == inner.begin() && sides_.empty() && !open_ended_) {
      open_ended_ = true;
      sides_.push_back(1);
      return;
    }
    const auto side = read_ptx_constant(inner);
    const bool counts = side && !side->is_float() && side->integer != 0 &&
                        (side->kind != PtxConstant::Kind::with_sign ||
                         static_cast<std::int64_t>(side->integer) > 0);
    if (!counts || sides_.size() == kMostSides) {
      fail(bracket, counts ? "too many dimensions" : "a size that is no number above 0");
      return;
    }
    sides_.push_back(side->integer);
  }

  // False where it is larger than any memory.
  bool measure() {
    variable_.bytes = type_.bytes;
    return std::ranges::none_of(sides_, [&](std::uint64_t side) {
      return __builtin_mul_overflow(variable_.bytes, side, &variable_.bytes);
    });
  }

  // Each level of braces is a dimension, and only the innermost has values. They follow each other
  // without gaps, as the toolkit's assembler has it, even where a row has fewer than its elements.
  void take_value(Words& words, std::size_t level) {
    if (words.empty() || (words.front() == "{") != (level < sides_.size())) {
      fail(words.empty() ? std::string_view() : words.front(), "a value that the type has not");
      return;
    }
    if (level == sides_.size()) {
      take_scalar(words);
      return;
    }
    const std::string_view brace = words.front();
    words = words.subspan(1);
    const bool is_open = level == 0 && open_ended_;
    std::uint64_t count = 0;
    for (; !words.empty() && words.front() != "}"; ++count) {
      if (!is_open && count == sides_[level]) fail(words.front(), "more values than elements");
      take_value(words, level + 1);
      if (fault_.is_there()) return;
      if (!words.empty() && words.front() == ",") words = words.subspan(1);
    }
    if (is_open) rows_ = count;
    if (vector_ > 1 && level + 1 == sides_.size() && count != vector_)
      fail(brace, "fewer values than the vector has");
    if (!words.empty()) words = words.subspan(1);
  }

  // What is no constant stays zero.
  void take_scalar(Words& words) {
    int depth = 0;
    std::size_t length = 0;
    for (; length < words.size(); ++length) {
      const std::string_view word = words[length];
      if (depth == 0 && (word == "," || word == "}")) break;
      if (word == "(") ++depth;
      if (word == ")") --depth;
    }
    const auto constant = read_ptx_constant(words.first(length));
    const auto value = constant ? bits_of(*constant, type_) : std::nullopt;
    words = words.subspan(length);
    variable_.partly_unknown |= !value;
    std::vector<std::byte>& bytes = variable_.initial;
    const std::size_t offset = bytes.size();
    bytes.resize(offset + type_.bytes);
    if (value) std::memcpy(&bytes[offset], &*value, std::min(type_.bytes, sizeof *value));
  }

  Type type_;
  std::uint64_t vector_;
  Fault& fault_;
  bool open_ended_ = false;
  std::uint64_t rows_ = 0;  // that an open side has values for
  std::vector<std::uint64_t> sides_;
  ImageVariable variable_;
};

bool holds(Words words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  ImageSymbols read() {
    std::string_view rest = text_;
    std::vector<std::string_view> statement;
    bool has_value = false;  // braces are those of a value then, not of a body
    const auto next = [&] { return take_ptx_word(rest, &unclosed_); };
    for (std::string_view word = next(); !word.empty() && !fault_.is_there(); word = next()) {
      if (word == "}" && !has_value) fault_ = {word, "a brace that closes nothing"};
      const bool is_body = word == "{" && !has_value;
      if (word != ";" && !is_body) {
        has_value |= word == "=";
        statement.push_back(word);
        continue;
      }
      read_statement(statement);
      if (is_body && !skip_body(rest)) end_early(word);
      statement.clear();
      has_value = false;
    }
    if (declares(statement)) end_early(statement.back());
    if (unclosed_) end_early(text_.substr(text_.size()));
    add_undefined();
    if (fault_.is_there())
      symbols_.fault = fmt::format("line {}: {}", line_of(fault_.at), fault_.what);
    return std::move(symbols_);
  }

 private:
  void end_early(std::string_view at) {
    if (!fault_.is_there()) fault_ = {at, "the text ends before what begins here"};
  }

  // As the text has it, from 1.
  [[nodiscard]] std::ptrdiff_t line_of(std::string_view at) const {
    const std::string_view before =
        at.data() == nullptr ? text_
                             : text_.substr(0, static_cast<std::size_t>(at.data() - text_.data()));
    return 1 + std::ranges::count(before, '\n');
  }

  // Not only the directives at the beginning, which have no end of their own.
  static bool declares(Words words) {
    return std::ranges::any_of(
        std::initializer_list<std::string_view>{".global", ".const", ".shared", ".entry", ".func",
                                                ".visible", ".extern", ".weak", ".common"},
        [&](std::string_view word) { return holds(words, word); });
  }

  // One statement outside of functions: without its ";", or without the body in braces.
  void read_statement(Words words) {
    const auto entry = std::ranges::find(words, ".entry");
    if (entry != words.end()) {
      const auto name = std::next(entry);
      if (name != words.end() && !symbols_.has_kernel(*name)) symbols_.kernels.emplace_back(*name);
      return;
    }
    if (holds(words, ".func")) return;
    const auto space = std::ranges::find_if(
        words, [](std::string_view word) { return word == ".global" || word == ".const"; });
    if (space != words.end())
      read_variables(Words(std::next(space), words.end()), holds(words, ".extern"));
  }

  // From behind `.global` or `.const` on.
  void read_variables(Words words, bool is_extern) {
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
    while (!words.empty() && !fault_.is_there()) {
      auto variable = Declarator(type, vector, fault_).take(words, is_extern);
      if (variable) {
        variable->managed = managed;
        (is_extern ? undefined_ : symbols_.variables).push_back(std::move(*variable));
      }
      if (!words.empty()) words = words.subspan(1);
    }
  }

  bool skip_body(std::string_view& rest) {
    int depth = 1;
    while (depth > 0) {
      const std::string_view word = take_ptx_word(rest, &unclosed_);
      if (word.empty()) return false;
      if (word == "{") ++depth;
      if (word == "}") --depth;
    }
    return true;
  }

  // Memory that no text defines is given by the compiler of this one.
  void add_undefined() {
    if (undefined_.empty()) return;
    std::set<std::string, std::less<>> known;
    for (const ImageVariable& variable : symbols_.variables) known.insert(variable.name);
    for (ImageVariable& variable : undefined_) {
      if (known.insert(variable.name).second) symbols_.variables.push_back(std::move(variable));
    }
  }

  std::string_view text_;
  bool unclosed_ = false;
  Fault fault_;
  ImageSymbols symbols_;
  std::vector<ImageVariable> undefined_;  // .extern
};

}  // namespace

ImageSymbols read_ptx_symbols(std::string_view text) {
  return Reader(text).read();
}

}  // namespace ferry::sim
