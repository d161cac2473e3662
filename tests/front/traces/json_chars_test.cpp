// SPDX-License-Identifier: Apache-2.0
#include "front/traces/json_chars.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/traces/files.hpp"

namespace ferry::replay {
namespace {

std::string filtered(std::string_view bytes) {
  ByteSource source = ByteSource::over(bytes);
  JsonChars chars(source);
  std::string out;
  while (chars.more()) {
    EXPECT_EQ(chars.offset(), out.size());
    out += chars.current();
    chars.advance();
  }
  EXPECT_FALSE(chars.error());
  return out;
}

TEST(JsonChars, LeavesJsonAlone) {
  const std::string json = R"({"a": [1, -2.5e3, "x\"y\\", null], "b": {}})";
  EXPECT_EQ(filtered(json), json);
  EXPECT_EQ(filtered(""), "");
}

TEST(JsonChars, ReplacesWhatJsonDoesNotHave) {
  EXPECT_EQ(filtered("[NaN, Infinity,-Infinity ]"), "[\"\" , \"\"      ,\"\"        ]");
  EXPECT_EQ(filtered("NaN"), "\"\" ");
}

TEST(JsonChars, LeavesTextsAlone) {
  const std::string json = R"(["NaN", "\"NaN", "\\", "-Infinity"])";
  EXPECT_EQ(filtered(json), json);
  // Here the text ends before the word.
  EXPECT_EQ(filtered(R"(["\\",NaN])"), R"(["\\","" ])");
}

TEST(JsonChars, LeavesOtherWordsAlone) {
  EXPECT_EQ(filtered("[Na, Inf, -1, -I]"), "[Na, Inf, -1, -I]");
}

TEST(JsonChars, FindsWordsAcrossChunks) {
  // Chunks are 256 KiB: the word is moved over their border byte by byte.
  for (std::size_t before = 256 * 1024 - 12; before < 256 * 1024 + 3; ++before) {
    const std::string padding = "[" + std::string(before - 1, ' ');
    const std::string packed = testing::gzipped(padding + "-Infinity]");
    EXPECT_EQ(filtered(packed), padding + "\"\"       ]");
  }
}

TEST(JsonChars, RefusesAnEndlessToken) {
  const std::string json = "[\"" + std::string(kLongestJsonToken + 10, '1');
  ByteSource source = ByteSource::over(json);
  JsonChars chars(source);
  while (chars.more()) chars.advance();
  ASSERT_TRUE(chars.error());
  EXPECT_EQ(chars.error()->message, "has a text, a number or blanks of more than 16 MiB");
  EXPECT_LE(chars.error()->offset.value(), json.size());
}

TEST(JsonChars, RefusesEndlessBlanks) {
  const std::string json = "[1," + std::string(kLongestJsonToken + 10, ' ') + "2]";
  ByteSource source = ByteSource::over(json);
  JsonChars chars(source);
  while (chars.more()) chars.advance();
  ASSERT_TRUE(chars.error());
  std::string lines = "[1";
  while (lines.size() < 2 * kLongestJsonToken) lines += ",\n  1";
  EXPECT_EQ(filtered(lines + "]"), lines + "]") << "many short ones are well";
}

TEST(JsonChars, PassesOnWhatTheSourceSays) {
  const std::string packed = testing::gzipped("[1, 2, 3]");
  ByteSource source = ByteSource::over(std::string_view(packed).substr(0, packed.size() - 8));
  JsonChars chars(source);
  while (chars.more()) chars.advance();
  ASSERT_TRUE(chars.error());
  EXPECT_THAT(chars.error()->message, ::testing::HasSubstr("cut off"));
  EXPECT_FALSE(chars.more());
}

}  // namespace
}  // namespace ferry::replay
