// SPDX-License-Identifier: Apache-2.0
// Private pools of a device pool: who gets their memory, and that captures are left as they are.
#include <gtest/gtest.h>

#include <algorithm>

#include "memory/device_pool_fixture.hpp"

namespace ferry {
namespace {

using testing_support::DevicePoolTest;
constexpr std::uint64_t kMine = 7;
constexpr std::uint64_t kOther = 8;
constexpr int kGlobalMode = 0;

class DevicePoolPrivate : public DevicePoolTest {
 protected:
  DeviceAddress allocate_private(Bytes bytes, StreamRef stream, std::uint64_t pool = kMine) {
    const Result<DeviceAddress> address = pool_->allocate_private(pool, bytes, stream);
    EXPECT_TRUE(address.ok()) << address.error().describe();
    return address.ok() ? *address : DeviceAddress{};
  }
  Bytes in_private_pool(std::uint64_t pool) {
    Bytes sum{};
    for (const PoolBlock& block : pool_->blocks()) {
      if (block.private_pool == pool) sum += block.size;
    }
    return sum;
  }

  template <typename... Arguments>
  int driver(const char* function, Arguments... arguments) {
    void* const found = sim_.test_side().driver().find_symbol(function);
    return reinterpret_cast<int (*)(Arguments...)>(found)(arguments...);
  }
  void begin_capture(StreamRef stream) {
    ASSERT_EQ(driver("cuStreamBeginCapture_v2", stream.native(), kGlobalMode), 0);
  }
  // The number of nodes that the capture has become; -1 where it was spoilt.
  int end_capture(StreamRef stream) {
    void* graph = nullptr;
    if (driver("cuStreamEndCapture", stream.native(), &graph) != 0) return -1;
    std::size_t nodes = 0;
    EXPECT_EQ(driver("cuGraphGetNodes", graph, static_cast<void**>(nullptr), &nodes), 0);
    EXPECT_EQ(driver("cuGraphDestroy", graph), 0);
    return static_cast<int>(nodes);
  }
};

TEST_P(DevicePoolPrivate, WhatIsFreedInOneServesTheSameStreamThereAlone) {
  pool_->retain_private(kMine);
  pool_->retain_private(kOther);
  const DeviceAddress mine = allocate_private(8_MiB, first_);
  free(mine, first_);
  sim_.drain();
  const DeviceAddress common = allocate(8_MiB, first_);
  const DeviceAddress others = allocate_private(8_MiB, first_, kOther);
  const DeviceAddress of_second = allocate_private(8_MiB, second_);
  EXPECT_NE(common, mine);
  EXPECT_NE(others, mine);
  EXPECT_NE(of_second, mine);
  EXPECT_EQ(reserved(), 32_MiB) << "each has memory of its own";
  EXPECT_EQ(allocate_private(8_MiB, first_), mine);
  EXPECT_EQ(reserved(), 32_MiB);
  EXPECT_EQ(in_private_pool(kMine), 16_MiB);
  EXPECT_EQ(in_private_pool(kOther), 8_MiB);
  EXPECT_EQ(in_private_pool(0), 8_MiB);
}

TEST_P(DevicePoolPrivate, ItsIdleMemoryIsNotTrimmedNorMovedUntilItIsReleased) {
  make_pool(16_MiB);
  pool_->retain_private(kMine);
  free(allocate_private(8_MiB, first_), first_);
  free(allocate_private(512_B, first_), first_);  // in a slab
  const Bytes kept = reserved();
  EXPECT_EQ(*pool_->trim(Bytes{}), Bytes{});
  EXPECT_EQ(reserved(), kept);
  EXPECT_EQ(pool_->allocate(12_MiB, first_).error().code(), Code::out_of_memory);
  EXPECT_TRUE(pool_->release_private(kMine));
  EXPECT_EQ(pool_->private_uses(kMine), 0U);
  const DeviceAddress now = allocate(12_MiB, first_);
  free(now, first_);
  EXPECT_GT(pool_->trim(Bytes{})->count, 0U);
  EXPECT_EQ(reserved(), Bytes{});
}

TEST_P(DevicePoolPrivate, ReleasedMemoryWaitsForWorkThatNoFreeTellsOf) {
  pool_->retain_private(kMine);
  const DeviceAddress block = allocate_private(8_MiB, first_);
  free(block, second_);
  settle(first_);  // as far as its frees tell, the block is nobody's
  settle(first_);
  // As the launch of a graph: it comes back to memory that was freed long before, on any stream.
  sim_.write(block, 1, second_);
  EXPECT_TRUE(pool_->release_private(kMine));
  const DeviceAddress next = allocate(8_MiB, first_);
  sim_.write(next, 2, first_);
  EXPECT_EQ(sim_.word_at(next, first_), 2U);
}

TEST_P(DevicePoolPrivate, LiveBlocksOfAReleasedOneFollowWhenTheyAreFreed) {
  pool_->retain_private(kMine);
  const DeviceAddress block = allocate_private(8_MiB, first_);
  EXPECT_TRUE(pool_->release_private(kMine));
  EXPECT_EQ(pool_->stats().allocations, 1U);
  free(block, first_);
  EXPECT_EQ(pool_->trim(Bytes{})->count, Bytes(8_MiB).count);
}

TEST_P(DevicePoolPrivate, AllocatingAndFreeingLeavesACaptureAsItIs) {
  pool_->retain_private(kMine);
  const DeviceAddress before = allocate(4_MiB, first_);
  const DeviceAddress elsewhere = allocate(4_MiB, second_);
  begin_capture(first_);
  const DeviceAddress large = allocate_private(4_MiB, first_);
  const DeviceAddress small = allocate_private(1024_B, first_);
  sim_.write(large, 1, first_);
  free(large, first_);
  EXPECT_EQ(allocate_private(4_MiB, first_), large) << "free again in the same capture";
  free(small, first_);
  free(before, first_);                               // no event on the captured stream
  EXPECT_TRUE(pool_->record_use(elsewhere, first_));  // nor here
  free(elsewhere, second_);
  EXPECT_TRUE(pool_->trim(Bytes{}).ok());  // nor a wait for the device
  EXPECT_EQ(end_capture(first_), 1) << "the write, and nothing of the pool";
}

TEST_P(DevicePoolPrivate, ShortMemoryDoesNotSpoilACapture) {
  make_pool(16_MiB);
  pool_->retain_private(kMine);
  free(allocate(10_MiB, second_), second_);
  begin_capture(first_);
  const DeviceAddress small = allocate_private(4_MiB, first_);
  sim_.write(small, 1, first_);
  EXPECT_EQ(pool_->allocate_private(kMine, 14_MiB, first_).error().code(), Code::out_of_memory);
  EXPECT_EQ(pool_->allocate(14_MiB, second_).error().code(), Code::out_of_memory);
  EXPECT_EQ(end_capture(first_), 1);
  free(small, first_);
}

TEST_P(DevicePoolPrivate, ABlockUsedInACaptureGoesToNobodyBeforeTheDeviceWasWaitedFor) {
  pool_->retain_private(kMine);
  const DeviceAddress block = allocate(8_MiB, second_);
  begin_capture(first_);
  EXPECT_TRUE(pool_->record_use(block, first_));
  free(block, second_);
  EXPECT_EQ(pool_->stats().quarantined_blocks, 1U);
  EXPECT_NE(allocate(8_MiB, second_), block);
  EXPECT_EQ(end_capture(first_), 0);
}

TEST_P(DevicePoolPrivate, OneThatIsNotInUseIsRefused) {
  EXPECT_EQ(pool_->allocate_private(kMine, 1_MiB, first_).error().code(), Code::invalid_argument);
  EXPECT_EQ(pool_->allocate_private(0, 1_MiB, first_).error().code(), Code::invalid_argument);
  EXPECT_EQ(pool_->release_private(kMine).code(), Code::invalid_argument);
  pool_->retain_private(kMine);
  pool_->retain_private(kMine);
  EXPECT_EQ(pool_->private_uses(kMine), 2U);
}

INSTANTIATE_TEST_SUITE_P(Schedules, DevicePoolPrivate,
                         testing::ValuesIn(testing_support::kSchedules),
                         testing_support::schedule_name);

}  // namespace
}  // namespace ferry
