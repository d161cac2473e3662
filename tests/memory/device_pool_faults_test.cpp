// SPDX-License-Identifier: Apache-2.0
// Every driver call that the pool makes may fail at any time: the pool stays sound and loses
// nothing.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "memory/device_pool.hpp"
#include "memory/sim_device.hpp"

namespace ferry {
namespace {

using testing_support::SimDevice;

constexpr int kCudaUnknown = 999;

// Traffic on two streams under a tight limit; allocations may fail, nothing else may.
void run_traffic(DevicePool& pool, StreamRef first, StreamRef second) {
  std::vector<std::pair<DeviceAddress, StreamRef>> blocks;
  for (std::uint64_t i = 0; i < 48; ++i) {
    const StreamRef stream = i % 3 == 0 ? second : first;
    const Result<DeviceAddress> address = pool.allocate(Bytes{(1 + i * 7 % 11) << 21}, stream);
    if (address.ok()) blocks.emplace_back(*address, stream);
    if (blocks.size() > 3) {
      if (i % 2 == 0) {
        ASSERT_TRUE(pool.record_use(blocks[1].first, second));
      }
      ASSERT_TRUE(pool.free(blocks[1].first, blocks[1].second));
      blocks.erase(blocks.begin() + 1);
    }
    ASSERT_TRUE(pool.audit()) << pool.audit().describe();
  }
  for (const auto& [address, stream] : blocks) ASSERT_TRUE(pool.free(address, stream));
}

class DriverFaultTest : public testing::TestWithParam<std::tuple<const char*, std::uint64_t>> {};

TEST_P(DriverFaultTest, LeavesThePoolSound) {
  const auto [function, nth] = GetParam();
  SimDevice sim("schedule=lazy");
  const StreamRef first = sim.stream();
  const StreamRef second = sim.stream();
  auto pool = DevicePool::create(sim.pool_side(), {.limit = 64_MiB});
  ASSERT_TRUE(pool.ok());
  sim.fail_nth(function, nth, kCudaUnknown);
  run_traffic(**pool, first, second);
  for (int attempt = 0; attempt < 2; ++attempt) {
    if ((*pool)->trim(0_B).ok()) break;  // the fault may strike here; it strikes once
  }
  // Memory that the driver refused to release stays with the driver, and the pool says so.
  EXPECT_EQ((*pool)->stats().reserved_bytes.count, sim.memory_in_use());
  EXPECT_TRUE((*pool)->audit()) << (*pool)->audit().describe();
  (*pool).reset();
  if (std::string(function) != "cuMemRelease") {
    EXPECT_EQ(sim.memory_in_use(), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, DriverFaultTest,
                         testing::Combine(testing::Values("cuMemCreate", "cuMemMap",
                                                          "cuMemSetAccess", "cuMemAddressReserve",
                                                          "cuMemUnmap", "cuMemRelease",
                                                          "cuCtxSynchronize", "cuEventRecord",
                                                          "cuEventQuery", "cuEventCreate"),
                                          testing::Values(1U, 2U, 5U)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param)) + "_" +
                                  std::to_string(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace ferry
