// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "ferry/pytorch.h"

namespace {

using testing::HasSubstr;

class Plug : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ferry_init(nullptr), FERRY_OK) << ferry_last_error();
    ASSERT_EQ(ferry_process_pool(0, &pool_), FERRY_OK) << ferry_last_error();
  }
  void TearDown() override { EXPECT_EQ(ferry_process_pool_limit(0), FERRY_OK); }
  uint64_t reserved() {
    ferry_device_pool_stats_t stats{};
    stats.struct_size = sizeof(stats);
    EXPECT_EQ(ferry_device_pool_stats(pool_, &stats), FERRY_OK);
    return stats.reserved_bytes;
  }

  ferry_device_pool* pool_ = nullptr;
};

TEST_F(Plug, TheProcessHasOnePoolADevice) {
  ferry_device_pool* again = nullptr;
  ASSERT_EQ(ferry_process_pool(0, &again), FERRY_OK);
  EXPECT_EQ(again, pool_);
  EXPECT_EQ(ferry_process_pool(99, &again), FERRY_ERROR_NO_DEVICE);
  EXPECT_EQ(ferry_process_pool(-1, &again), FERRY_ERROR_NO_DEVICE);
  EXPECT_EQ(ferry_process_pool(0, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
}

TEST_F(Plug, AllocatesRecordsFreesAndEmpties) {
  void* const pointer = ferry_plug_allocate(1 << 20, 0, nullptr);
  ASSERT_NE(pointer, nullptr);
  ferry_plug_record_stream(pointer, nullptr);
  ferry_plug_free(pointer, 1 << 20, 0, nullptr);
  EXPECT_GT(reserved(), 0U);
  ferry_plug_empty_cache();
  EXPECT_EQ(reserved(), 0U);
  EXPECT_EQ(ferry_plug_allocate(0, 0, nullptr), nullptr);
  ferry_plug_record_stream(nullptr, nullptr);
}

TEST_F(Plug, SaysNoByAnException) {
  ASSERT_EQ(ferry_process_pool_limit(8 << 20), FERRY_OK);
  try {
    ferry_plug_allocate(64 << 20, 0, nullptr);
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("CUDA out of memory. Ferry: out of memory: 64 MiB"));
  }
  EXPECT_THROW(ferry_plug_free(this, 1, 0, nullptr), std::runtime_error);
  EXPECT_THROW(ferry_plug_record_stream(this, nullptr), std::runtime_error);
  EXPECT_THROW(ferry_plug_allocate(1, 99, nullptr), std::runtime_error);
  std::size_t bytes = 0;
  EXPECT_THROW(ferry_plug_base_allocation(this, &bytes), std::runtime_error);
}

TEST_F(Plug, TheFractionLimitsAndTheProcessLimitHolds) {
  ASSERT_EQ(ferry_process_pool_limit(0), FERRY_OK);
  ferry_plug_set_memory_fraction(0.0, 0);
  EXPECT_THROW(ferry_plug_allocate(1 << 20, 0, nullptr), std::runtime_error);
  ferry_plug_set_memory_fraction(1.0, 0);
  void* const pointer = ferry_plug_allocate(16 << 20, 0, nullptr);
  ferry_plug_free(pointer, 16 << 20, 0, nullptr);
  ferry_plug_empty_cache();
  ASSERT_EQ(ferry_process_pool_limit(8 << 20), FERRY_OK);
  ferry_plug_set_memory_fraction(1.0, 0);
  EXPECT_THROW(ferry_plug_allocate(16 << 20, 0, nullptr), std::runtime_error);
}

}  // namespace
