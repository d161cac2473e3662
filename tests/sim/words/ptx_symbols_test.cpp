// SPDX-License-Identifier: Apache-2.0
#include "sim/words/ptx_symbols.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace ferry::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kHead = ".version 7.0\n.target sm_50\n.address_size 64\n";

ImageVariable only_variable(const std::string& declaration) {
  const ImageSymbols symbols = read_ptx_symbols(kHead + declaration + "\n");
  EXPECT_EQ(symbols.variables.size(), 1U) << declaration;
  return symbols.variables.empty() ? ImageVariable{} : symbols.variables.front();
}

template <typename Value>
std::vector<Value> values_of(const ImageVariable& variable) {
  std::vector<Value> values(variable.initial.size() / sizeof(Value));
  std::memcpy(values.data(), variable.initial.data(), values.size() * sizeof(Value));
  return values;
}

TEST(PtxSymbols, KernelsAreEntries) {
  const ImageSymbols symbols = read_ptx_symbols(
      std::string(kHead) +
      ".visible .entry _Z4twicePf(\n  .param .u64 .ptr .global .align 4 p\n)\n.maxntid 1, 2, 3\n"
      "{ .reg .b32 %r<2>; { ld.global.u32 %r1, [p]; } ret; }\n"
      ".func (.param .b32 r) helper(.param .align 8 .b8 s[16]) { ret; }\n"
      ".func later(.param .b32 x);\n"
      "// .entry commented()\n/* .entry out() {} */\n"
      ".entry plain { ret; }\n.file 1 \".entry quoted() { ;\"\n.entry last() { ret; }\n");
  EXPECT_THAT(symbols.kernels, ElementsAre("_Z4twicePf", "plain", "last"));
  EXPECT_THAT(symbols.variables, IsEmpty());
}

TEST(PtxSymbols, AKernelThatIsDeclaredBeforeIsOne) {
  EXPECT_THAT(
      read_ptx_symbols(".entry k(.param .u32 a);\n.entry k(.param .u32 a) { ret; }\n").kernels,
      ElementsAre("k"));
}

TEST(PtxSymbols, WordsHaveTheSizesOfTheirTypes) {
  EXPECT_EQ(only_variable(".global .u8 x;").bytes, 1U);
  EXPECT_EQ(only_variable(".visible .global .align 2 .f16 x;").bytes, 2U);
  EXPECT_EQ(only_variable(".visible .const .s32 x;").bytes, 4U);
  EXPECT_EQ(only_variable(".weak .global .align 8 .f64 x;").bytes, 8U);
  EXPECT_EQ(only_variable(".const[2] .b64 x;").bytes, 8U);
  EXPECT_EQ(only_variable(".global .v4 .f32 x;").bytes, 16U);
  EXPECT_EQ(only_variable(".global .align 16 .b128 x;").bytes, 16U);
}

TEST(PtxSymbols, ArraysMultiplyTheirSides) {
  const ImageVariable table = only_variable(".visible .global .align 4 .b8 table[1024];");
  EXPECT_EQ(table.name, "table");
  EXPECT_EQ(table.bytes, 1024U);
  EXPECT_THAT(table.initial, IsEmpty());
  EXPECT_EQ(only_variable(".global .f64 m[3][5][2];").bytes, 240U);
  EXPECT_EQ(only_variable(".global .v2 .u16 pairs[3];").bytes, 12U);
}

TEST(PtxSymbols, InitialValuesAreRead) {
  EXPECT_THAT(values_of<std::uint32_t>(only_variable(".global .u32 x = 7;")), ElementsAre(7U));
  EXPECT_THAT(values_of<std::int32_t>(only_variable(".global .s32 x[4] = {-1, 0x10, 010, 0b11};")),
              ElementsAre(-1, 16, 8, 3));
  EXPECT_THAT(values_of<float>(only_variable(".const .f32 x[3] = {0f3F800000, -2.5, 4};")),
              ElementsAre(1.0F, -2.5F, 4.0F));
  EXPECT_THAT(values_of<double>(only_variable(".const .f64 x = 0d4000000000000000;")),
              ElementsAre(2.0));
  EXPECT_THAT(values_of<std::uint64_t>(only_variable(".global .u64 x = 0xFFFFFFFFFFFFFFFFU;")),
              ElementsAre(~std::uint64_t{0}));
}

TEST(PtxSymbols, InnerBracesFillRows) {
  const ImageVariable rows = only_variable(".global .u8 m[2][3] = {{1}, {2, 3}};");
  EXPECT_EQ(rows.bytes, 6U);
  EXPECT_THAT(values_of<std::uint8_t>(rows), ElementsAre(1, 0, 0, 2, 3));
  const ImageVariable flat = only_variable(".global .u8 m[2][3] = {1, 2, 3, 4};");
  EXPECT_THAT(values_of<std::uint8_t>(flat), ElementsAre(1, 2, 3, 4));
}

TEST(PtxSymbols, AnOpenSideIsAsLongAsItsValues) {
  EXPECT_EQ(only_variable(".global .u32 x[] = {1, 2, 3};").bytes, 12U);
  EXPECT_EQ(only_variable(".global .u32 x[][2] = {{1, 2}, {3}};").bytes, 16U);
}

TEST(PtxSymbols, AnOpenSideWithoutValuesIsNoVariable) {
  EXPECT_TRUE(read_ptx_symbols(".version 8.0\n.global .u32 open[];").variables.empty());
}

TEST(PtxSymbols, AddressesStayZero) {
  const ImageVariable x = only_variable(".global .u64 x[4] = {1, generic(table), table+8, 4};");
  EXPECT_THAT(values_of<std::uint64_t>(x), ElementsAre(1U, 0U, 0U, 4U));
}

TEST(PtxSymbols, OneStatementDeclaresSeveral) {
  const ImageSymbols symbols =
      read_ptx_symbols(".global .u32 a = 1, b[2] = {2, 3}, c;\n.global .u8 d;\n");
  ASSERT_EQ(symbols.variables.size(), 4U);
  EXPECT_EQ(symbols.find_variable("a")->bytes, 4U);
  EXPECT_THAT(values_of<std::uint32_t>(*symbols.find_variable("b")), ElementsAre(2U, 3U));
  EXPECT_EQ(symbols.find_variable("c")->bytes, 4U);
  EXPECT_EQ(symbols.find_variable("d")->bytes, 1U);
  EXPECT_EQ(symbols.find_variable("e"), nullptr);
}

TEST(PtxSymbols, ManagedOnesSaySo) {
  EXPECT_TRUE(only_variable(".global .attribute(.managed) .align 4 .u32 x = 7;").managed);
  EXPECT_FALSE(only_variable(".global .align 4 .u32 x = 7;").managed);
}

TEST(PtxSymbols, WhatIsElsewhereOrNoMemoryIsNotThere) {
  EXPECT_THAT(read_ptx_symbols(".extern .global .u32 x;\n.global .texref t;\n.shared .u32 s;\n"
                               ".global .u32 none[0];\n")
                  .variables,
              IsEmpty());
}

TEST(PtxSymbols, NonsenseIsPassedOver) {
  const std::string deep(100'000, '{');
  for (const std::string& text :
       {std::string(), std::string(".global"), std::string(".global .u32"),
        std::string(".global .u32 x[18446744073709551615][2];"), std::string(".entry"),
        std::string(".global .u32 ["), std::string("/* never closed"), std::string("\"open"),
        ".global .u8 x[] = " + deep + ";", ".entry k() " + deep,
        std::string(".global .u8 x[2][1099511627776] = {{1}, {1}, {1}};")}) {
    const ImageSymbols symbols = read_ptx_symbols(text);
    for (const ImageVariable& variable : symbols.variables)
      EXPECT_LE(variable.initial.size(), 1U) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace ferry::sim
