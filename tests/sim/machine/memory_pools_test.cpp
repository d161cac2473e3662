// SPDX-License-Identifier: Apache-2.0
// Which memory a pool gives out again, by its attributes, and when it lets go of it.
#include "sim/machine/memory_pools.hpp"

#include <gtest/gtest.h>

#include "sim/machine/machine.hpp"

namespace ferry::sim {
namespace {

Settings lazy_device() {
  Settings settings;
  settings.devices = 2;
  settings.capacity = 64_MiB;
  settings.schedule = Schedule::lazy;
  return settings;
}

class MemoryPoolsTest : public testing::Test {
 protected:
  std::uint64_t allocate(Stream& on, std::uint64_t bytes) {
    auto made = machine.pools.allocate(pool, on, bytes);
    EXPECT_TRUE(made.has_value());
    waits = made->after;
    machine.engine.enqueue(on, {}, made->after);
    return made->address;
  }
  Ticket free(Stream& on, std::uint64_t address) {
    const Ticket ticket = machine.engine.enqueue(on, {});
    machine.pools.free_after(*machine.pages.find(address), ticket);
    return ticket;
  }
  [[nodiscard]] std::uint64_t position(std::uint64_t address) {
    const Mapping& mapping = *machine.pages.find(address);
    return mapping.block->position + mapping.offset;
  }
  // The host waits for everything in a stream.
  void wait_for(Stream& stream) {
    machine.engine.finish(lock, machine.engine.unfinished(stream));
    machine.engine.observe(StreamEngine::clock_of(stream));
  }
  [[nodiscard]] std::uint64_t reserved() const { return pool.space.reserved().current; }

  std::mutex mutex;
  Lock lock{mutex};
  HazardLog log;
  Machine machine{lazy_device(), {0, 1}, log};
  Context& context = machine.contexts.create(0, 0);
  Stream& a = machine.engine.create_stream(*context.streams, false);
  Stream& b = machine.engine.create_stream(*context.streams, false);
  MemoryPool& pool = machine.pools.create(0, 0);
  std::vector<Ticket> waits;  // what the last allocation comes after
};

TEST_F(MemoryPoolsTest, AStreamHasItsOwnMemoryAgainAtOnce) {
  const std::uint64_t first = allocate(a, kFrameBytes);
  const std::uint64_t where = position(first);
  free(a, first);
  const std::uint64_t second = allocate(a, kFrameBytes);
  EXPECT_EQ(position(second), where);
  EXPECT_NE(second, first) << "an address of its own";
}

TEST_F(MemoryPoolsTest, TheOldAddressStaysWhileQueuedWorkMayUseIt) {
  const std::uint64_t first = allocate(a, kFrameBytes);
  free(a, first);
  EXPECT_EQ(machine.pages.find_living(first), nullptr);
  static_cast<void>(allocate(a, kFrameBytes));
  EXPECT_TRUE(machine.pages.allows(0, Access::read_write, first, kFrameBytes));
  wait_for(a);
  machine.pools.release_unused();
  EXPECT_EQ(machine.pages.find(first), nullptr);
}

TEST_F(MemoryPoolsTest, AnotherStreamDoesNotHaveItWithoutOrder) {
  const std::uint64_t first = allocate(a, kFrameBytes);
  const std::uint64_t where = position(first);
  free(a, first);
  EXPECT_NE(position(allocate(b, kFrameBytes)), where);
}

TEST_F(MemoryPoolsTest, DependenciesAreFollowedIfTheAttributeSaysSo) {
  for (const bool follow : {false, true}) {
    pool.follow_events = follow;
    const std::uint64_t first = allocate(a, kFrameBytes);
    const std::uint64_t where = position(first);
    const Ticket freed = free(a, first);
    machine.engine.enqueue(b, {}, std::span(&freed, 1));
    EXPECT_EQ(position(allocate(b, kFrameBytes)) == where, follow);
  }
}

TEST_F(MemoryPoolsTest, WhatHasEndedIsTakenIfTheAttributeSaysSo) {
  for (const bool opportunistic : {false, true}) {
    pool.opportunistic = opportunistic;
    const std::uint64_t first = allocate(a, kFrameBytes);
    const std::uint64_t where = position(first);
    const Ticket freed = free(a, first);
    machine.engine.finish(lock, std::span(&freed, 1));
    const bool again = position(allocate(b, kFrameBytes)) == where;
    EXPECT_EQ(again, opportunistic);
    if (again) {
      EXPECT_EQ(waits, std::vector<Ticket>{freed}) << "ordered after the free";
    }
  }
}

TEST_F(MemoryPoolsTest, WhatTheHostHasSeenFreedServesAllWhateverTheAttributes) {
  pool.follow_events = false;
  pool.opportunistic = false;
  const std::uint64_t first = allocate(a, kFrameBytes);
  const std::uint64_t where = position(first);
  free(a, first);
  wait_for(a);
  EXPECT_EQ(position(allocate(b, kFrameBytes)), where);
}

TEST_F(MemoryPoolsTest, AFullDeviceMakesAStreamWaitIfTheAttributeSaysSo) {
  const std::uint64_t first = allocate(a, 64 * kFrameBytes / 2);
  const Ticket freed = free(a, first);
  pool.internal_dependencies = false;
  EXPECT_FALSE(machine.pools.allocate(pool, b, kFrameBytes).has_value());
  pool.internal_dependencies = true;
  static_cast<void>(allocate(b, kFrameBytes));
  EXPECT_EQ(waits, std::vector<Ticket>{freed});
}

TEST_F(MemoryPoolsTest, IdleBlocksComeBackAsALargerOne) {
  pool.release_threshold = ~std::uint64_t{0};
  const std::uint64_t first = allocate(a, 16 * kFrameBytes);
  const std::uint64_t second = allocate(a, 16 * kFrameBytes);
  EXPECT_EQ(reserved(), 32 * kFrameBytes);
  free(a, first);
  free(a, second);
  wait_for(a);
  static_cast<void>(allocate(a, 20 * kFrameBytes));
  EXPECT_EQ(reserved(), 32 * kFrameBytes);
}

TEST_F(MemoryPoolsTest, MemoryGoesBackWhenTheHostHasSeenItsFree) {
  const std::uint64_t first = allocate(a, kFrameBytes);
  const Ticket freed = free(a, first);
  machine.engine.finish(lock, std::span(&freed, 1));
  machine.pools.release_unused();
  EXPECT_EQ(reserved(), MemoryPools::kBlockStep) << "it has run, but nobody has seen it";
  wait_for(a);
  machine.pools.release_unused();
  EXPECT_EQ(reserved(), 0U);
  EXPECT_EQ(machine.physical.in_use(0).count, 0U);
  EXPECT_EQ(machine.pages.find(first), nullptr);
}

TEST_F(MemoryPoolsTest, APoolHasNoMoreThanItsMaximum) {
  MemoryPool& small = machine.pools.create(0, 2 * kFrameBytes);
  EXPECT_TRUE(machine.pools.allocate(small, a, 2 * kFrameBytes).has_value());
  EXPECT_FALSE(machine.pools.allocate(small, a, 1).has_value());
}

TEST_F(MemoryPoolsTest, ADestroyedPoolEndsWithItsLastAllocation) {
  const std::uint64_t handle = pool.handle;
  const std::uint64_t first = allocate(a, kFrameBytes);
  machine.pools.destroy(pool);
  EXPECT_EQ(machine.pools.find(handle), nullptr);
  EXPECT_NE(machine.pages.find_living(first), nullptr);
  free(a, first);
  wait_for(a);
  machine.pools.release_unused();
  EXPECT_EQ(machine.physical.in_use(0).count, 0U);
}

TEST_F(MemoryPoolsTest, AccessIsThatOfOldAndNewAllocations) {
  const std::uint64_t old = allocate(a, kFrameBytes);
  machine.pools.set_access(pool, 1, Access::read);
  const std::uint64_t later = allocate(a, kFrameBytes);
  EXPECT_EQ(machine.pages.find(old)->rights.of(1), Access::read);
  EXPECT_EQ(machine.pages.find(later)->rights.of(1), Access::read);
  EXPECT_EQ(machine.pages.find(later)->rights.of(0), Access::read_write);
}

TEST_F(MemoryPoolsTest, TheMemoryOfADeviceEndsWithItsLastContext) {
  Context& other = machine.contexts.create(0, 0);
  const std::uint64_t first = allocate(a, kFrameBytes);
  machine.empty_context(lock, other, true);
  EXPECT_NE(machine.pages.find_living(first), nullptr);
  machine.empty_context(lock, context, true);
  EXPECT_EQ(machine.pages.find(first), nullptr);
  EXPECT_EQ(machine.physical.in_use(0).count, 0U);
}

}  // namespace
}  // namespace ferry::sim
