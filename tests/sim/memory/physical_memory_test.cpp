// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/physical_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace ferry::sim {
namespace {

std::vector<unsigned char> contents(const PhysicalMemory& memory, const PhysicalBlock& block,
                                    std::uint64_t offset, std::uint64_t bytes) {
  std::vector<unsigned char> data(bytes);
  memory.read(block, offset, reinterpret_cast<std::byte*>(data.data()), bytes);
  return data;
}

TEST(PhysicalMemory, CountsBlocksAgainstEachDevice) {
  PhysicalMemory memory(2, Bytes{3 * kFrameBytes}, true);
  auto a = memory.create(0, 2 * kFrameBytes);
  ASSERT_TRUE(a);
  EXPECT_EQ(memory.in_use(0).count, 2 * kFrameBytes);
  EXPECT_EQ(memory.in_use(1).count, 0U);
  EXPECT_FALSE(memory.create(0, 2 * kFrameBytes));
  EXPECT_TRUE(memory.create(1, 3 * kFrameBytes));
  a.reset();
  EXPECT_EQ(memory.in_use(0).count, 0U);
  EXPECT_TRUE(memory.create(0, 3 * kFrameBytes));
}

TEST(PhysicalMemory, DiscardedBytesReadAsPoisonAndTheirNeighboursStay) {
  PhysicalMemory memory(1, Bytes{16 * kFrameBytes}, true);
  const auto block = memory.create(0, 2 * kFrameBytes);
  memory.discard(*block, 0, 2 * kFrameBytes);
  std::memset(memory.open_for_write(*block, 0, 3 * kPageBytes), 1, 3 * kPageBytes);
  memory.discard(*block, 100, 2 * kPageBytes);
  std::vector<unsigned char> wanted(3 * kPageBytes, 1);
  std::fill_n(wanted.begin() + 100, 2 * kPageBytes, kPoison);
  EXPECT_EQ(contents(memory, *block, 0, 3 * kPageBytes), wanted);
}

TEST(PhysicalMemory, ABlockMayBeginAsZeros) {
  PhysicalMemory memory(1, Bytes{16 * kFrameBytes}, true);
  const auto block = memory.create(0, 2 * kFrameBytes);
  PhysicalMemory::begin_as_zeros(*block);
  std::memset(memory.open_for_write(*block, 5000, 100), 1, 100);
  std::vector<unsigned char> wanted(12288, 0);
  std::fill_n(wanted.begin() + 5000, 100, static_cast<unsigned char>(1));
  EXPECT_EQ(contents(memory, *block, 0, 12288), wanted);
  EXPECT_EQ(contents(memory, *block, kFrameBytes, 10), std::vector<unsigned char>(10, 0));
  EXPECT_EQ(memory.peek_page(*block, kFrameBytes), nullptr) << "nothing was taken for it";
  const auto other = memory.create(0, kFrameBytes);
  EXPECT_EQ(contents(memory, *other, 0, 10), std::vector<unsigned char>(10, kPoison));
}

TEST(PhysicalMemory, AllBlocksMayBeginAsZeros) {
  PhysicalMemory memory(1, Bytes{16 * kFrameBytes}, true);
  memory.begin_all_as_zeros();
  const auto block = memory.create(0, kFrameBytes);
  std::memset(memory.open_for_write(*block, 0, 100), 1, 100);
  memory.discard(*block, 0, 50);
  std::vector<unsigned char> wanted(200, 0);
  std::fill_n(wanted.begin() + 50, 50, static_cast<unsigned char>(1));
  EXPECT_EQ(contents(memory, *block, 0, 200), wanted);
}

TEST(PhysicalMemory, UnwrittenBytesReadAsPoison) {
  PhysicalMemory memory(1, Bytes{16 * kFrameBytes}, true);
  const auto block = memory.create(0, 2 * kFrameBytes);
  EXPECT_EQ(contents(memory, *block, 100, 9000), std::vector<unsigned char>(9000, kPoison));
  std::byte* const room = memory.open_for_write(*block, 5000, 100);
  ASSERT_NE(room, nullptr);
  std::memset(room, 1, 100);
  std::vector<unsigned char> wanted(12288, kPoison);
  std::fill_n(wanted.begin() + 5000, 100, static_cast<unsigned char>(1));
  EXPECT_EQ(contents(memory, *block, 0, 12288), wanted)
      << "the rest of a page written in part, too";
  EXPECT_EQ(contents(memory, *block, kFrameBytes, 10), std::vector<unsigned char>(10, kPoison));
}

TEST(PhysicalMemory, AWriteOverManyPagesPoisonsOnlyBothEnds) {
  PhysicalMemory memory(1, Bytes{16 * kFrameBytes}, true);
  const auto block = memory.create(0, kFrameBytes);
  const std::uint64_t start = kPageBytes - 7;
  const std::uint64_t length = 3 * kPageBytes + 14;
  std::memset(memory.open_for_write(*block, start, length), 9, length);
  const auto data = contents(memory, *block, 0, 6 * kPageBytes);
  for (std::uint64_t i = 0; i < data.size(); ++i) {
    ASSERT_EQ(data[i], i >= start && i < start + length ? 9 : kPoison) << i;
  }
}

TEST(PhysicalMemory, RecycledMemoryShowsNothingOfItsPast) {
  PhysicalMemory memory(1, Bytes{kFrameBytes}, true);
  auto block = memory.create(0, kFrameBytes);
  std::memset(memory.open_for_write(*block, 0, kFrameBytes), 7, kFrameBytes);
  const std::uint64_t first_id = block->id;
  block.reset();
  block = memory.create(0, kFrameBytes);
  EXPECT_NE(block->id, first_id);
  EXPECT_EQ(contents(memory, *block, 0, kFrameBytes),
            std::vector<unsigned char>(kFrameBytes, kPoison));
}

TEST(PhysicalMemory, HugeBlocksCostNothingUntilWritten) {
  PhysicalMemory memory(1, Bytes{std::uint64_t{1} << 45}, true);
  const auto block = memory.create(0, std::uint64_t{1} << 44);
  ASSERT_TRUE(block);
  EXPECT_EQ(memory.peek_page(*block, std::uint64_t{1} << 43), nullptr);
}

TEST(PhysicalMemory, OthersTakeTheirPartAndPiecesAreSmall) {
  PhysicalMemory memory(1, Bytes{8 * kFrameBytes}, true);
  MachineLimits limits;
  limits.taken = Bytes{3 * kFrameBytes};
  limits.largest_piece = Bytes{4 * kFrameBytes};
  memory.set_limits(limits);
  EXPECT_EQ(memory.free(0).count, 5 * kFrameBytes);
  EXPECT_FALSE(memory.create(0, 5 * kFrameBytes)) << "in no one piece";
  const auto block = memory.create(0, 4 * kFrameBytes);
  ASSERT_TRUE(block);
  EXPECT_FALSE(memory.create(0, 2 * kFrameBytes)) << "taken";
  limits.taken = Bytes{7 * kFrameBytes};
  memory.set_limits(limits);
  EXPECT_EQ(memory.free(0).count, 0U);
  EXPECT_EQ(memory.in_use(0).count, 4 * kFrameBytes);
}

TEST(PhysicalMemory, ABlockMayEndWithinAFrame) {
  PhysicalMemory memory(1, Bytes{8 * kFrameBytes}, true);
  const auto block = memory.create(0, kFrameBytes + 65536);
  EXPECT_EQ(memory.in_use(0).count, kFrameBytes + 65536);
  std::byte* const room = memory.open_for_write(*block, kFrameBytes + 65535, 1);
  ASSERT_NE(room, nullptr);
  *room = std::byte{7};
  EXPECT_EQ(contents(memory, *block, kFrameBytes + 65534, 2),
            (std::vector<unsigned char>{kPoison, 7}));
}

}  // namespace
}  // namespace ferry::sim
