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

TEST(PtxWords, PtxBeginsWithItsVersion) {
  EXPECT_TRUE(is_ptx("// by hand\n/* */ .version 8.0"));
  EXPECT_FALSE(is_ptx(".target sm_90 .version 8.0"));
  EXPECT_FALSE(is_ptx(""));
}

}  // namespace
}  // namespace ferry::sim
