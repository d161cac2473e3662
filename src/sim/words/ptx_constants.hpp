// SPDX-License-Identifier: Apache-2.0
// The constants of PTX text and the expressions made of them, by the rules of the PTX ISA: integers
// have 64 bits and a sign or none, floats 64 bits. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ferry::sim {

using PtxWords = std::span<const std::string_view>;

struct PtxConstant {
  enum class Kind : std::uint8_t { with_sign, without_sign, decimal_float, single_bits };

  Kind kind = Kind::with_sign;
  std::uint64_t integer = 0;
  double number = 0;

  [[nodiscard]] bool is_float() const {
    return kind == Kind::decimal_float || kind == Kind::single_bits;
  }
};

// A number as it is written; nothing where it is none, or has no place in 64 bits.
[[nodiscard]] std::optional<PtxConstant> read_ptx_number(std::string_view word);

// Nothing where the words are no expression of constants, as an address is none, or one that has
// no value.
[[nodiscard]] std::optional<PtxConstant> read_ptx_constant(PtxWords words);

}  // namespace ferry::sim
