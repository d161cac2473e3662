// SPDX-License-Identifier: Apache-2.0
// Several streams, streams that end, threads: who may have freed memory, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

#include "memory/device_pool_fixture.hpp"

namespace ferry {
namespace {

using testing_support::kCudaUnknown;

class DevicePoolStreams : public testing_support::DevicePoolTest {};

TEST_P(DevicePoolStreams, AnotherStreamNeverGetsMemoryStillInUse) {
  const DeviceAddress mine = allocate(4_MiB, first_);
  const DeviceAddress keep = allocate(4_MiB, second_);  // both streams are known
  sim_.write(mine, 1, first_);
  free(mine, first_);
  const DeviceAddress theirs = allocate(4_MiB, second_);
  sim_.write(theirs, 2, second_);
  EXPECT_EQ(sim_.word_at(theirs, second_), 2U)
      << "the first stream's write came after the second stream's";
  free(theirs, second_);
  free(keep, second_);
}

TEST_P(DevicePoolStreams, TheSecondStreamMayBeUnknownWhenTheFirstFrees) {
  const DeviceAddress mine = allocate(4_MiB, first_);
  sim_.write(mine, 1, first_);
  free(mine, first_);
  const DeviceAddress theirs = allocate(4_MiB, second_);
  sim_.write(theirs, 2, second_);
  EXPECT_EQ(sim_.word_at(theirs, second_), 2U);
  free(theirs, second_);
}

TEST_P(DevicePoolStreams, IdleMemoryOfAFinishedStreamServesOthersWithoutNewMemory) {
  const DeviceAddress mine = allocate(64_MiB, first_);
  sim_.write(mine, 1, first_);
  free(mine, first_);
  settle(second_);
  const Bytes before = reserved();
  const DeviceAddress theirs = allocate(64_MiB, second_);
  EXPECT_EQ(reserved(), before);
  sim_.write(theirs, 2, second_);
  free(theirs, second_);
  const DeviceAddress again = allocate(64_MiB, first_);
  sim_.write(again, 3, first_);
  EXPECT_EQ(sim_.word_at(again, first_), 3U);
  free(again, first_);
}

TEST_P(DevicePoolStreams, ADestroyedStreamStrandsNothing) {
  for (const bool announced : {true, false}) {
    const StreamRef brief = sim_.stream();
    const DeviceAddress block = allocate(32_MiB, brief);
    const DeviceAddress small = allocate(2_KiB, brief);
    sim_.write(block, 1, brief);
    free(block, brief);
    free(small, brief);
    if (announced) pool_->stream_will_end(brief);
    ASSERT_TRUE(sim_.test_side().destroy_stream(brief));
    const DeviceAddress early = allocate(32_MiB, first_);  // the write may still be queued
    sim_.write(early, 2, first_);
    EXPECT_EQ(sim_.word_at(early, first_), 2U) << "announced: " << announced;
    free(early, first_);
    settle(second_);
    const Bytes before = reserved();
    const DeviceAddress late = allocate(32_MiB, second_);  // everything has run: idle memory serves
    EXPECT_EQ(reserved(), before) << "announced: " << announced;
    free(late, second_);
    settle(second_);
  }
}

TEST_P(DevicePoolStreams, AHandleUsedAgainIsAnotherStream) {
  const DeviceAddress old = allocate(4_MiB, first_);
  sim_.write(old, 1, first_);
  free(old, first_);
  pool_->stream_will_end(first_);
  const DeviceAddress fresh = allocate(4_MiB, first_);  // as a driver may name a new stream
  if (std::string(GetParam()) == "schedule=lazy") {
    EXPECT_NE(fresh, old) << "the work of the stream that ended has not run";
  }
  free(fresh, first_);
}

TEST_P(DevicePoolStreams, OneShotStreamsDoNotGrowThePool) {
  Bytes settled;
  for (int epoch = 0; epoch < 12; ++epoch) {
    const StreamRef brief = sim_.stream();
    const DeviceAddress a = allocate(48_MiB, brief);
    const DeviceAddress b = allocate(48_MiB, brief);
    sim_.write(a, 1, brief);
    sim_.write(b, 1, brief);
    free(a, brief);
    free(b, brief);
    pool_->stream_will_end(brief);
    ASSERT_TRUE(sim_.test_side().destroy_stream(brief));
    sim_.drain();
    if (epoch == 0) settled = reserved();
  }
  EXPECT_EQ(reserved(), settled);
}

TEST_P(DevicePoolStreams, RecordUseKeepsABlockUntilTheOtherStreamIsDone) {
  for (const Bytes size : {1_KiB, 4_MiB}) {
    const DeviceAddress block = allocate(size, first_);
    const auto host = sim_.test_side().host_alloc(4_KiB);
    ASSERT_TRUE(host.ok());
    auto* const seen = static_cast<std::uint32_t*>(*host);
    sim_.write(block, 1, first_);
    const Result<EventHandle> written = sim_.test_side().create_event();
    ASSERT_TRUE(sim_.test_side().record(*written, first_));
    ASSERT_TRUE(sim_.test_side().wait(second_, *written));
    ASSERT_TRUE(sim_.test_side().read_words(seen, block, Bytes{4}, 1, second_));
    ASSERT_TRUE(pool_->record_use(block, second_));
    free(block, first_);
    const DeviceAddress next = allocate(size, first_);
    sim_.write(next, 2, first_);
    ASSERT_TRUE(sim_.test_side().synchronize(first_));
    sim_.drain();
    EXPECT_EQ(*seen, 1U) << "the reader on the other stream saw the next owner's data";
    free(next, first_);
    ASSERT_TRUE(sim_.test_side().destroy_event(*written));
    ASSERT_TRUE(sim_.test_side().host_free(*host));
  }
}

TEST_P(DevicePoolStreams, AFenceOnASlowStreamDoesNotHoldUpOthers) {
  const DeviceAddress slow = allocate(4_MiB, first_);
  const DeviceAddress quick = allocate(8_MiB, first_);
  sim_.write(slow, 1, second_);
  ASSERT_TRUE(pool_->record_use(slow, second_));
  const StreamRef third = sim_.stream();
  ASSERT_TRUE(pool_->record_use(quick, third));
  free(slow, first_);
  free(quick, first_);
  ASSERT_TRUE(sim_.test_side().synchronize(third));
  const Bytes before = reserved();
  free(allocate(8_MiB, first_), first_);
  EXPECT_EQ(reserved(), before) << "the finished block was not found behind the pending one";
}

TEST_P(DevicePoolStreams, FreeingOnAnotherStreamWaitsForThatStream) {
  const DeviceAddress block = allocate(4_MiB, first_);
  sim_.write(block, 1, second_);
  free(block, second_);
  const DeviceAddress next = allocate(4_MiB, first_);
  sim_.write(next, 2, first_);
  EXPECT_EQ(sim_.word_at(next, first_), 2U);
  free(next, first_);
}

TEST_P(DevicePoolStreams, PerThreadStreamsOfTwoThreadsAreDifferent) {
  const StreamRef per_thread{reinterpret_cast<void*>(2)};
  const DeviceAddress mine = allocate(1_KiB, per_thread);
  free(mine, per_thread);
  DeviceAddress theirs;
  std::thread([&] {
    const Result<DeviceAddress> address = pool_->allocate(1_KiB, per_thread);
    theirs = address.ok() ? *address : DeviceAddress{};
  }).join();
  EXPECT_NE(theirs, mine);
  EXPECT_FALSE(theirs.is_null());
}

TEST_P(DevicePoolStreams, AFenceThatCannotBeRecordedQuarantinesTheBlock) {
  const DeviceAddress block = allocate(4_MiB, first_);
  sim_.write(block, 1, second_);
  ASSERT_TRUE(pool_->record_use(block, second_));
  sim_.fail_nth("cuEventRecord", 1, kCudaUnknown);
  free(block, first_);
  EXPECT_EQ(pool_->stats().quarantined_blocks, 1U);
  const DeviceAddress next = allocate(4_MiB, first_);
  EXPECT_NE(next, block);
  free(next, first_);
  ASSERT_TRUE(pool_->trim(0_B).ok());
  EXPECT_EQ(reserved(), 0_B) << "waiting for the device frees quarantined blocks";
}

TEST_P(DevicePoolStreams, ThreadsOnTheirOwnStreams) {
  constexpr int kThreads = 4;
  std::vector<StreamRef> streams;
  for (int i = 0; i < kThreads; ++i) streams.push_back(sim_.stream());
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937 random(static_cast<unsigned>(i));
      const StreamRef stream = streams[static_cast<std::size_t>(i)];
      std::vector<DeviceAddress> blocks;
      for (int step = 0; step < 300; ++step) {
        const Bytes size{1 + (random() % (random() % 3 == 0 ? 8U << 20 : 40U << 10))};
        const Result<DeviceAddress> address = pool_->allocate(size, stream);
        ASSERT_TRUE(address.ok()) << pool_->out_of_memory_report();
        blocks.push_back(*address);
        if (blocks.size() < 8) continue;
        const std::size_t victim = random() % blocks.size();
        ASSERT_TRUE(pool_->free(blocks[victim], stream));
        blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(victim));
      }
      for (const DeviceAddress block : blocks) ASSERT_TRUE(pool_->free(block, stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool_->stats().allocations, 0U);
}

INSTANTIATE_TEST_SUITE_P(Schedules, DevicePoolStreams,
                         testing::ValuesIn(testing_support::kSchedules),
                         testing_support::schedule_name);

}  // namespace
}  // namespace ferry
