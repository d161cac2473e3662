// SPDX-License-Identifier: Apache-2.0
// A child of fork() has neither CUDA nor the threads that would release a mutex: every function
// must refuse there, at once and in words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "ferry/ferry.h"

namespace {

constexpr unsigned kPatience = 30;  // seconds until a child that hangs is ended

// What the child ended with; -1 when a signal ended it.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kPatience);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool refused(ferry_status status) {
  return status == FERRY_ERROR_NOT_INITIALIZED &&
         std::strstr(ferry_last_error(), "fork()") != nullptr;
}

// How many of all functions are not refused.
int answers(ferry_device_pool* pool, void* block) {
  ferry_device_pool* other = nullptr;
  void* pointer = nullptr;
  ferry_device_pool_stats_t stats{};
  stats.struct_size = sizeof(stats);
  int count = 0;
  uint64_t uses = 0;
  for (const ferry_status status :
       {ferry_private_pool_retain(pool, 1), ferry_private_pool_use_count(pool, 1, &uses),
        ferry_private_pool_allocate(pool, 1, 1 << 20, nullptr, &pointer),
        ferry_private_pool_release(pool, 1), ferry_device_pool_open_to(pool, 1),
        ferry_device_allocate(pool, 1 << 20, nullptr, &pointer),
        ferry_device_free(pool, block, nullptr), ferry_device_record_use(pool, block, nullptr),
        ferry_device_stream_will_end(pool, nullptr), ferry_device_pool_trim(pool, 0, nullptr),
        ferry_device_pool_set_limit(pool, 0), ferry_device_pool_stats(pool, &stats),
        ferry_device_pool_audit(pool), ferry_device_pool_create(0, nullptr, &other),
        ferry_init(nullptr), ferry_device_pool_destroy(pool)}) {
    if (!refused(status)) ++count;
  }
  return count;
}

class Fork : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ferry_init(nullptr), FERRY_OK) << ferry_last_error();
    ASSERT_EQ(ferry_device_pool_create(0, nullptr, &pool_), FERRY_OK) << ferry_last_error();
    ASSERT_EQ(ferry_device_allocate(pool_, 1 << 20, nullptr, &block_), FERRY_OK);
  }
  void TearDown() override {
    EXPECT_EQ(ferry_device_free(pool_, block_, nullptr), FERRY_OK) << "the parent goes on";
    EXPECT_EQ(ferry_device_pool_audit(pool_), FERRY_OK) << ferry_last_error();
    EXPECT_EQ(ferry_device_pool_destroy(pool_), FERRY_OK);
  }
  ferry_device_pool* pool_ = nullptr;
  void* block_ = nullptr;
};

// First of all: nothing has started Ferry yet.
TEST(ForkBeforeTheStart, LeavesTheChildFree) {
  EXPECT_EQ(in_child([] { return static_cast<int>(ferry_init(nullptr)); }), FERRY_OK);
}

TEST_F(Fork, EveryFunctionRefusesInTheChild) {
  EXPECT_EQ(in_child([&] { return answers(pool_, block_); }), 0);
  EXPECT_EQ(in_child([&] { return in_child([&] { return answers(pool_, block_); }); }), 0)
      << "a child of the child";
}

TEST_F(Fork, NoMutexOfAThreadThatIsGoneHoldsTheChild) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        void* pointer = nullptr;
        EXPECT_EQ(ferry_device_allocate(pool_, 1 << 20, nullptr, &pointer), FERRY_OK);
        EXPECT_EQ(ferry_device_free(pool_, pointer, nullptr), FERRY_OK);
      }
    });
  }
  for (int i = 0; i < 40; ++i) EXPECT_EQ(in_child([&] { return answers(pool_, nullptr); }), 0);
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
