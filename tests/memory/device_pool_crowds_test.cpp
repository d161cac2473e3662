// SPDX-License-Identifier: Apache-2.0
// Many streams, short-lived streams, streams of other threads and of other devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "memory/device_pool_fixture.hpp"

namespace ferry {
namespace {

using testing_support::SimDevice;

class DevicePoolCrowds : public testing_support::DevicePoolTest {
 protected:
  std::uint64_t synchronisations() { return pool_->stats().num_sync_all_streams; }
};

const StreamRef kPerThread{reinterpret_cast<void*>(2)};

TEST_P(DevicePoolCrowds, ManyStreamsAtOnceNeedNeitherWaitsNorAddresses) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer leaves the stand-in half a tebibyte of addresses, not 16";
#endif
  std::vector<StreamRef> streams;
  for (int i = 0; i < 250; ++i) streams.push_back(sim_.stream());
  const auto round = [&] {
    std::vector<DeviceAddress> blocks;
    for (const StreamRef stream : streams) blocks.push_back(allocate(64_KiB, stream));
    for (std::size_t i = 0; i < streams.size(); ++i) free(blocks[i], streams[i]);
  };
  round();
  const std::uint64_t reservations = sim_.calls("cuMemAddressReserve");
  EXPECT_LE(reservations, streams.size()) << "some were refused and asked for again";
  round();
  EXPECT_EQ(sim_.calls("cuMemAddressReserve"), reservations);
  EXPECT_EQ(synchronisations(), 0U);
}

TEST_P(DevicePoolCrowds, ShortLivedStreamsLeaveNothingBehind) {
  for (int i = 0; i < 500; ++i) {
    const StreamRef brief = sim_.stream();
    const DeviceAddress small = allocate(512_B, brief);
    const DeviceAddress large = allocate(3_MiB, brief);
    sim_.write(small, 1, brief);
    sim_.write(large, 1, brief);
    free(small, brief);
    free(large, brief);
    pool_->stream_will_end(brief);
    ASSERT_TRUE(sim_.test_side().synchronize(brief));
    ASSERT_TRUE(sim_.test_side().destroy_stream(brief));
  }
  EXPECT_LE(reserved(), 16_MiB);
  EXPECT_LE(sim_.calls("cuMemAddressReserve"), 4U);
  EXPECT_LE(sim_.calls("cuEventCreate"), 16U);
  EXPECT_EQ(synchronisations(), 0U);
}

TEST_P(DevicePoolCrowds, AHeapWhoseStreamEndedWithWorkQueuedIsNotHandedOn) {
  const StreamRef old = sim_.stream();
  const DeviceAddress theirs = allocate(1_KiB, old);
  sim_.write(theirs, 1, old);
  free(theirs, old);
  pool_->stream_will_end(old);
  const DeviceAddress mine = allocate(1_KiB, first_);
  sim_.write(mine, 2, first_);
  EXPECT_EQ(sim_.word_at(mine, first_), 2U);
  free(mine, first_);
}

TEST_P(DevicePoolCrowds, SteadyTrafficOfTwoStreamsNeedsNoNewEvents) {
  free(allocate(4_MiB, second_), second_);
  for (int i = 0; i < 2000; ++i) {
    const DeviceAddress block = allocate(2_MiB, first_);
    sim_.write(block, 1, first_);
    free(block, first_);
  }
  EXPECT_LE(sim_.calls("cuEventCreate"), 16U);
}

TEST_P(DevicePoolCrowds, ABlockThatManyStreamsUsedKeepsFewEvents) {
  const DeviceAddress block = allocate(4_MiB, first_);
  for (int i = 0; i < 500; ++i) {
    const StreamRef brief = sim_.stream();
    ASSERT_TRUE(pool_->record_use(block, brief));
    pool_->stream_will_end(brief);
    ASSERT_TRUE(sim_.test_side().synchronize(brief));
    ASSERT_TRUE(sim_.test_side().destroy_stream(brief));
  }
  EXPECT_LE(sim_.calls("cuEventCreate"), 16U);
  free(block, first_);
}

TEST_P(DevicePoolCrowds, FreedOnAnotherThreadsPerThreadStreamIsNotAtHome) {
  const DeviceAddress block = allocate(4_MiB, kPerThread);
  std::thread([&] {
    sim_.write(block, 1, kPerThread);
    EXPECT_TRUE(pool_->free(block, kPerThread));
  }).join();
  const DeviceAddress next = allocate(4_MiB, kPerThread);
  sim_.write(next, 2, kPerThread);
  EXPECT_EQ(sim_.word_at(next, kPerThread), 2U) << "the other thread's work was not waited for";
  free(next, kPerThread);
}

TEST_P(DevicePoolCrowds, AUseOnAnotherThreadsPerThreadStreamIsWaitedFor) {
  const DeviceAddress block = allocate(4_MiB, first_);
  std::thread([&] {
    sim_.write(block, 1, kPerThread);
    EXPECT_TRUE(pool_->record_use(block, kPerThread));
  }).join();
  free(block, first_);
  const DeviceAddress next = allocate(4_MiB, first_);
  sim_.write(next, 2, first_);
  EXPECT_EQ(sim_.word_at(next, first_), 2U);
  free(next, first_);
}

// A thread that begins after another has ended may get its stack, its id and its storage.
TEST_P(DevicePoolCrowds, ThreadsThatFollowOneAnotherAreNotTheSame) {
  for (std::uint32_t i = 0; i < 20; ++i) {
    std::thread([&] {
      const DeviceAddress block = allocate(4_MiB, kPerThread);
      sim_.write(block, i, kPerThread);
      if (i % 2 == 1) {
        EXPECT_EQ(sim_.word_at(block, kPerThread), i) << "the thread before was not waited for";
      }
      free(block, kPerThread);
    }).join();
  }
}

TEST_P(DevicePoolCrowds, ARequestThatFailsTakesNothing) {
  pool_.reset();
  SimDevice small(std::string(GetParam()) + ";capacity=64MiB");
  auto pool = std::move(DevicePool::create(small.pool_side(), {})).value();
  const StreamRef stream = small.stream();
  const Result<DeviceAddress> others = small.test_side().alloc(32_MiB);
  ASSERT_TRUE(others.ok());
  for (const Bytes request : {48_MiB, 64_MiB, 1_GiB}) {
    EXPECT_EQ(pool->allocate(request, stream).error().code(), Code::out_of_memory);
    EXPECT_EQ(pool->stats().reserved_bytes, 0_B) << format_bytes(request);
  }
  const Result<DeviceAddress> modest = pool->allocate(30_MiB, stream);
  ASSERT_TRUE(modest.ok());
  EXPECT_EQ(pool->allocate(4_MiB, stream).error().code(), Code::out_of_memory);
  EXPECT_EQ(pool->stats().reserved_bytes, 30_MiB);
  ASSERT_TRUE(pool->free(*modest, stream));
  ASSERT_TRUE(small.test_side().free(*others));
}

TEST_P(DevicePoolCrowds, StreamsOfAnotherDeviceAreRefused) {
  pool_.reset();
  SimDevice two(std::string(GetParam()) + ";devices=2");
  auto pool = std::move(DevicePool::create(two.pool_side(), {})).value();
  const StreamRef ours = two.stream();
  const auto other = two.open_device(DeviceId{1});
  const StreamRef theirs = other->create_stream().value();
  EXPECT_EQ(pool->allocate(1_KiB, theirs).error().code(), Code::invalid_argument);
  const DeviceAddress block = pool->allocate(1_KiB, ours).value();
  EXPECT_EQ(pool->record_use(block, theirs).code(), Code::invalid_argument);
  EXPECT_EQ(pool->free(block, theirs).code(), Code::invalid_argument);
  EXPECT_EQ(pool->stats().allocations, 1U) << "the block was not given back";
  EXPECT_TRUE(pool->free(block, ours));
  EXPECT_TRUE(other->destroy_stream(theirs));
}

TEST_P(DevicePoolCrowds, HandlesOfNoStreamAreRefused) {
  const StreamRef nowhere{reinterpret_cast<void*>(0xdeadbeef0)};
  EXPECT_EQ(pool_->allocate(1_KiB, nowhere).error().code(), Code::invalid_argument);
  const DeviceAddress block = allocate(1_KiB, first_);
  EXPECT_EQ(pool_->record_use(block, nowhere).code(), Code::invalid_argument);
  free(block, first_);
}

TEST_P(DevicePoolCrowds, TrimWaitsOnlyForMemoryThatIsFree) {
  const DeviceAddress live = allocate(4_MiB, first_);
  sim_.write(live, 1, first_);
  EXPECT_EQ(pool_->trim(0_B).value(), 0_B);
  EXPECT_EQ(synchronisations(), 0U);
  const DeviceAddress other = allocate(4_MiB, first_);
  sim_.write(other, 1, first_);
  free(other, first_);
  EXPECT_GE(pool_->trim(0_B).value(), 4_MiB);
  EXPECT_EQ(synchronisations(), 1U);
  free(live, first_);
}

TEST_P(DevicePoolCrowds, OneTrimReturnsAQuarantinedSmallBlock) {
  const DeviceAddress block = allocate(1_KiB, first_);
  sim_.write(block, 1, second_);
  sim_.fail_nth("cuEventRecord", 1, testing_support::kCudaUnknown);
  free(block, second_);
  EXPECT_EQ(pool_->stats().quarantined_blocks, 1U);
  ASSERT_TRUE(pool_->trim(0_B).ok());
  EXPECT_EQ(reserved(), 0_B);
}

TEST_P(DevicePoolCrowds, ARequestWithoutHopeWaitsForNothing) {
  make_pool(16_MiB);
  const DeviceAddress live = allocate(12_MiB, first_);
  sim_.write(live, 1, first_);
  EXPECT_EQ(pool_->allocate(8_MiB, first_).error().code(), Code::out_of_memory);
  EXPECT_EQ(synchronisations(), 0U);
  free(live, first_);
}

INSTANTIATE_TEST_SUITE_P(Schedules, DevicePoolCrowds,
                         testing::ValuesIn(testing_support::kSchedules),
                         testing_support::schedule_name);

}  // namespace
}  // namespace ferry
