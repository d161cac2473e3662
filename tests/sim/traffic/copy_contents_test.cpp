// SPDX-License-Identifier: Apache-2.0
#include "sim/traffic/copy_contents.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace ferry::sim {
namespace {

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

CopyContents read(std::initializer_list<std::vector<std::byte>> parts) {
  std::vector<std::span<const std::byte>> spans(parts.begin(), parts.end());
  return contents_of(spans);
}

std::vector<std::uint16_t> halves() {
  std::vector<std::uint16_t> values(1001);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::uint16_t>(0x3F80 + 7 * i);
  return values;
}

// As floats of 32 bits hold floats of 16.
std::vector<std::uint32_t> widened(const std::vector<std::uint16_t>& values) {
  std::vector<std::uint32_t> wide;
  for (const std::uint16_t value : values) wide.push_back(std::uint32_t{value} << 16U);
  return wide;
}

TEST(CopyContents, TheBytesAloneCount) {
  const auto bytes = bytes_of(halves());
  const CopyContents whole = read({bytes});
  const auto middle = bytes.begin() + 333;  // within a word
  EXPECT_EQ(read({{bytes.begin(), middle}, {middle, bytes.end()}}), whole) << "not their parts";
  EXPECT_FALSE(whole.zero);
  EXPECT_FALSE(whole.widened);
  auto other = bytes;
  other.back() ^= std::byte{1};
  EXPECT_NE(read({other}).digest, whole.digest);
}

TEST(CopyContents, WordsWithEmptyLowerHalvesAreKnownAsTheirUpperOnes) {
  const CopyContents wide = read({bytes_of(widened(halves()))});
  EXPECT_TRUE(wide.widened);
  EXPECT_EQ(wide.digest, read({bytes_of(halves())}).digest);
  EXPECT_FALSE(wide.zero);
}

TEST(CopyContents, OneFullLowerHalfIsEnough) {
  for (const std::size_t at : {std::size_t{0}, std::size_t{499}, std::size_t{1000}}) {
    auto values = widened(halves());
    values[at] |= 1;
    EXPECT_FALSE(read({bytes_of(values)}).widened) << at;
  }
}

TEST(CopyContents, BytesThatAreNoWholeWordsAreNotWidened) {
  auto bytes = bytes_of(widened(halves()));
  bytes.pop_back();
  EXPECT_FALSE(read({bytes}).widened);
}

TEST(CopyContents, ZerosAreNothingElse) {
  EXPECT_TRUE(read({std::vector<std::byte>(1003)}).zero);
  EXPECT_FALSE(read({std::vector<std::byte>(1004)}).widened);
  std::vector<std::byte> last(1003);
  last.back() = std::byte{1};
  EXPECT_FALSE(read({last}).zero);
  EXPECT_TRUE(read({}).zero);
}

}  // namespace
}  // namespace ferry::sim
