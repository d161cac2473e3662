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
  if (!values.empty())
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

// As the assembler of the toolkit has it.
TEST(PtxSymbols, ValuesOfRowsFollowEachOtherWithoutGaps) {
  const ImageVariable rows = only_variable(".global .u8 m[2][3] = {{1}, {2, 3}};");
  EXPECT_EQ(rows.bytes, 6U);
  EXPECT_THAT(values_of<std::uint8_t>(rows), ElementsAre(1, 2, 3));
  const ImageVariable late = only_variable(".global .u8 m[2][2][2] = {{{}, {1}}, {{2}}};");
  EXPECT_EQ(late.bytes, 8U);
  EXPECT_THAT(values_of<std::uint8_t>(late), ElementsAre(1, 2));
  EXPECT_THAT(values_of<std::uint8_t>(only_variable(".global .u8 m[2] = {};")), IsEmpty());
  EXPECT_THAT(values_of<std::uint8_t>(only_variable(".const .v2 .u8 m[2] = {{1, 2}, {3, 4}};")),
              ElementsAre(1, 2, 3, 4));
}

TEST(PtxSymbols, AnOpenSideIsAsLongAsItsValues) {
  EXPECT_EQ(only_variable(".global .u32 x[] = {1, 2, 3};").bytes, 12U);
  EXPECT_EQ(only_variable(".global .u32 x[][2] = {{1, 2}, {3}};").bytes, 16U);
}

TEST(PtxSymbols, SizesMayBeWrittenInEveryBase) {
  EXPECT_EQ(only_variable(".global .b8 x[0x10];").bytes, 16U);
  EXPECT_EQ(only_variable(".global .b8 x[010];").bytes, 8U);
  EXPECT_EQ(only_variable(".global .b8 x[0b11];").bytes, 3U);
  EXPECT_EQ(only_variable(".global .b8 x[16U] = {1, 2};").bytes, 16U);
  EXPECT_EQ(only_variable(".global .b8 x[2 * (3 + 1)];").bytes, 8U);
}

TEST(PtxSymbols, ExpressionsOfConstantsAreValues) {
  const ImageVariable x =
      only_variable(".global .s32 x[7] = {1+2, 1 << 4, ~0, !0, -(3), (.u64) 5, 5==5 ? 8 : 9};");
  EXPECT_THAT(values_of<std::int32_t>(x), ElementsAre(3, 16, -1, 1, -3, 5, 8));
  EXPECT_FALSE(x.partly_unknown);
  EXPECT_THAT(values_of<float>(only_variable(".global .f32 x[2] = {1.5e-3, 1.0/4.0};")),
              ElementsAre(1.5e-3F, 0.25F));
}

TEST(PtxSymbols, BitsMayBeWrittenAsFloats) {
  EXPECT_THAT(values_of<float>(only_variable(".global .b32 x = 1.5;")), ElementsAre(1.5F));
  EXPECT_THAT(values_of<double>(only_variable(".global .b64 x = 1.5;")), ElementsAre(1.5));
  EXPECT_THAT(values_of<std::uint64_t>(only_variable(".global .b64 x = 0f3F800000;")),
              ElementsAre(0x3F800000U));
  EXPECT_TRUE(only_variable(".global .u32 x = 1.5;").partly_unknown);
}

TEST(PtxSymbols, WhatIsNoConstantStaysZeroAndSaysSo) {
  for (const char* const value : {"generic(table)", "table", "table+8", "0xff(table)", "7/0"}) {
    const ImageVariable x =
        only_variable(std::string(".global .u64 x[3] = {1, ") + value + ", 4};");
    EXPECT_THAT(values_of<std::uint64_t>(x), ElementsAre(1U, 0U, 4U)) << value;
    EXPECT_TRUE(x.partly_unknown) << value;
  }
}

TEST(PtxSymbols, MemoryThatNoTextDefinesIsHereAllTheSame) {
  const ImageSymbols symbols = read_ptx_symbols(
      ".version 8.0\n.extern .global .u32 a;\n.extern .global .u8 b[2], open[];\n"
      ".visible .global .u32 a = 5;\n.extern .shared .u32 s[];\n");
  EXPECT_EQ(symbols.fault, "");
  ASSERT_EQ(symbols.variables.size(), 2U) << "what has no size is another's";
  EXPECT_THAT(values_of<std::uint32_t>(*symbols.find_variable("a")), ElementsAre(5U));
  EXPECT_EQ(symbols.find_variable("b")->bytes, 2U);
}

TEST(PtxSymbols, ManyVariablesAndManySidesTakeNoTime) {
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += ".extern .global .u8 x" + std::to_string(i) + ";\n";
  EXPECT_EQ(read_ptx_symbols(many).variables.size(), 100'000U);
  std::string sides;
  for (int i = 0; i < 100'000; ++i) sides += "[1]";
  const ImageSymbols deep = read_ptx_symbols(".global .u8 x" + sides + " = {{1}, {2}};\n");
  EXPECT_EQ(deep.fault, "line 1: too many dimensions");
}

std::string fault_of(const std::string& text) {
  return read_ptx_symbols(kHead + text).fault;
}

TEST(PtxSymbols, AFaultHasItsLine) {
  EXPECT_EQ(fault_of(".global .u8 a;\n.global .u8 x[2] =\n {1, 2, 3};\n"),
            "line 6: more values than elements");
  EXPECT_EQ(fault_of(".entry k() {\n ret;\n"), "line 4: the text ends before what begins here");
}

TEST(PtxSymbols, WhatADriverWouldNotTakeIsAFault) {
  for (const char* const text : {".global .u8 x",
                                 ".global .u8 x[4",
                                 ".global .u8 x =",
                                 ".global .u8 x[2] = {1",
                                 ".global",
                                 ".entry k() { ret;",
                                 ".entry k() { {ret; }",
                                 "/* open",
                                 "\"open",
                                 ".entry k() { /* } ",
                                 ".global .u8 x[0];",
                                 ".global .u8 x[-1];",
                                 ".global .u8 x[name];",
                                 ".global .u8 x[2][];",
                                 ".global .u8 x[];",
                                 ".global .u8 x[1.5];",
                                 ".global .u8 x[2] = {1, 2, 3};",
                                 ".global .u8 x[2][2] = {{1, 2, 3}};",
                                 ".global .u8 x[2][2] = {{1}, {2}, {3}};",
                                 ".global .u8 x[2][2] = {1, {2}};",
                                 ".global .u8 x[2] = {{1}, {2}};",
                                 ".global .u8 x = {1};",
                                 ".global .u8 x[2] = 1;",
                                 ".global .v2 .u8 x = {1, 2, 3};",
                                 ".global .v2 .u8 x = {1};",
                                 ".global .v2 .u8 x[2] = {{}, {1, 2}};",
                                 ".global .u8 x; }"}) {
    EXPECT_NE(fault_of(text), "") << text;
  }
}

TEST(PtxSymbols, WhatADriverTakesIsNone) {
  for (const char* const text :
       {"", "// end", ".file 1 \"a.cu\"\n", ".global .u8 x; /* end */", ".global .texref t;",
        ".global .surfref s = { a = 1 };", ".visible .entry k();", ".func f() { { ret; } }",
        ".section .debug_abbrev { .b8 1\n.b8 17 }", ".global .u8 x[2] = {};",
        ".global .v2 .u8 x[2] = {{1, 2}, {3, 4}};", ".alias a, b;", ".pragma \"nounroll\";"}) {
    EXPECT_EQ(fault_of(text), "") << text;
  }
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
  EXPECT_THAT(read_ptx_symbols(".extern .global .u32 x[];\n.global .texref t;\n.shared .u32 s;\n"
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
        std::string(".global .u8 x[2][1099511627776] = {{1}, {1}, {1}};"),
        std::string(".global .u8 x[][9223372036854775809U] = {{1, 2}, {1, 2}};")}) {
    const ImageSymbols symbols = read_ptx_symbols(text);
    for (const ImageVariable& variable : symbols.variables)
      EXPECT_LE(variable.initial.size(), 1U) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace ferry::sim
