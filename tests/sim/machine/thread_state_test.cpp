// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/thread_state.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace ferry::sim {
namespace {

TEST(ThreadState, IsOnePerThread) {
  ThreadState& mine = ThreadState::mine();
  EXPECT_EQ(&ThreadState::mine(), &mine);
  const ThreadState* other = nullptr;
  std::thread([&] { other = &ThreadState::mine(); }).join();
  EXPECT_NE(other, &mine);
}

TEST(ThreadState, NumbersAreNeverReused) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 20; ++i) {
    std::thread([&] { EXPECT_TRUE(seen.insert(ThreadState::mine().number).second); }).join();
  }
  EXPECT_EQ(seen.size(), 20U);
}

TEST(ThreadState, StartsEmpty) {
  std::thread([] {
    EXPECT_TRUE(ThreadState::mine().contexts.empty());
    EXPECT_FALSE(ThreadState::mine().in_host_function);
  }).join();
}

}  // namespace
}  // namespace ferry::sim
