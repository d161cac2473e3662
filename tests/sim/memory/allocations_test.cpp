// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/allocations.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ferry::sim {
namespace {

class AllocationsTest : public testing::Test {
 protected:
  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t context = 1) {
    const auto address = allocations.allocate(context, 0, bytes);
    EXPECT_TRUE(address);
    return address.value_or(0);
  }
  std::uint64_t frames_in_use() const { return physical.in_use(0).count / kFrameBytes; }

  AddressSpace addresses;
  PhysicalMemory physical{1, Bytes{16 * kFrameBytes}, true};
  PageTable pages;
  Allocations allocations{addresses, physical, pages};
};

TEST_F(AllocationsTest, LargeOnesTakeWholeFrames) {
  const std::uint64_t address = allocate(kFrameBytes + 1);
  EXPECT_EQ(frames_in_use(), 2U);
  EXPECT_EQ(pages.find(address)->size, kFrameBytes + 1) << "the exact size is kept";
  EXPECT_TRUE(allocations.free(address));
  EXPECT_EQ(frames_in_use(), 0U);
}

TEST_F(AllocationsTest, SmallOnesShareAFrame) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t address = allocate(1000);
    EXPECT_EQ(address % 512, 0U);
    EXPECT_TRUE(seen.insert(address).second);
  }
  EXPECT_EQ(frames_in_use(), 1U);
  for (const std::uint64_t address : seen) EXPECT_TRUE(allocations.free(address));
  EXPECT_EQ(frames_in_use(), 0U);
}

TEST_F(AllocationsTest, ContextsShareNoFrame) {
  const std::uint64_t a = allocate(512, 1);
  const std::uint64_t b = allocate(512, 2);
  EXPECT_EQ(frames_in_use(), 2U);
  allocations.free_all_of(1);
  EXPECT_EQ(frames_in_use(), 1U);
  EXPECT_EQ(pages.find(a), nullptr);
  EXPECT_NE(pages.find(b), nullptr);
}

TEST_F(AllocationsTest, OnlyStartsAreFreedAndOnlyOnce) {
  const std::uint64_t large = allocate(3 * kFrameBytes);
  const std::uint64_t small = allocate(2000);
  EXPECT_FALSE(allocations.free(large + kFrameBytes));
  EXPECT_FALSE(allocations.free(small + 512));
  EXPECT_FALSE(allocations.free(0));
  EXPECT_TRUE(allocations.free(large));
  EXPECT_TRUE(allocations.free(small));
  EXPECT_FALSE(allocations.free(large));
  EXPECT_FALSE(allocations.free(small));
}

TEST_F(AllocationsTest, CapacityIsTheLimit) {
  const std::uint64_t all = allocate(16 * kFrameBytes);
  EXPECT_EQ(allocations.allocate(1, 0, 1), std::nullopt);
  EXPECT_TRUE(allocations.free(all));
  EXPECT_EQ(allocations.allocate(1, 0, 16 * kFrameBytes + 1), std::nullopt);
  EXPECT_EQ(allocations.allocate(1, 0, ~std::uint64_t{0}), std::nullopt);
  EXPECT_EQ(frames_in_use(), 0U) << "failures take nothing";
}

TEST_F(AllocationsTest, AFreedAddressIsNotHandedOutAgainSoon) {
  const std::uint64_t first = allocate(1000);
  const std::uint64_t keep = allocate(1000);
  EXPECT_TRUE(allocations.free(first));
  for (int i = 0; i < 100; ++i) EXPECT_NE(allocate(1000), first);
  EXPECT_TRUE(allocations.free(keep));
}

TEST_F(AllocationsTest, VirtualMemoryIsNotFreedHere) {
  Mapping mapping;
  mapping.start = *addresses.take(kFrameBytes, 0);
  mapping.size = kFrameBytes;
  const std::uint64_t start = pages.add(std::move(mapping)).start;
  EXPECT_FALSE(allocations.free(start));
}

}  // namespace
}  // namespace ferry::sim
