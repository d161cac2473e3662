// SPDX-License-Identifier: Apache-2.0
#include "front/traces/byte_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/traces/files.hpp"

namespace ferry::replay {
namespace {

using testing::gzipped;
using ::testing::HasSubstr;
using testing::TemporaryFile;

// Compresses badly, so that the compressed form spans several chunks.
std::string noise(std::size_t bytes) {
  std::string out;
  std::uint64_t state = 1;
  while (out.size() < bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    out += static_cast<char>(state >> 56);
  }
  return out;
}

TraceError error_of(std::string_view bytes, ByteLimits limits = {}) {
  ByteSource source = ByteSource::over(bytes, limits);
  auto all = source.rest();
  return all ? TraceError{"read without error", std::nullopt} : all.error();
}

TEST(ByteSource, ReadsAFileInChunks) {
  const std::string content = noise(1'000'000);
  const TemporaryFile file(content);
  auto source = ByteSource::open(file.path());
  ASSERT_TRUE(source);
  std::string all;
  while (true) {
    auto chunk = source->next();
    ASSERT_TRUE(chunk);
    if (chunk->empty()) break;
    all += *chunk;
  }
  EXPECT_EQ(all, content);
}

TEST(ByteSource, UnpacksGzipFromFileAndMemory) {
  const std::string content = noise(600'000) + std::string(600'000, 'z');
  const std::string packed = gzipped(content);
  const TemporaryFile file(packed);
  auto from_file = ByteSource::open(file.path());
  ASSERT_TRUE(from_file);
  EXPECT_EQ(from_file->rest().value(), content);
  EXPECT_EQ(ByteSource::over(packed).rest().value(), content);
}

TEST(ByteSource, JoinsGzipMembersAndIgnoresPadding) {
  const std::string packed =
      gzipped("one ") + gzipped("") + gzipped("two") + std::string(600'000, '\0');
  EXPECT_EQ(ByteSource::over(packed).rest().value(), "one two");
}

TEST(ByteSource, PeekTakesNothing) {
  ByteSource source = ByteSource::over("abc");
  EXPECT_EQ(source.peek().value(), "abc");
  EXPECT_EQ(source.peek().value(), "abc");
  EXPECT_EQ(source.next().value(), "abc");
  EXPECT_EQ(source.next().value(), "");
  EXPECT_EQ(source.peek().value(), "");
}

TEST(ByteSource, AnEmptyFileIsAnEmptyStream) {
  const TemporaryFile file("");
  auto source = ByteSource::open(file.path());
  ASSERT_TRUE(source);
  EXPECT_EQ(source->rest().value(), "");
}

TEST(ByteSource, SaysWhyAFileCannotBeOpened) {
  EXPECT_EQ(ByteSource::open("/nonexistent/trace").error().message, "does not exist");
  EXPECT_EQ(ByteSource::open(::testing::TempDir()).error().message, "is a directory, not a trace");
  EXPECT_EQ(ByteSource::open("/dev/null").error().message, "is neither a file nor a pipe");
  const TemporaryFile file("x");
  EXPECT_THAT(ByteSource::open(file.path() + "/inside").error().message,
              HasSubstr("cannot be opened"));
}

TEST(ByteSource, RefusesFilesOverTheLimit) {
  const TemporaryFile file(std::string(2000, 'x'));
  const ByteLimits limits{1000_B, 1000_B};
  EXPECT_THAT(ByteSource::open(file.path(), limits).error().message,
              HasSubstr("more than the 1000 B"));
}

TEST(ByteSource, RefusesStreamsThatGrowBeyondTheLimit) {
  const std::string bomb = gzipped(std::string(5'000'000, '0'));
  ASSERT_LT(bomb.size(), 100'000U);
  const TraceError error = error_of(bomb, {1_MiB, 1_MiB});
  EXPECT_THAT(error.message, HasSubstr("unpacks to more than 1 MiB"));
  // It stopped at the limit, not at the end.
  EXPECT_LT(error.offset.value(), 2'000'000U);
}

TEST(ByteSource, RefusesStreamsThatNoRealTraceWouldBe) {
  const std::string bomb = gzipped(std::string(5'000'000, '0'));
  const TraceError error = error_of(bomb, {.free_growth = 1_MiB});
  EXPECT_THAT(error.message, HasSubstr("unpacks to more than 250 times its size"));
  EXPECT_LT(error.offset.value(), 2'000'000U);
  ByteSource small = ByteSource::over(bomb);
  EXPECT_TRUE(small.rest()) << "it is small enough";
}

TEST(ByteSource, SaysWhereGzipIsCutOff) {
  const std::string content = noise(600'000);
  const std::string packed = gzipped(content);
  for (const std::size_t kept : {std::size_t{2}, std::size_t{11}, packed.size() / 2}) {
    const TraceError error = error_of(std::string_view(packed).substr(0, kept));
    EXPECT_THAT(error.message, HasSubstr("cut off"));
    EXPECT_LE(error.offset.value(), content.size());
  }
  // Only the checksum is missing: all the content was seen.
  const TraceError error = error_of(std::string_view(packed).substr(0, packed.size() - 1));
  EXPECT_EQ(error.offset.value(), content.size());
}

TEST(ByteSource, FindsDamagedGzip) {
  std::string packed = gzipped("some content that is long enough to be packed");
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);  // the checksum
  EXPECT_THAT(error_of(packed).message, HasSubstr("damaged compressed data"));
  EXPECT_THAT(error_of("\x1f\x8b is no gzip at all").message, HasSubstr("damaged compressed data"));
  EXPECT_THAT(error_of(gzipped("abc") + "trailing").message, HasSubstr("belong to nothing"));
}

}  // namespace
}  // namespace ferry::replay
