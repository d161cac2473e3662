// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/host_views.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "sim/memory/memory_operations.hpp"

namespace ferry::sim {
namespace {

class HostViewsTest : public testing::Test {
 protected:
  Mapping& map(std::uint64_t size, std::uint64_t offset = 0, std::uint64_t start = 0) {
    Mapping mapping;
    mapping.start = start != 0 ? start : *addresses.take(size, kFrameBytes);
    mapping.size = size;
    mapping.block = physical.create(0, offset + size);
    mapping.offset = offset;
    mapping.rights = AccessRights::everyone();
    return pages.add(std::move(mapping));
  }
  void unmap(const Mapping& mapping) {
    const auto first = pages.mappings().find(mapping.start);
    pages.remove(first, std::next(first));
  }
  unsigned char byte_at(std::uint64_t address) {
    std::byte read{};
    EXPECT_TRUE(operations.peek(address, &read, 1));
    return static_cast<unsigned char>(read);
  }

  AddressSpace addresses;
  PhysicalMemory physical{1, 1_GiB, true};
  PageTable pages;
  MemoryOperations operations{addresses, physical, pages};
  HostViews views{addresses, pages, physical};
};

TEST_F(HostViewsTest, HostAndDeviceSeeEachOthersWrites) {
  const std::uint64_t start = map(3 * kFrameBytes).start;
  const std::uint64_t across = start + kFrameBytes - 100;  // from one frame into the next
  ASSERT_EQ(operations.fill_rows(0, {across, 200}, 7, 1, 200, 1), CUDA_SUCCESS);
  std::byte* const view = views.view(across, 200);
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(static_cast<unsigned char>(view[0]), 7);
  EXPECT_EQ(static_cast<unsigned char>(view[199]), 7);
  EXPECT_EQ(static_cast<unsigned char>(view[200]), kPoison) << "never written";
  std::memset(view + 50, 9, 100);
  EXPECT_EQ(byte_at(across + 49), 7);
  EXPECT_EQ(byte_at(across + 50), 9);
  EXPECT_EQ(byte_at(across + 149), 9);
  ASSERT_EQ(operations.fill_rows(0, {across + 120, 1}, 5, 1, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(static_cast<unsigned char>(view[120]), 5) << "a later write of the device";
}

TEST_F(HostViewsTest, AllViewsLieAtOneDistance) {
  const std::uint64_t one = map(kFrameBytes).start;
  const std::uint64_t other = map(5 * kFrameBytes).start;
  std::byte* const first = views.view(one, 16);
  std::byte* const second = views.view(other + 3 * kFrameBytes, 16);
  EXPECT_EQ(second - first, static_cast<std::ptrdiff_t>(other + 3 * kFrameBytes - one));
}

TEST_F(HostViewsTest, TheNextMemoryAtAnAddressIsSeenThere) {
  const Mapping& mapping = map(kFrameBytes);
  const std::uint64_t start = mapping.start;
  ASSERT_NE(views.view(start, 16), nullptr);
  std::memset(views.view(start, 16), 1, 16);
  unmap(mapping);
  EXPECT_EQ(views.view(start, 16), nullptr) << "nothing is mapped";
  static_cast<void>(map(kFrameBytes, 0, start));
  std::byte* const view = views.view(start, 16);
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(static_cast<unsigned char>(*view), kPoison);
  std::memset(view, 2, 16);
  EXPECT_EQ(byte_at(start), 2);
}

TEST_F(HostViewsTest, ARangeRunsOnIntoTheNextMapping) {
  const std::uint64_t start = *addresses.take(2 * kFrameBytes, kFrameBytes);
  static_cast<void>(map(kFrameBytes, 0, start));
  EXPECT_EQ(views.view(start, kFrameBytes + 1), nullptr) << "the last byte leads nowhere";
  static_cast<void>(map(kFrameBytes, kPageBytes, start + kFrameBytes));
  std::byte* const view = views.view(start + kFrameBytes - 1, 2);
  ASSERT_NE(view, nullptr);
  std::memset(view, 3, 2);
  EXPECT_EQ(byte_at(start + kFrameBytes - 1), 3);
  EXPECT_EQ(byte_at(start + kFrameBytes), 3);
}

TEST_F(HostViewsTest, MemoryThatLiesElsewhereInItsPageHasNone) {
  const Mapping& mapping = map(kFrameBytes, 512);
  EXPECT_EQ(views.view(mapping.start, 16), nullptr);
  EXPECT_EQ(views.view(16, 16), nullptr) << "no device memory at all";
}

}  // namespace
}  // namespace ferry::sim
