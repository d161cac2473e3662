// SPDX-License-Identifier: Apache-2.0
#include "transfer/staging_ring.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "memory/device_pool_fixture.hpp"

namespace ferry {
namespace {

using testing_support::SimDevice;

class StagingRingTest : public testing::TestWithParam<const char*> {
 protected:
  // Several buffers long, and no multiple of one.
  static constexpr std::uint64_t kBytes = 2 * StagingRing::kBufferBytes + 12345;

  static std::uint64_t address_of(const std::vector<unsigned char>& bytes) {
    return reinterpret_cast<std::uintptr_t>(bytes.data());
  }
  static std::vector<unsigned char> pattern(unsigned seed) {
    std::vector<unsigned char> bytes(kBytes);
    for (std::uint64_t i = 0; i < kBytes; ++i)
      bytes[i] = static_cast<unsigned char>(i * 31 + i / 4096 + seed);
    return bytes;
  }
  void TearDown() override {
    EXPECT_TRUE(sim_.test_side().synchronize());
    EXPECT_TRUE(sim_.test_side().free(DeviceAddress{device_}));
  }

  SimDevice sim_{GetParam()};
  PinnedPool pinned_{sim_.pool_side()};
  EventPool events_{sim_.pool_side()};
  StreamRef stream_ = sim_.stream();
  std::uint64_t device_ = sim_.test_side().alloc(Bytes{kBytes}).value().value;
};

TEST_P(StagingRingTest, UploadsAndDownloadsAnyLength) {
  StagingRing ring(sim_.pool_side(), pinned_, events_);
  for (const std::uint64_t bytes :
       {std::uint64_t{1}, StagingRing::kBufferBytes, StagingRing::kBufferBytes + 1, kBytes}) {
    std::vector<unsigned char> source = pattern(static_cast<unsigned>(bytes));
    ASSERT_TRUE(ring.upload(device_, address_of(source), Bytes{bytes}, stream_));
    const std::vector<unsigned char> sent = source;
    std::fill(source.begin(), source.end(), static_cast<unsigned char>(0));  // it was read
    std::vector<unsigned char> back(kBytes, 0xEE);
    ASSERT_TRUE(ring.download(address_of(back), device_, Bytes{bytes}, stream_));
    EXPECT_TRUE(
        std::equal(back.begin(), back.begin() + static_cast<std::ptrdiff_t>(bytes), sent.begin()))
        << bytes;
    if (bytes < kBytes) {
      EXPECT_EQ(back[bytes], 0xEE) << "a byte too many";
    }
  }
  EXPECT_EQ(pinned_.stats().reserved_bytes, Bytes{2 * StagingRing::kBufferBytes});
}

TEST_P(StagingRingTest, GivesItsBuffersBack) {
  {
    StagingRing ring(sim_.pool_side(), pinned_, events_);
    const std::vector<unsigned char> source = pattern(1);
    ASSERT_TRUE(ring.upload(device_, address_of(source), Bytes{kBytes}, stream_));
  }
  EXPECT_EQ(pinned_.stats().allocations, 0U);
}

TEST_P(StagingRingTest, AFailureIsToldAndLeavesItUsable) {
  StagingRing ring(sim_.pool_side(), pinned_, events_);
  std::vector<unsigned char> bytes = pattern(2);
  for (const char* function : {"cuMemHostAlloc", "cuEventCreate", "cuMemcpyAsync", "cuEventRecord",
                               "cuEventSynchronize"}) {
    sim_.fail_nth(function, 1, testing_support::kCudaUnknown);
    EXPECT_FALSE(ring.upload(device_, address_of(bytes), Bytes{kBytes}, stream_)) << function;
  }
  for (const char* function : {"cuMemcpyAsync", "cuEventRecord", "cuEventSynchronize"}) {
    sim_.fail_nth(function, 2, testing_support::kCudaUnknown);
    std::vector<unsigned char> to(kBytes);
    EXPECT_FALSE(ring.download(address_of(to), device_, Bytes{kBytes}, stream_)) << function;
  }
  ASSERT_TRUE(ring.upload(device_, address_of(bytes), Bytes{kBytes}, stream_));
  std::vector<unsigned char> back(kBytes);
  ASSERT_TRUE(ring.download(address_of(back), device_, Bytes{kBytes}, stream_));
  EXPECT_EQ(back, bytes);
}

INSTANTIATE_TEST_SUITE_P(Schedules, StagingRingTest, testing::ValuesIn(testing_support::kSchedules),
                         testing_support::schedule_name);

}  // namespace
}  // namespace ferry
