// SPDX-License-Identifier: Apache-2.0
#include "sim/words/ptx_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace ferry::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::string_view word = take_ptx_word(text); !word.empty(); word = take_ptx_word(text))
    words.push_back(word);
  return words;
}

TEST(PtxWords, AreNamesAndSigns) {
  EXPECT_THAT(words_of(".global .b8 $a_1[4]={1};"),
              ElementsAre(".global", ".b8", "$a_1", "[", "4", "]", "=", "{", "1", "}", ";"));
}

TEST(PtxWords, CommentsAndQuotedTextAreNone) {
  EXPECT_THAT(words_of("a // b\n/* c /* */d /**/ \"e // \" f"), ElementsAre("a", "d", "f"));
}

TEST(PtxWords, WhatIsNeverClosedEndsTheText) {
  EXPECT_THAT(words_of("a /* b"), ElementsAre("a"));
  EXPECT_THAT(words_of("a \"b"), ElementsAre("a"));
  EXPECT_THAT(words_of("// b"), IsEmpty());
  EXPECT_THAT(words_of(" \n\t"), IsEmpty());
}

TEST(PtxWords, TheEndSaysWhatIsNotClosed) {
  for (const char* const text : {"/* b", "\"b"}) {
    std::string_view rest = text;
    bool unclosed = false;
    EXPECT_EQ(take_ptx_word(rest, &unclosed), "");
    EXPECT_TRUE(unclosed) << text;
  }
  std::string_view rest = "/* b */ \"c\" // d";
  bool unclosed = false;
  EXPECT_EQ(take_ptx_word(rest, &unclosed), "");
  EXPECT_FALSE(unclosed);
}

TEST(PtxWords, AnExponentBelongsToItsNumber) {
  EXPECT_THAT(words_of("1.5e-3 2E+4-1 .5e-1"), ElementsAre("1.5e-3", "2E+4", "-", "1", ".5e-1"));
  EXPECT_THAT(words_of("0x1e-3 e-3 1e-x"),
              ElementsAre("0x1e", "-", "3", "e", "-", "3", "1e", "-", "x"));
}

TEST(PtxWords, DirectivesMayStandClose) {
  EXPECT_THAT(words_of(".visible.global .u32 a; ld.global.u32"),
              ElementsAre(".visible", ".global", ".u32", "a", ";", "ld.global.u32"));
}

TEST(PtxWords, PtxBeginsWithItsVersion) {
  EXPECT_TRUE(is_ptx("// by hand\n/* */ .version 8.0"));
  EXPECT_FALSE(is_ptx(".target sm_90 .version 8.0"));
  EXPECT_FALSE(is_ptx(""));
}

}  // namespace
}  // namespace ferry::sim
