// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "ferry/ferry.h"
#include "ferry/pytorch.h"

namespace {

using testing::HasSubstr;

class PrivatePoolC : public testing::Test {
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
  std::uint64_t uses(std::uint64_t name) {
    std::uint64_t count = 99;
    EXPECT_EQ(ferry_private_pool_use_count(pool_, name, &count), FERRY_OK);
    return count;
  }
  std::uint64_t private_pool_of(void* pointer) {
    std::vector<ferry_device_block> blocks(64);
    std::size_t count = blocks.size();
    EXPECT_EQ(ferry_device_pool_blocks(pool_, blocks.data(), &count), FERRY_OK);
    for (std::size_t i = 0; i < count; ++i) {
      if (blocks[i].address == pointer) return blocks[i].private_pool;
    }
    return 99;
  }

  ferry_device_pool* pool_ = nullptr;
};

TEST_F(PrivatePoolC, CountsItsUsesAndHasMemoryOfItsOwn) {
  EXPECT_EQ(uses(5), 0U);
  ASSERT_EQ(ferry_private_pool_retain(pool_, 5), FERRY_OK) << ferry_last_error();
  ASSERT_EQ(ferry_private_pool_retain(pool_, 5), FERRY_OK);
  EXPECT_EQ(uses(5), 2U);
  void* mine = nullptr;
  ASSERT_EQ(ferry_private_pool_allocate(pool_, 5, 4 << 20, nullptr, &mine), FERRY_OK);
  EXPECT_EQ(private_pool_of(mine), 5U);
  EXPECT_EQ(ferry_device_free(pool_, mine, nullptr), FERRY_OK);
  void* common = nullptr;
  ASSERT_EQ(ferry_device_allocate(pool_, 4 << 20, nullptr, &common), FERRY_OK);
  EXPECT_NE(common, mine);
  EXPECT_EQ(private_pool_of(common), 0U);
  void* again = nullptr;
  ASSERT_EQ(ferry_private_pool_allocate(pool_, 5, 4 << 20, nullptr, &again), FERRY_OK);
  EXPECT_EQ(again, mine);
  EXPECT_EQ(ferry_private_pool_release(pool_, 5), FERRY_OK);
  EXPECT_EQ(ferry_private_pool_release(pool_, 5), FERRY_OK);
  EXPECT_EQ(uses(5), 0U);
  EXPECT_EQ(private_pool_of(again), 0U) << "what is live belongs to the whole pool now";
}

TEST_F(PrivatePoolC, SaysWhatIsWrong) {
  void* pointer = this;
  EXPECT_EQ(ferry_private_pool_retain(pool_, 0), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(ferry_last_error(), HasSubstr("0 names no private pool"));
  EXPECT_EQ(ferry_private_pool_release(pool_, 3), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_private_pool_allocate(pool_, 3, 512, nullptr, &pointer),
            FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(ferry_last_error(), HasSubstr("private pool 3 is not in use"));
  EXPECT_EQ(pointer, this);
  EXPECT_EQ(ferry_private_pool_retain(nullptr, 1), FERRY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ferry_private_pool_use_count(pool_, 1, nullptr), FERRY_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(ferry_private_pool_retain(pool_, 3), FERRY_OK);
  EXPECT_EQ(ferry_private_pool_allocate(pool_, 3, 1 << 30, nullptr, &pointer),
            FERRY_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(ferry_last_error(), HasSubstr("out of memory: 1 GiB"));
}

}  // namespace
