// SPDX-License-Identifier: Apache-2.0
#include "sim/words/ptx_constants.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/words/ptx_words.hpp"

namespace ferry::sim {
namespace {

std::optional<PtxConstant> value_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::string_view word = take_ptx_word(text); !word.empty(); word = take_ptx_word(text))
    words.push_back(word);
  return read_ptx_constant(words);
}

std::int64_t integer_of(std::string_view text) {
  const auto value = value_of(text);
  EXPECT_TRUE(value && !value->is_float()) << text;
  return value ? static_cast<std::int64_t>(value->integer) : -999'999;
}

double number_of(std::string_view text) {
  const auto value = value_of(text);
  EXPECT_TRUE(value && value->is_float()) << text;
  return value ? value->number : -999'999;
}

TEST(PtxConstants, IntegersHaveFourBases) {
  EXPECT_EQ(integer_of("19"), 19);
  EXPECT_EQ(integer_of("0x1F"), 31);
  EXPECT_EQ(integer_of("010U"), 8);
  EXPECT_EQ(integer_of("0b101"), 5);
  EXPECT_EQ(integer_of("0"), 0);
  EXPECT_EQ(integer_of("18446744073709551615"), -1);
  EXPECT_EQ(integer_of("WARP_SZ"), 32);
}

TEST(PtxConstants, FloatsAreDecimalOrTheirBits) {
  EXPECT_EQ(number_of("1.5e-3"), 1.5e-3);
  EXPECT_EQ(number_of("1E+2"), 100.0);
  EXPECT_EQ(number_of(".5"), 0.5);
  EXPECT_EQ(number_of("0f3FC00000"), 1.5);
  EXPECT_EQ(number_of("-0d3FF8000000000000"), -1.5);
  EXPECT_EQ(number_of("(1.5+2.0)*4.0/2.0-1.0"), 6.0);
  EXPECT_EQ(integer_of("1.5<2.0"), 1);
}

TEST(PtxConstants, OperatorsBindAsInC) {
  EXPECT_EQ(integer_of("1+2*3"), 7);
  EXPECT_EQ(integer_of("(1+2)*3"), 9);
  EXPECT_EQ(integer_of("10-3-2"), 5);
  EXPECT_EQ(integer_of("1<<2+1"), 8);
  EXPECT_EQ(integer_of("1|2^3&6"), 1);
  EXPECT_EQ(integer_of("1&&0||2"), 1);
  EXPECT_EQ(integer_of("5==5?8:9"), 8);
  EXPECT_EQ(integer_of("0?1:0?2:3"), 3);
  EXPECT_EQ(integer_of("1<2<3"), 1);
  EXPECT_EQ(integer_of("7 % 4"), 3);
  EXPECT_EQ(integer_of("3!=3"), 0);
  EXPECT_EQ(integer_of("4>=4"), 1);
}

TEST(PtxConstants, SignsStandBefore) {
  EXPECT_EQ(integer_of("-(3)"), -3);
  EXPECT_EQ(integer_of("+5"), 5);
  EXPECT_EQ(integer_of("~0"), -1);
  EXPECT_EQ(integer_of("!0"), 1);
  EXPECT_EQ(integer_of("-!~-5"), 0);
}

// As the assembler of the toolkit has them.
TEST(PtxConstants, TheSignOfIntegersDecides) {
  EXPECT_EQ(integer_of("-8>>1"), -4);
  EXPECT_EQ(integer_of("0xFFFFFFFFFFFFFFF8>>1"), 0x7FFFFFFFFFFFFFFC);
  EXPECT_EQ(integer_of("(.s64)0xFFFFFFFFFFFFFFF8>>1"), -4);
  EXPECT_EQ(integer_of("(.u64)-1>>63"), 1);
  EXPECT_EQ(integer_of("(~0)>>1"), 0x7FFFFFFFFFFFFFFF);
  EXPECT_EQ(integer_of("(-1&-1)>>1"), -1);
  EXPECT_EQ(integer_of("-7/2"), -3);
  EXPECT_EQ(integer_of("-7/2U"), 0x7FFFFFFFFFFFFFFC);
  EXPECT_EQ(integer_of("-1<1U"), 0);
  EXPECT_EQ(integer_of("-1<1"), 1);
  EXPECT_EQ(integer_of("1<<64"), 1);
  EXPECT_EQ(integer_of("(.s64)0x8000000000000000/-1"), integer_of("-9223372036854775808"));
}

TEST(PtxConstants, WhatIsNoneHasNoValue) {
  const std::string parentheses(100'000, '(');
  std::string signs(100'000, '-');
  signs.back() = '1';
  for (const std::string_view text :
       std::initializer_list<std::string_view>{"",           "name",
                                               "name+8",     "generic(name)",
                                               "0xff(name)", "1 2",
                                               "1+",         "(1",
                                               "7/0",        "7 % 0",
                                               "08",         "0f3F8",
                                               "1e999",      "18446744073709551616",
                                               "1.5+1",      "!1.5",
                                               "1 < < 2",    "1?2",
                                               "0x",         "(.s64)1.5",
                                               "2u",         parentheses,
                                               signs}) {
    EXPECT_FALSE(value_of(text)) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace ferry::sim
