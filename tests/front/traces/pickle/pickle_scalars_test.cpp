// SPDX-License-Identifier: Apache-2.0
#include "front/traces/pickle/pickle_scalars.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;

// Reads the one value of an opcode and its argument.
struct Reading {
  explicit Reading(std::string_view source) : input(source), document(source) {
    const Opcode opcode = input.opcode();
    value = is_text_opcode(opcode) ? read_text(opcode, input, document)
                                   : read_number(opcode, input, document);
  }
  [[nodiscard]] bool ok() const { return !value.empty() && !input.error(); }
  [[nodiscard]] std::string error() const { return input.error() ? input.error()->message : ""; }

  PickleInput input;
  PickleDocument document;
  PickleValue value;
};

void expect_integer(std::string_view source, bool negative, std::uint64_t magnitude,
                    bool beyond = false) {
  const Reading reading(source);
  ASSERT_TRUE(reading.ok()) << reading.error();
  ASSERT_EQ(reading.document.kind(reading.value), PickleKind::integer);
  const PickleInteger number = reading.document.integer(reading.value);
  EXPECT_EQ(number.negative, negative);
  EXPECT_EQ(number.beyond_64_bits, beyond);
  EXPECT_EQ(beyond ? magnitude : number.magnitude, magnitude);
  EXPECT_TRUE(reading.input.at_end());
}

std::string error_of(std::string_view source) {
  const Reading reading(source);
  EXPECT_TRUE(reading.value.empty());
  return reading.error();
}

using namespace std::string_view_literals;

TEST(PickleScalars, Constants) {
  EXPECT_EQ(Reading("N").document.kind(Reading("N").value), PickleKind::none);
  const Reading yes("\x88");
  const Reading no("\x89");
  EXPECT_EQ(yes.document.kind(yes.value), PickleKind::boolean);
  EXPECT_TRUE(yes.document.boolean(yes.value));
  EXPECT_FALSE(no.document.boolean(no.value));
}

TEST(PickleScalars, BinaryIntegers) {
  expect_integer("K\xff", false, 255);
  expect_integer("M\x34\x12", false, 0x1234);
  expect_integer("J\xff\xff\xff\x7f", false, 0x7fffffff);
  expect_integer("J\xff\xff\xff\xff", true, 1);
  expect_integer("J\x00\x00\x00\x80"sv, true, 0x80000000U);
}

TEST(PickleScalars, LongIntegers) {
  expect_integer("\x8a\x00"sv, false, 0);
  expect_integer("\x8a\x01\xff", true, 1);
  expect_integer("\x8a\x02\xff\x00"sv, false, 255);
  expect_integer("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", false, 0x7fffffffffffffffU);
  expect_integer("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"sv, true, 0x8000000000000000U);
  expect_integer("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00"sv, false, ~std::uint64_t{0});
  expect_integer("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01"sv, false, 0, true);
  expect_integer("\x8a\x09\x01\x00\x00\x00\x00\x00\x00\x00\xff"sv, true, ~std::uint64_t{0});
  expect_integer("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\xff"sv, true, 0, true);  // -2^64
  expect_integer("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\xfe"sv, true, 0, true);
  expect_integer("\x8b\x01\x00\x00\x00\x2a"sv, false, 42);
}

TEST(PickleScalars, IntegersAsText) {
  expect_integer("I42\n", false, 42);
  expect_integer("I-7\n", true, 7);
  expect_integer("L18446744073709551615L\n", false, ~std::uint64_t{0});
  expect_integer("L123\n", false, 123);
  expect_integer("L-99999999999999999999L\n", true, 0, true);
  const Reading truth("I01\n");
  EXPECT_EQ(truth.document.kind(truth.value), PickleKind::boolean);
  EXPECT_TRUE(truth.document.boolean(truth.value));
  expect_integer("L01\n", false, 1);  // truth values are INT only
}

TEST(PickleScalars, BadIntegers) {
  EXPECT_THAT(error_of("Iforty\n"), HasSubstr("'forty' where a whole number belongs"));
  EXPECT_THAT(error_of("I\n"), HasSubstr("whole number"));
  EXPECT_THAT(error_of("I4 2\n"), HasSubstr("whole number"));
  EXPECT_THAT(error_of("I--4\n"), HasSubstr("whole number"));
  EXPECT_THAT(error_of("L99999999999999999999x\n"), HasSubstr("whole number"));
  EXPECT_THAT(error_of("I42"), HasSubstr("cut off"));
  EXPECT_THAT(error_of("J\x01"), HasSubstr("cut off"));
  EXPECT_THAT(error_of("\x8b\xff\xff\xff\xff"), HasSubstr("negative length"));
  EXPECT_THAT(error_of("\x8b\xff\xff\xff\x7f"), HasSubstr("cut off"));
  EXPECT_THAT(error_of("\x8a\x05\x01"), HasSubstr("cut off"));
}

TEST(PickleScalars, Reals) {
  const Reading binary("G\x3f\xf8\x00\x00\x00\x00\x00\x00"sv);
  ASSERT_TRUE(binary.ok());
  EXPECT_EQ(binary.document.kind(binary.value), PickleKind::real);
  EXPECT_EQ(binary.document.real(binary.value), 1.5);
  const Reading text("F-2.5e3\n");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text.document.real(text.value), -2500.0);
  const Reading nan("Fnan\n");
  ASSERT_TRUE(nan.ok());
  EXPECT_TRUE(std::isnan(nan.document.real(nan.value)));
  EXPECT_THAT(error_of("Fone\n"), HasSubstr("'one' where a number belongs"));
  EXPECT_THAT(error_of("G\x3f"), HasSubstr("cut off"));
}

void expect_text(std::string_view source, std::string_view text, PickleKind kind) {
  const Reading reading(source);
  ASSERT_TRUE(reading.ok()) << reading.error();
  EXPECT_EQ(reading.document.kind(reading.value), kind);
  EXPECT_EQ(reading.document.text(reading.value), text);
}

TEST(PickleScalars, Texts) {
  expect_text("S'alloc'\n", "alloc", PickleKind::text);
  expect_text("S\"it's\"\n", "it's", PickleKind::text);
  expect_text("Valloc\n", "alloc", PickleKind::text);
  expect_text("U\x02hi", "hi", PickleKind::text);
  expect_text("T\x02\x00\x00\x00hi"sv, "hi", PickleKind::text);
  expect_text("\x8c\x02hi", "hi", PickleKind::text);
  expect_text("X\x02\x00\x00\x00hi"sv, "hi", PickleKind::text);
  expect_text("\x8d\x02\x00\x00\x00\x00\x00\x00\x00hi"sv, "hi", PickleKind::text);
  expect_text("X\x00\x00\x00\x00"sv, "", PickleKind::text);
  expect_text("C\x02hi", "hi", PickleKind::bytes);
  expect_text("B\x02\x00\x00\x00hi"sv, "hi", PickleKind::bytes);
  expect_text("\x8e\x02\x00\x00\x00\x00\x00\x00\x00hi"sv, "hi", PickleKind::bytes);
  expect_text("\x96\x02\x00\x00\x00\x00\x00\x00\x00hi"sv, "hi", PickleKind::bytes);
}

TEST(PickleScalars, BadTexts) {
  EXPECT_THAT(error_of("Salloc\n"), HasSubstr("quotation marks"));
  EXPECT_THAT(error_of("S'\n"), HasSubstr("quotation marks"));
  EXPECT_THAT(error_of("S'a\"\n"), HasSubstr("quotation marks"));
  EXPECT_THAT(error_of("S\n"), HasSubstr("quotation marks"));
  EXPECT_THAT(error_of("Vendless"), HasSubstr("cut off"));
  EXPECT_THAT(error_of("X\xff\xff\xff\xffhi"), HasSubstr("4294967295 more bytes are announced"));
  EXPECT_THAT(error_of("\x8d\xff\xff\xff\xff\xff\xff\xff\xffhi"), HasSubstr("cut off"));
}

TEST(PickleScalars, KindsOfOpcodesAreDisjoint) {
  int numbers = 0;
  int texts = 0;
  for (int code = 0; code < 256; ++code) {
    const auto opcode = static_cast<Opcode>(code);
    EXPECT_FALSE(is_number_opcode(opcode) && is_text_opcode(opcode)) << code;
    numbers += is_number_opcode(opcode) ? 1 : 0;
    texts += is_text_opcode(opcode) ? 1 : 0;
  }
  EXPECT_EQ(numbers, 12);
  EXPECT_EQ(texts, 11);
}

}  // namespace
}  // namespace ferry::replay
