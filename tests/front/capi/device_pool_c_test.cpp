// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "ferry/ferry.h"

namespace {

using testing::HasSubstr;

class DevicePoolC : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_EQ(ferry_init(nullptr), FERRY_OK) << ferry_last_error(); }
  void SetUp() override {
    const ferry_device_pool_options options{sizeof(options), 64 << 20};
    ASSERT_EQ(ferry_device_pool_create(0, &options, &pool_), FERRY_OK) << ferry_last_error();
  }
  void TearDown() override {
    EXPECT_EQ(ferry_device_pool_audit(pool_), FERRY_OK) << ferry_last_error();
    EXPECT_EQ(ferry_device_pool_destroy(pool_), FERRY_OK);
  }
  void* allocate(std::size_t bytes) {
    void* pointer = nullptr;
    EXPECT_EQ(ferry_device_allocate(pool_, bytes, nullptr, &pointer), FERRY_OK)
        << ferry_last_error();
    return pointer;
  }

  ferry_device_pool* pool_ = nullptr;
};

TEST_F(DevicePoolC, AllocatesAndFrees) {
  void* const pointer = allocate(5 << 20);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pointer) % 512, 0U);
  EXPECT_EQ(ferry_device_record_use(pool_, pointer, nullptr), FERRY_OK);
  EXPECT_EQ(ferry_device_free(pool_, pointer, nullptr), FERRY_OK);
  EXPECT_EQ(ferry_device_free(pool_, pointer, nullptr), FERRY_ERROR_ALREADY_FREED);
  EXPECT_EQ(ferry_device_free(pool_, this, nullptr), FERRY_ERROR_NOT_OWNED);
  EXPECT_EQ(ferry_device_free(pool_, nullptr, nullptr), FERRY_OK);
  EXPECT_EQ(allocate(0), nullptr);
}

TEST_F(DevicePoolC, OutOfMemoryLeavesTheOutputAloneAndReports) {
  void* const big = allocate(48 << 20);
  void* pointer = this;
  EXPECT_EQ(ferry_device_allocate(pool_, 32 << 20, nullptr, &pointer), FERRY_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(pointer, this);
  EXPECT_THAT(ferry_last_error(), HasSubstr("48 MiB"));
  EXPECT_EQ(ferry_device_pool_set_limit(pool_, 128 << 20), FERRY_OK);
  EXPECT_EQ(ferry_device_allocate(pool_, 32 << 20, nullptr, &pointer), FERRY_OK);
  EXPECT_EQ(ferry_device_free(pool_, pointer, nullptr), FERRY_OK);
  EXPECT_EQ(ferry_device_free(pool_, big, nullptr), FERRY_OK);
}

TEST_F(DevicePoolC, TrimAndStatisticsAgree) {
  void* const pointer = allocate(20 << 20);
  EXPECT_EQ(ferry_device_stream_will_end(pool_, nullptr), FERRY_OK);
  EXPECT_EQ(ferry_device_free(pool_, pointer, nullptr), FERRY_OK);
  std::uint64_t returned = 0;
  EXPECT_EQ(ferry_device_pool_trim(pool_, 0, &returned), FERRY_OK);
  EXPECT_EQ(returned, 20U << 20);
  ferry_device_pool_stats_t stats{};
  stats.struct_size = sizeof(stats);
  ASSERT_EQ(ferry_device_pool_stats(pool_, &stats), FERRY_OK);
  EXPECT_EQ(stats.reserved_bytes, 0U);
  EXPECT_EQ(stats.reserved_bytes_peak, 20U << 20);
  EXPECT_EQ(stats.allocations_total, 1U);
}

TEST_F(DevicePoolC, OlderCallersGetTheFieldsTheyKnow) {
  ferry_device_pool_stats_t stats;
  std::memset(&stats, 0x5a, sizeof(stats));
  stats.struct_size = offsetof(ferry_device_pool_stats_t, reserved_bytes);
  ASSERT_EQ(ferry_device_pool_stats(pool_, &stats), FERRY_OK);
  EXPECT_EQ(stats.allocated_bytes, 0U);
  EXPECT_EQ(stats.reserved_bytes, 0x5a5a5a5a5a5a5a5aU) << "written beyond the caller's struct";
  stats.struct_size = 0;
  EXPECT_EQ(ferry_device_pool_stats(pool_, &stats), FERRY_ERROR_INVALID_ARGUMENT);
}

TEST_F(DevicePoolC, NullArgumentsAreRefusedByName) {
  EXPECT_EQ(ferry_device_allocate(pool_, 1, nullptr, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(ferry_last_error(), HasSubstr("pointer is NULL"));
  EXPECT_EQ(ferry_device_pool_create(0, nullptr, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_device_pool_stats(pool_, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  void* pointer = nullptr;
  EXPECT_EQ(ferry_device_allocate(nullptr, 1, nullptr, &pointer), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_device_record_use(nullptr, pointer, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_device_pool_trim(nullptr, 0, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_device_pool_set_limit(nullptr, 0), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_device_pool_audit(nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_device_stream_will_end(nullptr, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
}

TEST(DevicePoolCreate, NamesADeviceThatDoesNotExist) {
  ASSERT_EQ(ferry_init(nullptr), FERRY_OK);
  ferry_device_pool* pool = nullptr;
  EXPECT_EQ(ferry_device_pool_create(99, nullptr, &pool), FERRY_ERROR_NO_DEVICE);
  EXPECT_EQ(pool, nullptr);
  const ferry_device_pool_options options{0, 0};
  EXPECT_EQ(ferry_device_pool_create(0, &options, &pool), FERRY_ERROR_INVALID_ARGUMENT);
}

}  // namespace
