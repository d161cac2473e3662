// SPDX-License-Identifier: Apache-2.0
// A device pool on the stand-in, under each schedule. What every test leaves behind is audited.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <memory>
#include <string>
#include <utility>

#include "memory/device_pool.hpp"
#include "memory/sim_device.hpp"

namespace ferry::testing_support {

inline constexpr int kCudaOutOfMemory = 2;
inline constexpr int kCudaUnknown = 999;

class DevicePoolTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { make_pool(); }

  void make_pool(Bytes limit = Bytes{}) {
    pool_.reset();
    auto pool = DevicePool::create(sim_.pool_side(), {.limit = limit});
    ASSERT_TRUE(pool.ok());
    pool_ = std::move(pool).value();
  }
  void TearDown() override {
    if (pool_ == nullptr) return;  // the test has made a machine of its own
    EXPECT_TRUE(pool_->audit()) << pool_->audit().describe();
    EXPECT_GT(pool_->stats().audits, 0U);
    pool_.reset();
    EXPECT_EQ(sim_.memory_in_use(), 0U) << "the pool kept memory";
  }

  DeviceAddress allocate(Bytes bytes, StreamRef stream) {
    const Result<DeviceAddress> address = pool_->allocate(bytes, stream);
    EXPECT_TRUE(address.ok()) << address.error().describe() << '\n'
                              << pool_->out_of_memory_report();
    return address.ok() ? *address : DeviceAddress{};
  }
  void free(DeviceAddress address, StreamRef stream) {
    const Status status = pool_->free(address, stream);
    EXPECT_TRUE(status) << status.describe();
  }
  Bytes reserved() { return pool_->stats().reserved_bytes; }

  // Lets all queued work run, and the pool know it: a request makes it ask for the fences it needs.
  void settle(StreamRef stream) {
    free(allocate(2_MiB, stream), stream);
    sim_.drain();
  }

  SimDevice sim_{GetParam()};
  StreamRef first_ = sim_.stream();
  StreamRef second_ = sim_.stream();
  std::unique_ptr<DevicePool> pool_;
};

// "schedule=random;seed=1" as part of a test's name.
inline std::string schedule_name(const testing::TestParamInfo<const char*>& schedule) {
  std::string name = schedule.param;
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
}

}  // namespace ferry::testing_support
