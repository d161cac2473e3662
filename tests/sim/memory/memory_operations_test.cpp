// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/memory_operations.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sim/memory/allocations.hpp"

namespace ferry::sim {
namespace {

struct Parts {
  explicit Parts(bool with_data = true) : physical(2, Bytes{64 * kFrameBytes}, with_data) {}

  std::uint64_t allocate(std::uint64_t bytes) { return allocations.allocate(1, 0, bytes).value(); }

  AddressSpace addresses;
  PhysicalMemory physical;
  PageTable pages;
  Allocations allocations{addresses, physical, pages};
  MemoryOperations operations{addresses, physical, pages};
};

std::uint64_t host(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

TEST(MemoryOperations, CopiesInAllDirections) {
  Parts parts;
  const std::uint64_t bytes = 2 * kFrameBytes + 100;
  std::vector<unsigned char> from(bytes);
  for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<unsigned char>(i * 31 >> 3);
  const std::uint64_t a = parts.allocate(bytes + 7);
  const std::uint64_t b = parts.allocate(bytes);
  std::vector<unsigned char> to(bytes);
  ASSERT_EQ(parts.operations.copy(0, a + 7, host(from.data()), bytes), CUDA_SUCCESS);
  ASSERT_EQ(parts.operations.copy(0, b, a + 7, bytes), CUDA_SUCCESS);
  ASSERT_EQ(parts.operations.copy(0, host(to.data()), b, bytes), CUDA_SUCCESS);
  EXPECT_EQ(to, from);
  std::vector<unsigned char> again(bytes);
  ASSERT_EQ(parts.operations.copy(0, host(again.data()), host(from.data()), bytes), CUDA_SUCCESS);
  EXPECT_EQ(again, from);
}

TEST(MemoryOperations, UnwrittenMemoryIsCopiedAsPoison) {
  Parts parts;
  const std::uint64_t a = parts.allocate(3 * kPageBytes);
  const std::uint64_t b = parts.allocate(3 * kPageBytes);
  ASSERT_EQ(parts.operations.fill_rows(0, {b, 0}, 0, 1, 3 * kPageBytes, 1), CUDA_SUCCESS);
  ASSERT_EQ(parts.operations.copy(0, b + 5, a + 5, 2 * kPageBytes), CUDA_SUCCESS);
  std::vector<unsigned char> to(3 * kPageBytes);
  ASSERT_EQ(parts.operations.copy(0, host(to.data()), b, to.size()), CUDA_SUCCESS);
  for (std::size_t i = 0; i < to.size(); ++i)
    ASSERT_EQ(to[i], i >= 5 && i < 5 + 2 * kPageBytes ? kPoison : 0) << i;
}

TEST(MemoryOperations, ARefusedCopyMovesNothing) {
  Parts parts;
  const std::uint64_t a = parts.allocate(4096);
  std::vector<unsigned char> from(8192, 1);
  EXPECT_EQ(parts.operations.copy(0, a, host(from.data()), 4097), CUDA_ERROR_ILLEGAL_ADDRESS);
  unsigned char first = 0;
  ASSERT_TRUE(parts.operations.peek(a, reinterpret_cast<std::byte*>(&first), 1));
  EXPECT_EQ(first, kPoison);
  EXPECT_EQ(parts.operations.copy(0, host(from.data()), a + 4000, 97), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(from[0], 1);
  EXPECT_EQ(parts.operations.fill_rows(0, {a, 4096}, 1, 1, 1, 2), CUDA_ERROR_ILLEGAL_ADDRESS)
      << "the second row";
}

TEST(MemoryOperations, FillsRepeatTheElement) {
  Parts parts;
  const std::uint64_t a = parts.allocate(64 * 1024);
  ASSERT_EQ(parts.operations.fill_rows(0, {a, 0}, 0x01020304, 4, 40000, 1), CUDA_SUCCESS);
  std::vector<std::uint32_t> words(10001);
  ASSERT_EQ(parts.operations.copy(0, host(words.data()), a, 40004), CUDA_SUCCESS);
  for (std::size_t i = 0; i < 10000; ++i) ASSERT_EQ(words[i], 0x01020304U) << i;
  EXPECT_EQ(words[10000], 0xA5A5A5A5U);
}

TEST(MemoryOperations, SparseMarksTouchOnlyTheirPages) {
  Parts parts;
  const std::uint64_t a = parts.allocate(32 * kFrameBytes);
  ASSERT_EQ(parts.operations.fill_rows(0, {a, kFrameBytes / 2}, 42, 4, 4, 64), CUDA_SUCCESS);
  const Mapping& mapping = *parts.pages.find(a);
  EXPECT_NE(parts.physical.peek_page(*mapping.block, kFrameBytes / 2), nullptr);
  EXPECT_EQ(parts.physical.peek_page(*mapping.block, kFrameBytes / 2 + kPageBytes), nullptr);
}

TEST(MemoryOperations, WithoutDataOnlyRightsAreChecked) {
  Parts parts(false);
  const std::uint64_t a = parts.allocate(4096);
  std::vector<unsigned char> bytes(4096, 3);
  EXPECT_EQ(parts.operations.copy(0, a, host(bytes.data()), 4096), CUDA_SUCCESS);
  EXPECT_EQ(parts.operations.copy(0, host(bytes.data()), a, 4096), CUDA_SUCCESS);
  EXPECT_EQ(bytes, std::vector<unsigned char>(4096, 3)) << "no bytes move";
  EXPECT_EQ(parts.operations.copy(0, a, host(bytes.data()), 4097), CUDA_ERROR_ILLEGAL_ADDRESS);
  std::byte seen{};
  EXPECT_FALSE(parts.operations.peek(a, &seen, 1));
}

TEST(MemoryOperations, PeekNeedsMappedMemoryButNoRights) {
  Parts parts;
  const std::uint64_t a = parts.allocate(4096);
  parts.pages.find(a)->rights = AccessRights{};
  std::vector<std::byte> seen(4097);
  EXPECT_TRUE(parts.operations.peek(a, seen.data(), 4096));
  EXPECT_FALSE(parts.operations.peek(a, seen.data(), 4097));
  EXPECT_EQ(parts.operations.copy(0, host(seen.data()), a, 16), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(MemoryOperations, BoxesAreRowsInLayers) {
  Parts parts;
  const std::uint64_t a = parts.allocate(4096);
  std::vector<unsigned char> from(2 * 3 * 4);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i + 1);
  const Box packed{host(from.data()), 4, 12};
  const Box spread{a, 64, 512};
  const Extent extent{4, 3, 2};
  ASSERT_EQ(parts.operations.copy_box(0, spread, packed, extent), CUDA_SUCCESS);
  std::vector<unsigned char> row(4);
  ASSERT_EQ(parts.operations.copy(0, host(row.data()), a + 512 + 2 * 64, 4), CUDA_SUCCESS);
  EXPECT_EQ(row, (std::vector<unsigned char>{21, 22, 23, 24}));
  std::vector<unsigned char> back(from.size());
  ASSERT_EQ(parts.operations.copy_box(0, {host(back.data()), 4, 12}, spread, extent), CUDA_SUCCESS);
  EXPECT_EQ(back, from);
}

TEST(MemoryOperations, TheRightsOfBothEndsCount) {
  Parts parts;
  const std::uint64_t a = parts.allocate(4096);
  const std::uint64_t b = parts.allocations.allocate(2, 1, 4096).value();
  EXPECT_EQ(parts.operations.copy(0, a, b, 4096), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(parts.operations.copy(1, a, b, 4096), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(parts.operations.copy(Reach(0, 1), a, b, 4096), CUDA_SUCCESS);
  EXPECT_EQ(parts.operations.copy(Reach(1, 0), a, b, 4096), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(MemoryOperations, WordsOnEitherSide) {
  Parts parts;
  const std::uint64_t a = parts.allocate(4096);
  std::uint64_t here = 0;
  for (const std::uint64_t address : {a + 8, host(&here)}) {
    ASSERT_EQ(parts.operations.store_word(0, address, 0x0102030405060708, 8), CUDA_SUCCESS);
    EXPECT_EQ(parts.operations.load_word(0, address, 8), 0x0102030405060708U);
    ASSERT_EQ(parts.operations.store_word(0, address, 9, 4), CUDA_SUCCESS);
    EXPECT_EQ(parts.operations.load_word(0, address, 4), 9U);
    EXPECT_EQ(parts.operations.load_word(0, address, 8), 0x0102030400000009U);
  }
  EXPECT_EQ(parts.operations.load_word(1, a, 4), std::nullopt);
  EXPECT_EQ(parts.operations.store_word(1, a, 1, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
}

}  // namespace
}  // namespace ferry::sim
