// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/operation_load.hpp"

#include <gtest/gtest.h>

#include "sim/time/round_profile.hpp"

namespace ferry::sim {
namespace {

using testing_time::kGigabytePerSecond;
using testing_time::kMicro;

Settings two_small_devices() {
  Settings settings;
  settings.devices = 2;
  settings.with_data = false;
  return settings;
}

class OperationLoadTest : public testing::Test {
 protected:
  void SetUp() override {
    first = allocate(0);
    second = allocate(1);
    void* pointer = nullptr;
    ASSERT_EQ(machine.host.allocate(&pointer, 1 << 20, 0, 1, 0), CUDA_SUCCESS);
    pinned = reinterpret_cast<std::uintptr_t>(pointer);
    pageable = reinterpret_cast<std::uintptr_t>(stack);
  }
  // Each device has a context of its own.
  std::uint64_t allocate(int device) {
    return *machine.allocations.allocate(1 + static_cast<std::uint64_t>(device), device, 1 << 20);
  }

  OperationLoad copy(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes) {
    return load_of(machine, Symbol::cuMemcpyAsync, 0,
                   std::vector<Touch>{{source, bytes, AccessKind::read},
                                      {destination, bytes, AccessKind::write}});
  }

  HazardLog log;
  Machine machine{two_small_devices(),
                  {0, 1},
                  log,
                  std::make_shared<const Profile>(testing_time::round_profile())};
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint64_t pinned = 0;
  std::uint64_t pageable = 0;
  char stack[64] = {};
};

TEST_F(OperationLoadTest, MemoryOfAnotherNodeIsSlower) {
  machine.host.nodes().place(pinned, 1000, 1);  // the first device is near node 0
  EXPECT_EQ(copy(first, pinned, 1000).load.rate, 4U * kGigabytePerSecond);
  EXPECT_EQ(copy(pinned, first, 1000).load.rate, 2U * kGigabytePerSecond);
  EXPECT_EQ(copy(first, pinned + 1000, 1000).load.rate, 10U * kGigabytePerSecond);
  // 1,000 bytes at 10 bytes a nanosecond and 1,000 at 4: 350 ns.
  EXPECT_EQ(copy(first, pinned, 2000).load.rate, std::uint64_t{2000} * 1'000'000'000'000 / 350'000);
  machine.host.nodes().place(pageable, sizeof stack, 1);
  EXPECT_EQ(copy(first, pageable, 64).load.rate, 2U * kGigabytePerSecond)
      << "it goes through the driver's buffers, as from any node";
  machine.host.nodes().place(pinned, 1000, 0);
  EXPECT_EQ(copy(first, pinned, 1000).load.rate, 10U * kGigabytePerSecond);
}

TEST_F(OperationLoadTest, TheSecondDeviceIsNearTheOtherNode) {
  machine.host.nodes().place(pinned, 1000, 1);
  const std::vector<Touch> touches{{pinned, 1000, AccessKind::read},
                                   {second, 1000, AccessKind::write}};
  EXPECT_EQ(load_of(machine, Symbol::cuMemcpyAsync, 1, touches).load.rate,
            10U * kGigabytePerSecond);
}

TEST_F(OperationLoadTest, KernelsReachOtherNodesMoreSlowlyToo) {
  machine.host.nodes().place(pinned, 1000, 1);
  const auto rate = [&](AccessKind kind) {
    return load_of(machine, Symbol::cuLaunchKernel, 0, std::vector<Touch>{{pinned, 1000, kind}})
        .load.rate;
  };
  EXPECT_EQ(rate(AccessKind::read), 4U * kGigabytePerSecond);
  EXPECT_EQ(rate(AccessKind::write), 2U * kGigabytePerSecond);
}

TEST_F(OperationLoadTest, CopiesFindTheirEngines) {
  EXPECT_EQ(copy(first, pinned, 10).load.engine, EngineKind::to_device);
  EXPECT_EQ(copy(pinned, first, 10).load.engine, EngineKind::to_host);
  EXPECT_EQ(copy(first, first + 10, 10).load.engine, EngineKind::compute);
  EXPECT_EQ(copy(second, first, 10).load.engine, EngineKind::peer);
  EXPECT_EQ(copy(pinned, pinned + 10, 10).load.engine, EngineKind::none);
}

TEST_F(OperationLoadTest, PinnedAndPageableDiffer) {
  const OperationLoad fast = copy(first, pinned, 64);
  EXPECT_EQ(fast.load.rate, 10U * kGigabytePerSecond);
  EXPECT_FALSE(fast.holds_caller);
  const OperationLoad up = copy(first, pageable, 64);
  EXPECT_EQ(up.load.rate, 2U * kGigabytePerSecond);
  EXPECT_TRUE(up.holds_caller);
  EXPECT_EQ(copy(pageable, first, 64).load.rate, 4U * kGigabytePerSecond);
}

TEST_F(OperationLoadTest, ABatchAddsUpItsMembers) {
  std::vector<Touch> touches;
  for (std::uint32_t member = 0; member < 5; ++member) {
    touches.push_back({pinned + member * 100, 100, AccessKind::read, member});
    touches.push_back({first + member * 100, 100, AccessKind::write, member});
  }
  const OperationLoad batch = load_of(machine, Symbol::cuMemcpyAsync, 0, touches);
  EXPECT_EQ(batch.members, 5U);
  EXPECT_EQ(batch.load.bytes, 500U);
  EXPECT_EQ(batch.load.latency, 2 * kMicro) << "one latency for all";
}

TEST_F(OperationLoadTest, AFillIsTheMultiprocessors) {
  const OperationLoad fill = load_of(machine, Symbol::cuMemsetD8Async, 1,
                                     std::vector<Touch>{{second, 50, AccessKind::write}});
  EXPECT_EQ(fill.load.engine, EngineKind::compute);
  EXPECT_EQ(fill.load.device, 1);
  EXPECT_EQ(fill.load.rate, 200U * kGigabytePerSecond);
  EXPECT_EQ(fill.load.bytes, 50U);
}

TEST(OperationLoadWithoutProfile, IsNothing) {
  HazardLog log;
  Machine machine(two_small_devices(), {0, 1}, log);
  const OperationLoad load =
      load_of(machine, Symbol::cuMemcpyAsync, 0, std::vector<Touch>{{64, 64, AccessKind::read}});
  EXPECT_EQ(load.load.bytes, 0U);
  EXPECT_FALSE(load.holds_caller);
}

}  // namespace
}  // namespace ferry::sim
