// SPDX-License-Identifier: Apache-2.0
#include "front/traces/line_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/traces/files.hpp"

namespace ferry::replay {
namespace {

TEST(LineReader, GivesLinesWithTheirPlaces) {
  ByteSource source = ByteSource::over("one\r\n\nthree");
  LineReader lines(source);
  auto line = lines.next();
  EXPECT_EQ(line->text, "one");
  EXPECT_EQ(line->offset, 0U);
  EXPECT_EQ(line->number, 1U);
  line = lines.next();
  EXPECT_EQ(line->text, "");
  EXPECT_EQ(line->offset, 5U);
  EXPECT_EQ(line->number, 2U);
  line = lines.next();
  EXPECT_EQ(line->text, "three");
  EXPECT_EQ(line->offset, 6U);
  EXPECT_EQ(line->number, 3U);
  EXPECT_EQ(lines.next()->number, 0U);
  EXPECT_EQ(lines.next()->number, 0U);
}

TEST(LineReader, JoinsLinesAcrossChunks) {
  std::string content;
  for (int i = 0; i < 100'000; ++i) content += "line number " + std::to_string(i) + "\n";
  // Unpacked in chunks that end anywhere.
  const std::string packed = testing::gzipped(content);
  ByteSource source = ByteSource::over(packed);
  LineReader lines(source);
  std::uint64_t offset = 0;
  for (int i = 0; i < 100'000; ++i) {
    auto line = lines.next();
    ASSERT_TRUE(line);
    ASSERT_EQ(line->text, "line number " + std::to_string(i));
    ASSERT_EQ(line->offset, offset);
    offset += line->text.size() + 1;
  }
  EXPECT_EQ(lines.next()->number, 0U);
}

TEST(LineReader, RefusesAnEndlessLine) {
  const std::string content = "short\n" + std::string(kLongestLine + 1, 'x');
  ByteSource source = ByteSource::over(content);
  LineReader lines(source);
  EXPECT_EQ(lines.next()->text, "short");
  auto line = lines.next();
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().message, "has a line of more than 65536 bytes");
  EXPECT_EQ(line.error().offset, 6U);

  ByteSource exact_source = ByteSource::over(std::string_view(content).substr(0, kLongestLine));
  LineReader exact(exact_source);
  EXPECT_TRUE(exact.next());
}

}  // namespace
}  // namespace ferry::replay
