// SPDX-License-Identifier: Apache-2.0
#include "sim/words/ptx_constants.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>

namespace ferry::sim {

namespace {

using Kind = PtxConstant::Kind;
using Maybe = std::optional<PtxConstant>;

constexpr int kDeepest = 64;
constexpr std::uint64_t kLargestWithSign = ~std::uint64_t{0} >> 1;

PtxConstant integer_of(std::uint64_t value, bool has_sign) {
  return {has_sign ? Kind::with_sign : Kind::without_sign, value, 0};
}
PtxConstant truth_of(bool value) {
  return integer_of(value ? 1 : 0, true);
}
PtxConstant float_of(double value) {
  return {Kind::decimal_float, 0, value};
}

// All digits there are, with a U behind them or not.
Maybe read_integer(std::string_view digits, int base) {
  const bool without_sign = digits.ends_with('U');
  if (without_sign) digits.remove_suffix(1);
  std::uint64_t value = 0;
  const auto* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value, base);
  if (error != std::errc{} || end != last) return std::nullopt;
  return integer_of(value, !without_sign && value <= kLargestWithSign);
}

// A float by its bits.
Maybe read_bits(std::string_view digits, bool single) {
  if (digits.size() != (single ? 8 : 16)) return std::nullopt;
  const Maybe bits = read_integer(digits, 16);
  if (!bits) return std::nullopt;
  if (!single) return float_of(std::bit_cast<double>(bits->integer));
  const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits->integer));
  return PtxConstant{Kind::single_bits, 0, value};
}

Maybe read_decimal_float(std::string_view word) {
  double value = 0;
  const auto* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, value);
  if (error != std::errc{} || end != last) return std::nullopt;
  return float_of(value);
}

struct Operator {
  std::string_view sign;
  int binds = 0;  // the more, the tighter
};
// Longer ones before those that they begin with.
constexpr auto kOperators = std::to_array<Operator>({
    {"||", 1},
    {"&&", 2},
    {"==", 6},
    {"!=", 6},
    {"<<", 8},
    {">>", 8},
    {"<=", 7},
    {">=", 7},
    {"<", 7},
    {">", 7},
    {"|", 3},
    {"^", 4},
    {"&", 5},
    {"+", 9},
    {"-", 9},
    {"*", 10},
    {"/", 10},
    {"%", 10},
});
constexpr int kLoosest = 1;

template <typename Number>
std::optional<bool> compare(std::string_view sign, Number a, Number b) {
  if (sign == "==") return a == b;
  if (sign == "!=") return a != b;
  if (sign == "<") return a < b;
  if (sign == ">") return a > b;
  if (sign == "<=") return a <= b;
  if (sign == ">=") return a >= b;
  return std::nullopt;
}

Maybe combine_floats(std::string_view sign, double a, double b) {
  if (const auto truth = compare(sign, a, b)) return truth_of(*truth);
  if (sign == "+") return float_of(a + b);
  if (sign == "-") return float_of(a - b);
  if (sign == "*") return float_of(a * b);
  return sign == "/" ? Maybe(float_of(a / b)) : std::nullopt;
}

Maybe divide(std::uint64_t a, std::uint64_t b, bool has_sign, bool rest) {
  if (b == 0) return std::nullopt;
  if (!has_sign) return integer_of(rest ? a % b : a / b, false);
  if (b == ~std::uint64_t{0}) return integer_of(rest ? 0 : 0 - a, true);  // by -1 may overflow
  const auto x = static_cast<std::int64_t>(a);
  const auto y = static_cast<std::int64_t>(b);
  return integer_of(static_cast<std::uint64_t>(rest ? x % y : x / y), true);
}

Maybe combine_integers(std::string_view sign, const PtxConstant& left, const PtxConstant& right) {
  const std::uint64_t a = left.integer;
  const std::uint64_t b = right.integer;
  const bool left_has_sign = left.kind == Kind::with_sign;
  const bool has_sign = left_has_sign && right.kind == Kind::with_sign;
  if (sign == "&&") return truth_of(a != 0 && b != 0);
  if (sign == "||") return truth_of(a != 0 || b != 0);
  if (sign == "<<") return integer_of(a << b % 64, left_has_sign);
  if (sign == ">>" && left_has_sign) {
    return integer_of(static_cast<std::uint64_t>(static_cast<std::int64_t>(a) >> b % 64), true);
  }
  if (sign == ">>") return integer_of(a >> b % 64, false);
  const auto truth = has_sign
                         ? compare(sign, static_cast<std::int64_t>(a), static_cast<std::int64_t>(b))
                         : compare(sign, a, b);
  if (truth) return truth_of(*truth);
  if (sign == "/" || sign == "%") return divide(a, b, has_sign, sign == "%");
  if (sign == "+") return integer_of(a + b, has_sign);
  if (sign == "-") return integer_of(a - b, has_sign);
  if (sign == "*") return integer_of(a * b, has_sign);
  if (sign == "&") return integer_of(a & b, has_sign);
  if (sign == "|") return integer_of(a | b, has_sign);
  return integer_of(a ^ b, has_sign);
}

// Each part takes its words, or finds nothing and takes any number of them.
class Expression {
 public:
  explicit Expression(PtxWords words) : words_(words) {}

  Maybe read_all() {
    const Maybe value = read_choice();
    return words_.empty() ? value : std::nullopt;
  }

 private:
  [[nodiscard]] bool take(std::string_view word) {
    if (words_.empty() || words_.front() != word) return false;
    words_ = words_.subspan(1);
    return true;
  }

  Maybe read_choice() {
    if (++depth_ > kDeepest) return std::nullopt;
    Maybe value = read_binary(kLoosest);
    if (value && take("?")) {
      const Maybe first = read_choice();
      if (!first || !take(":")) return std::nullopt;
      const Maybe second = read_choice();
      if (!second || value->is_float()) return std::nullopt;
      value = value->integer != 0 ? first : second;
    }
    --depth_;
    return value;
  }

  // The operator that comes next; its signs are words of their own, with nothing in between.
  [[nodiscard]] const Operator* next_operator() const {
    for (const Operator& candidate : kOperators) {
      const std::size_t length = candidate.sign.size();
      if (words_.size() < length || words_[0] != candidate.sign.substr(0, 1)) continue;
      if (length == 1) return &candidate;
      if (words_[1] == candidate.sign.substr(1) && words_[1].data() == words_[0].data() + 1)
        return &candidate;
    }
    return nullptr;
  }

  Maybe read_binary(int loosest) {
    Maybe value = read_unary();
    while (value) {
      const Operator* const found = next_operator();
      if (found == nullptr || found->binds < loosest) break;
      words_ = words_.subspan(found->sign.size());
      const Maybe right = read_binary(found->binds + 1);
      if (!right || right->is_float() != value->is_float()) return std::nullopt;
      value = value->is_float() ? combine_floats(found->sign, value->number, right->number)
                                : combine_integers(found->sign, *value, *right);
    }
    return value;
  }

  Maybe read_unary() {
    if (++depth_ > kDeepest || words_.empty()) return std::nullopt;
    const std::string_view sign = words_.front();
    Maybe value;
    if (sign == "+" || sign == "-" || sign == "!" || sign == "~") {
      words_ = words_.subspan(1);
      value = apply(sign, read_unary());
    } else if (words_.size() > 2 && sign == "(" && words_[2] == ")" &&
               (words_[1] == ".s64" || words_[1] == ".u64")) {
      const bool has_sign = words_[1] == ".s64";
      words_ = words_.subspan(3);
      value = read_unary();
      if (value) value = value->is_float() ? Maybe() : integer_of(value->integer, has_sign);
    } else if (take("(")) {
      value = read_choice();
      if (!take(")")) return std::nullopt;
    } else {
      words_ = words_.subspan(1);
      value = sign == "WARP_SZ" ? integer_of(32, true) : read_ptx_number(sign);
    }
    --depth_;
    return value;
  }

  static Maybe apply(std::string_view sign, Maybe value) {
    if (!value || sign == "+") return value;
    if (value->is_float()) {
      if (sign != "-") return std::nullopt;
      value->number = -value->number;
      return value;
    }
    if (sign == "!") return truth_of(value->integer == 0);
    if (sign == "~") return integer_of(~value->integer, false);
    value->integer = 0 - value->integer;
    return value;
  }

  PtxWords words_;
  int depth_ = 0;
};

}  // namespace

std::optional<PtxConstant> read_ptx_number(std::string_view word) {
  if (word.empty()) return std::nullopt;
  const std::string_view prefix = word.substr(0, 2);
  const auto is = [&](std::string_view small, std::string_view large) {
    return prefix == small || prefix == large;
  };
  if (is("0f", "0F") || is("0d", "0D")) return read_bits(word.substr(2), is("0f", "0F"));
  if (is("0x", "0X")) return read_integer(word.substr(2), 16);
  if (is("0b", "0B")) return read_integer(word.substr(2), 2);
  const bool is_number = word.front() == '.' || std::isdigit(static_cast<unsigned char>(word[0]));
  if (!is_number) return std::nullopt;
  if (word.find_first_of(".eE") != std::string_view::npos) return read_decimal_float(word);
  return read_integer(word, word.front() == '0' && word.size() > 1 ? 8 : 10);
}

std::optional<PtxConstant> read_ptx_constant(PtxWords words) {
  return Expression(words).read_all();
}

}  // namespace ferry::sim
