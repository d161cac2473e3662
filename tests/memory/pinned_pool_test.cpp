// SPDX-License-Identifier: Apache-2.0
#include "memory/pinned_pool.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>

#include "driver/capturing.hpp"
#include "memory/device_pool_fixture.hpp"

namespace ferry {
namespace {

using testing_support::SimDevice;

class PinnedPoolTest : public testing::TestWithParam<const char*> {
 protected:
  void* allocate(Bytes bytes) {
    const Result<void*> memory = pool_->allocate(bytes);
    EXPECT_TRUE(memory.ok()) << memory.error().describe();
    return memory.ok() ? *memory : nullptr;
  }

  SimDevice sim_{GetParam()};
  StreamRef stream_ = sim_.stream();
  std::unique_ptr<PinnedPool> pool_ = std::make_unique<PinnedPool>(sim_.pool_side());
};

TEST_P(PinnedPoolTest, WastesLittleAtAnySize) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t bytes = (64 << 10) + random() % (3 << 20);
    ASSERT_TRUE(pool_->free(allocate(Bytes{bytes})));
    const Bytes before = pool_->stats().allocated_bytes;
    void* const block = allocate(Bytes{bytes});
    const std::uint64_t given = (pool_->stats().allocated_bytes - before).count;
    EXPECT_GE(given, bytes);
    EXPECT_LE(given, bytes + bytes / 32 + 4096 + 128) << bytes;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 4096, 0U);
    ASSERT_TRUE(pool_->free(block));
  }
}

TEST_P(PinnedPoolTest, AWarmPoolPinsNothing) {
  for (int round = 0; round < 3; ++round) {
    std::vector<void*> blocks;
    for (const Bytes size : {64_KiB, 1_MiB, 5_MiB}) blocks.push_back(allocate(size));
    for (void* block : blocks) ASSERT_TRUE(pool_->free(block));
  }
  EXPECT_EQ(sim_.calls("cuMemHostAlloc"), 3U);
  EXPECT_EQ(pool_->stats().blocks_reused, 6U);
}

TEST_P(PinnedPoolTest, ABlockInUseIsNotHandedOut) {
  const DeviceAddress device = sim_.test_side().alloc(1_MiB).value();
  void* const block = allocate(1_MiB);
  std::memset(block, 7, 1 << 20);
  ASSERT_TRUE(
      sim_.test_side().copy(device.value, reinterpret_cast<std::uintptr_t>(block), 1_MiB, stream_));
  ASSERT_TRUE(pool_->record_use(static_cast<char*>(block) + 5000, stream_));
  ASSERT_TRUE(pool_->free(block));
  void* const next = allocate(1_MiB);
  std::memset(next, 1, 1 << 20);  // the checker sees it if the copy has not run
  EXPECT_EQ(sim_.word_at(device, stream_), 0x07070707U);
  ASSERT_TRUE(pool_->free(next));
  ASSERT_TRUE(sim_.test_side().free(device));
}

TEST_P(PinnedPoolTest, ManyUsesKeepFewEvents) {
  void* const block = allocate(1_MiB);
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(pool_->record_use(block, stream_));
    ASSERT_TRUE(sim_.test_side().synchronize(stream_));
  }
  EXPECT_LE(sim_.calls("cuEventCreate"), 4U);
  ASSERT_TRUE(pool_->free(block));
}

TEST_P(PinnedPoolTest, GoesOnBesideACaptureAndLeavesItAlone) {
  testing_support::Capturing capturing(sim_.pool_side().driver(), sim_.stream());
  void* const block = allocate(1_MiB);
  EXPECT_TRUE(pool_->record_use(block, stream_));
  EXPECT_TRUE(pool_->record_use(block, stream_));  // asks how the first use has fared
  EXPECT_TRUE(pool_->free(block));
  EXPECT_TRUE(pool_->trim(0_B).ok());
  EXPECT_EQ(capturing.end(), 0U);
}

TEST_P(PinnedPoolTest, KnowsItsOwn) {
  void* const block = allocate(100_KiB);
  char own = 0;
  EXPECT_TRUE(pool_->owns(static_cast<char*>(block) + 1000));
  EXPECT_FALSE(pool_->owns(&own));
  EXPECT_EQ(pool_->record_use(&own, stream_).code(), Code::not_owned);
  EXPECT_EQ(pool_->free(&own).code(), Code::not_owned);
  EXPECT_EQ(pool_->free(static_cast<char*>(block) + 1000).code(), Code::not_owned);
  ASSERT_TRUE(pool_->free(block));
  EXPECT_EQ(pool_->free(block).code(), Code::already_freed);
  EXPECT_FALSE(pool_->owns(block));
  EXPECT_TRUE(pool_->free(nullptr));
  EXPECT_EQ(allocate(0_B), nullptr);
}

TEST_P(PinnedPoolTest, TellsWhereAPointerLies) {
  char* const block = static_cast<char*>(allocate(100_KiB));
  EXPECT_EQ(
      pool_->place_of(block + 1000),
      fmt::format("{:#x} lies 1000 bytes into the block of 102400 bytes that starts at {:#x}; "
                  "a block is freed by its start",
                  reinterpret_cast<std::uintptr_t>(block) + 1000,
                  reinterpret_cast<std::uintptr_t>(block)));
  ASSERT_TRUE(pool_->free(block));
  EXPECT_EQ(
      pool_->place_of(block + 7),
      fmt::format("{:#x} lies 7 bytes into a block that has been freed, which starts at {:#x}",
                  reinterpret_cast<std::uintptr_t>(block) + 7,
                  reinterpret_cast<std::uintptr_t>(block)));
  EXPECT_EQ(pool_->place_of(nullptr), "0x0 lies in none of the pool's 0 live blocks");
}

TEST_P(PinnedPoolTest, TellsWhoHoldsItsMemory) {
  void* const live = allocate(1_MiB);
  ASSERT_TRUE(pool_->free(allocate(2_MiB)));
  const std::string report = pool_->out_of_memory_report(5_MiB);
  EXPECT_NE(report.find("5 MiB (5242880 bytes) of pinned memory were asked for; the pool holds 3 "
                        "MiB: 1 MiB in 1 live blocks, 0 B freed but still used"),
            std::string::npos)
      << report;
  EXPECT_NE(pool_->out_of_memory_report(Bytes{~std::uint64_t{0}})
                .find("18446744073709551615 bytes were asked for, and no request may be larger"),
            std::string::npos);
  ASSERT_TRUE(pool_->free(live));
}

TEST_P(PinnedPoolTest, TrimGivesBackWhatNobodyUses) {
  void* const live = allocate(1_MiB);
  void* const idle = allocate(2_MiB);
  void* const busy = allocate(3_MiB);
  const DeviceAddress device = sim_.test_side().alloc(1_MiB).value();
  ASSERT_TRUE(
      sim_.test_side().copy(device.value, reinterpret_cast<std::uintptr_t>(busy), 1_MiB, stream_));
  ASSERT_TRUE(pool_->record_use(busy, stream_));
  ASSERT_TRUE(pool_->free(idle));
  ASSERT_TRUE(pool_->free(busy));
  const Bytes returned = pool_->trim(0_B).value();
  EXPECT_GE(returned, 2_MiB);
  sim_.drain();
  EXPECT_EQ(returned + pool_->trim(0_B).value(), 5_MiB);
  EXPECT_EQ(pool_->stats().reserved_bytes, 1_MiB);
  ASSERT_TRUE(pool_->free(live));
  ASSERT_TRUE(sim_.test_side().free(device));
}

TEST_P(PinnedPoolTest, FreeBlocksGoBeforeMemoryIsCalledShort) {
  ASSERT_TRUE(pool_->free(allocate(8_MiB)));
  sim_.fail_nth("cuMemHostAlloc", 1, testing_support::kCudaOutOfMemory);
  void* const block = allocate(2_MiB);
  EXPECT_EQ(pool_->stats().reserved_bytes, 2_MiB) << "the free block was given up";
  sim_.fail_nth("cuMemHostAlloc", 1, testing_support::kCudaOutOfMemory);
  EXPECT_EQ(pool_->allocate(2_MiB).error().code(), Code::out_of_memory);
  EXPECT_EQ(pool_->allocate(Bytes{~std::uint64_t{0}}).error().code(), Code::out_of_memory);
  ASSERT_TRUE(pool_->free(block));
}

TEST_P(PinnedPoolTest, AUseThatCannotBeMarkedIsAnError) {
  void* const block = allocate(1_MiB);
  sim_.fail_nth("cuEventRecord", 1, testing_support::kCudaUnknown);
  EXPECT_FALSE(pool_->record_use(block, stream_));
  ASSERT_TRUE(pool_->free(block));
}

INSTANTIATE_TEST_SUITE_P(Schedules, PinnedPoolTest, testing::ValuesIn(testing_support::kSchedules),
                         testing_support::schedule_name);

}  // namespace
}  // namespace ferry
