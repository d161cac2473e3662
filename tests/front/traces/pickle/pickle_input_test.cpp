// SPDX-License-Identifier: Apache-2.0
#include "front/traces/pickle/pickle_input.hpp"

#include <gtest/gtest.h>

namespace ferry::replay {
namespace {

TEST(PickleInput, TakesBytesNumbersAndLines) {
  PickleInput input(std::string_view("Xab\x01\x02\x03\x04line\n", 12));
  EXPECT_EQ(input.opcode(), Opcode::bin_unicode);
  std::string_view text;
  std::uint64_t number = 0;
  ASSERT_TRUE(input.take(2, text));
  EXPECT_EQ(text, "ab");
  ASSERT_TRUE(input.take_number(4, number));
  EXPECT_EQ(number, 0x04030201U);
  EXPECT_EQ(input.at(), 7U);
  ASSERT_TRUE(input.take_line(text));
  EXPECT_EQ(text, "line");
  EXPECT_TRUE(input.at_end());
  EXPECT_FALSE(input.error());
}

TEST(PickleInput, NeverReadsBeyondTheEnd) {
  PickleInput input("..abc");
  (void)input.opcode();
  (void)input.opcode();
  std::string_view text;
  std::uint64_t number = 0;
  EXPECT_FALSE(input.take(4, text));
  ASSERT_TRUE(input.error());
  EXPECT_EQ(input.error()->message, "is cut off: 4 more bytes are announced and 3 are there");
  EXPECT_EQ(input.error()->offset, 1U) << "where the opcode stands";
  EXPECT_FALSE(input.take(~std::uint64_t{0}, text));
  EXPECT_FALSE(input.take_number(8, number));
  EXPECT_FALSE(input.take_line(text));
  EXPECT_EQ(input.error()->message, "is cut off: 4 more bytes are announced and 3 are there")
      << "the first thing that went wrong stays";
  EXPECT_TRUE(input.take(3, text));
}

}  // namespace
}  // namespace ferry::replay
