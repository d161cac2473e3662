// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "ferry/pytorch.h"

namespace {

class PoolFiguresC : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ferry_init(nullptr), FERRY_OK) << ferry_last_error();
    ASSERT_EQ(ferry_device_pool_create(0, nullptr, &pool_), FERRY_OK) << ferry_last_error();
  }
  void TearDown() override { EXPECT_EQ(ferry_device_pool_destroy(pool_), FERRY_OK); }
  ferry_device_pool_figures_t figures() {
    ferry_device_pool_figures_t out{};
    out.struct_size = sizeof(out);
    EXPECT_EQ(ferry_device_pool_figures(pool_, &out), FERRY_OK) << ferry_last_error();
    return out;
  }

  ferry_device_pool* pool_ = nullptr;
};

TEST_F(PoolFiguresC, CountAndAreSetBack) {
  void* pointer = nullptr;
  ASSERT_EQ(ferry_device_allocate(pool_, 3 << 20, nullptr, &pointer), FERRY_OK);
  EXPECT_EQ(figures().requested_bytes[0].now, 3U << 20);
  EXPECT_EQ(figures().requested_bytes[1].now, 0U);
  EXPECT_EQ(figures().requested_bytes[2].peak, 3U << 20);
  EXPECT_GE(figures().reserved_bytes.now, 3U << 20);
  EXPECT_EQ(ferry_device_free(pool_, pointer, nullptr), FERRY_OK);
  EXPECT_EQ(figures().allocations[0].removed, 1U);
  EXPECT_EQ(ferry_device_pool_reset_peaks(pool_), FERRY_OK);
  EXPECT_EQ(figures().allocated_bytes[0].peak, 0U);
  EXPECT_EQ(figures().active_bytes[0].added, 3U << 20);
  EXPECT_EQ(ferry_device_pool_reset_totals(pool_), FERRY_OK);
  EXPECT_EQ(figures().active_bytes[0].added, 0U);
}

TEST_F(PoolFiguresC, AShorterStructGetsWhatItKnowsAndKeepsItsSize) {
  ferry_device_pool_figures_t out;
  std::memset(&out, 0x5A, sizeof(out));
  const ferry_device_pool_figures_t untouched = out;
  constexpr std::size_t kKnown = sizeof(out) / 2;
  out.struct_size = kKnown;
  EXPECT_EQ(ferry_device_pool_figures(pool_, &out), FERRY_OK);
  EXPECT_EQ(out.struct_size, kKnown);
  const auto* const bytes = reinterpret_cast<const char*>(&out);
  const auto* const before = reinterpret_cast<const char*>(&untouched);
  EXPECT_EQ(std::memcmp(bytes + kKnown, before + kKnown, sizeof(out) - kKnown), 0);
  EXPECT_NE(std::memcmp(bytes + sizeof(std::size_t), before + sizeof(std::size_t),
                        kKnown - sizeof(std::size_t)),
            0);
}

TEST_F(PoolFiguresC, TheMapIsCutToTheRoom) {
  void* pointer = nullptr;
  ASSERT_EQ(ferry_device_allocate(pool_, 1 << 20, nullptr, &pointer), FERRY_OK);
  std::size_t count = 0;
  EXPECT_EQ(ferry_device_pool_blocks(pool_, nullptr, &count), FERRY_OK);
  ASSERT_GE(count, 1U);
  std::vector<ferry_device_block> blocks(count + 1);
  std::memset(blocks.data(), 0x5a, blocks.size() * sizeof(blocks[0]));
  std::size_t room = 1;
  EXPECT_EQ(ferry_device_pool_blocks(pool_, blocks.data(), &room), FERRY_OK);
  EXPECT_EQ(room, count);
  EXPECT_EQ(blocks[0].address, pointer);
  EXPECT_EQ(blocks[0].state, FERRY_BLOCK_LIVE);
  EXPECT_EQ(blocks[0].requested, 1U << 20);
  EXPECT_EQ(blocks[0].segment, pointer);
  EXPECT_EQ(blocks[1].bytes, 0x5a5a5a5a5a5a5a5aU) << "written beyond the room";
  EXPECT_EQ(ferry_device_free(pool_, pointer, nullptr), FERRY_OK);
}

TEST_F(PoolFiguresC, PinnedMemory) {
  ferry_pinned_pool* pinned = nullptr;
  ASSERT_EQ(ferry_pinned_pool_create(0, &pinned), FERRY_OK);
  void* pointer = nullptr;
  ASSERT_EQ(ferry_pinned_allocate(pinned, 5000, &pointer), FERRY_OK);
  ferry_pinned_pool_stats_t stats{};
  EXPECT_EQ(ferry_pinned_pool_stats(pinned, &stats), FERRY_ERROR_INVALID_ARGUMENT);
  stats.struct_size = sizeof(stats);
  EXPECT_EQ(ferry_pinned_pool_stats(pinned, &stats), FERRY_OK);
  EXPECT_EQ(stats.requested_bytes, 5000U);
  EXPECT_EQ(stats.allocated_bytes, 8192U);
  EXPECT_EQ(stats.blocks_made, 1U);
  EXPECT_EQ(ferry_pinned_free(pinned, pointer), FERRY_OK);
  EXPECT_EQ(ferry_pinned_pool_destroy(pinned), FERRY_OK);
}

TEST_F(PoolFiguresC, NullArgumentsAreRefused) {
  ferry_device_pool_figures_t unset{};
  std::size_t one = 1;
  EXPECT_EQ(ferry_device_pool_figures(pool_, &unset), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_device_pool_figures(nullptr, &unset), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_device_pool_figures(pool_, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_device_pool_blocks(pool_, nullptr, &one), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_device_pool_blocks(pool_, nullptr, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_device_pool_reset_peaks(nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_device_pool_reset_totals(nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_pinned_pool_stats(nullptr, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
}

}  // namespace
