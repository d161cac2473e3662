// SPDX-License-Identifier: Apache-2.0
// A device pool whose memory other devices use, too.
#include <gtest/gtest.h>

#include "memory/device_pool.hpp"
#include "memory/sim_device.hpp"

namespace ferry {
namespace {

using testing_support::SimDevice;

// CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_ACCESS_FLAGS_PROT_*
constexpr int kOnDevice = 1;
constexpr unsigned long long kNoAccess = 0;
constexpr unsigned long long kReadAndWrite = 3;

class DevicePoolPeers : public testing::Test {
 protected:
  void SetUp() override {
    auto pool = DevicePool::create(sim_.pool_side(), {});
    ASSERT_TRUE(pool.ok());
    pool_ = std::move(pool).value();
    const Result<StreamRef> stream = peer_->create_stream();
    ASSERT_TRUE(stream.ok());
    peer_stream_ = *stream;
  }
  void TearDown() override {
    EXPECT_TRUE(pool_->audit());
    pool_.reset();
  }
  DeviceAddress allocate(Bytes bytes) {
    const Result<DeviceAddress> address = pool_->allocate(bytes, stream_);
    EXPECT_TRUE(address.ok());
    return address.ok() ? *address : DeviceAddress{};
  }
  // Whether work of the peer may write there.
  bool peer_writes(DeviceAddress address) {
    return peer_->fill_words(address, Bytes{4}, 1, 7, peer_stream_).ok() &&
           peer_->synchronize(peer_stream_).ok();
  }

  unsigned long long access_of(int device, DeviceAddress address) {
    struct Location {
      int type;
      int id;
    };
    const Location location{kOnDevice, device};
    unsigned long long flags = 99;
    void* const found = sim_.test_side().driver().find_symbol("cuMemGetAccess");
    using Function = int (*)(unsigned long long*, const Location*, unsigned long long);
    EXPECT_EQ(reinterpret_cast<Function>(found)(&flags, &location, address.value), 0);
    return flags;
  }

  SimDevice sim_{"devices=2"};
  std::unique_ptr<Device> peer_ = SimDevice::open_device(DeviceId{1});
  StreamRef stream_ = sim_.stream();
  StreamRef peer_stream_;
  std::unique_ptr<DevicePool> pool_;
};

TEST_F(DevicePoolPeers, ItsMemoryIsClosedToOthersAtFirst) {
  const DeviceAddress address = allocate(4_MiB);
  EXPECT_EQ(access_of(1, address), kNoAccess);
  EXPECT_EQ(access_of(0, address), kReadAndWrite);
}

TEST_F(DevicePoolPeers, WhatItHoldsAndWhatIsToComeIsOpened) {
  const DeviceAddress held = allocate(4_MiB);
  EXPECT_TRUE(pool_->open_to(DeviceId{1}));
  EXPECT_TRUE(peer_writes(held));
  EXPECT_TRUE(peer_writes(allocate(64_MiB))) << "in the same space";
  EXPECT_TRUE(peer_writes(allocate(512_B))) << "in a new space";
}

TEST_F(DevicePoolPeers, MemoryThatMovesStaysOpen) {
  pool_->set_limit(16_MiB);
  EXPECT_TRUE(pool_->open_to(DeviceId{1}));
  EXPECT_TRUE(pool_->free(allocate(12_MiB), stream_));
  const Result<DeviceAddress> elsewhere = pool_->allocate(14_MiB, sim_.stream());
  ASSERT_TRUE(elsewhere.ok());
  EXPECT_TRUE(peer_writes(*elsewhere));
}

TEST_F(DevicePoolPeers, OpeningTwiceCostsNothingAndOwnOrMissingDevicesAreRefused) {
  EXPECT_TRUE(pool_->free(allocate(4_MiB), stream_));
  EXPECT_TRUE(pool_->open_to(DeviceId{1}));
  const std::uint64_t calls = sim_.calls("cuMemSetAccess");
  EXPECT_TRUE(pool_->open_to(DeviceId{1}));
  EXPECT_EQ(sim_.calls("cuMemSetAccess"), calls);
  EXPECT_EQ(pool_->open_to(DeviceId{0}).code(), Code::invalid_argument);
  EXPECT_EQ(pool_->open_to(DeviceId{9}).code(), Code::invalid_argument);
  EXPECT_TRUE(peer_writes(allocate(4_MiB))) << "a refusal leaves the others as they were";
}

TEST_F(DevicePoolPeers, AnEmptyPoolRefusesAMissingDeviceToo) {
  EXPECT_EQ(pool_->open_to(DeviceId{9}).code(), Code::invalid_argument);
  EXPECT_EQ(pool_->open_to(DeviceId{-1}).code(), Code::invalid_argument);
  EXPECT_TRUE(pool_->allocate(4_MiB, stream_).ok());
}

}  // namespace
}  // namespace ferry
