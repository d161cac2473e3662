// SPDX-License-Identifier: Apache-2.0
#include "memory/device_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "memory/device_pool_fixture.hpp"

namespace ferry {
namespace {

using testing_support::kCudaOutOfMemory;

class DevicePoolUse : public testing_support::DevicePoolTest {};

TEST_P(DevicePoolUse, AnswersAsCudaForNothingAndNull) {
  EXPECT_TRUE(allocate(0_B, first_).is_null());
  free(DeviceAddress{}, first_);
  EXPECT_EQ(reserved(), 0_B);
}

TEST_P(DevicePoolUse, RefusesForeignInteriorAndFreedPointers) {
  const DeviceAddress large = allocate(4_MiB, first_);
  const DeviceAddress small = allocate(100_B, first_);
  EXPECT_EQ(pool_->free(DeviceAddress{0x1000}, first_).code(), Code::not_owned);
  EXPECT_EQ(pool_->free(large + 512_B, first_).code(), Code::not_owned);
  EXPECT_EQ(pool_->free(small + 1_B, first_).code(), Code::not_owned);
  EXPECT_EQ(pool_->free(large + 1_GiB, first_).code(), Code::not_owned) << "no memory is there";
  EXPECT_EQ(pool_->record_use(large + 512_B, second_).code(), Code::not_owned);
  free(large, first_);
  free(small, first_);
  EXPECT_EQ(pool_->free(large, first_).code(), Code::already_freed);
  EXPECT_EQ(pool_->free(small, first_).code(), Code::already_freed);
  EXPECT_EQ(pool_->record_use(large, second_).code(), Code::already_freed);
  EXPECT_EQ(pool_->stats().frees_total, 2U);
}

TEST_P(DevicePoolUse, AbsurdSizesAreOutOfMemoryNotACrash) {
  for (const std::uint64_t bytes : {~std::uint64_t{0}, ~std::uint64_t{0} - 511,
                                    std::uint64_t{1} << 63, std::uint64_t{1} << 45}) {
    EXPECT_EQ(pool_->allocate(Bytes{bytes}, first_).error().code(), Code::out_of_memory);
    EXPECT_FALSE(pool_->out_of_memory_report().empty());
  }
  allocate(1_KiB, first_);
}

TEST_P(DevicePoolUse, FreedMemoryServesItsStreamAtOnceWithoutAnyCall) {
  for (const Bytes size : {100_B, 40_KiB, 5_MiB}) {
    free(allocate(size, first_), first_);
    const CallTallies before = sim_.pool_side().tallies();
    const DeviceAddress address = allocate(size, first_);
    free(address, first_);
    EXPECT_EQ(allocate(size, first_), address);
    free(address, first_);
    const CallTallies calls = sim_.pool_side().tallies().since(before);
    EXPECT_EQ(calls.total_calls(), 0U);
    EXPECT_EQ(calls.event_calls, 0U);
  }
}

TEST_P(DevicePoolUse, ALimitCanBeFilledToTheLastByte) {
  make_pool(64_MiB);
  std::vector<DeviceAddress> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(allocate(8_MiB, first_));
  EXPECT_EQ(pool_->allocate(8_MiB, first_).error().code(), Code::out_of_memory);
  EXPECT_EQ(reserved(), 64_MiB);
  for (const DeviceAddress block : blocks) free(block, first_);
  free(allocate(64_MiB, first_), first_);
  EXPECT_EQ(reserved(), 64_MiB);
}

TEST_P(DevicePoolUse, OwnIdleMemoryIsUsedBeforeMemoryIsCalledShort) {
  make_pool(1_GiB);
  free(allocate(512_MiB, first_), first_);
  free(allocate(768_MiB, first_), first_);
  const DeviceAddress a = allocate(307_MiB, first_);
  const DeviceAddress b = allocate(307_MiB, second_);
  sim_.write(a, 1, first_);
  free(a, first_);
  const DeviceAddress c = allocate(614_MiB, second_);
  sim_.write(c, 2, second_);
  EXPECT_EQ(sim_.word_at(c, second_), 2U);
  free(b, second_);
  free(c, second_);
  EXPECT_LE(reserved(), 1_GiB);
}

TEST_P(DevicePoolUse, AFencedBlockIsWaitedForBeforeMemoryIsCalledShort) {
  make_pool(64_MiB);
  const DeviceAddress block = allocate(60_MiB, first_);
  sim_.write(block, 1, second_);
  ASSERT_TRUE(pool_->record_use(block, second_));
  free(block, first_);
  const DeviceAddress next = allocate(60_MiB, first_);
  sim_.write(next, 2, first_);
  EXPECT_EQ(sim_.word_at(next, first_), 2U);
  free(next, first_);
}

TEST_P(DevicePoolUse, GrowingRequestsReuseWhatSmallerOnesLeft) {
  make_pool(256_MiB);
  for (std::uint64_t size = 16; size <= 250; size += 3)
    free(allocate(Bytes{size << 20}, first_), first_);
  EXPECT_LE(reserved(), 256_MiB);
}

TEST_P(DevicePoolUse, OutOfMemoryIsReportedAndSurvived) {
  make_pool(32_MiB);
  const DeviceAddress big = allocate(20_MiB, first_);
  EXPECT_EQ(pool_->allocate(16_MiB, second_).error().code(), Code::out_of_memory);
  EXPECT_THAT(pool_->out_of_memory_report(), testing::HasSubstr("20 MiB"));
  EXPECT_THAT(pool_->out_of_memory_report(), testing::HasSubstr("its limit"));
  EXPECT_EQ(pool_->stats().num_ooms, 1U);
  free(big, first_);
  free(allocate(16_MiB, second_), second_);
}

TEST_P(DevicePoolUse, TrimReturnsIdleMemoryAndKeepsLive) {
  const DeviceAddress live = allocate(10_MiB, first_);
  sim_.write(live, 7, first_);
  const DeviceAddress idle = allocate(100_MiB, first_);
  sim_.write(idle, 1, first_);
  free(idle, first_);
  const Result<Bytes> returned = pool_->trim(0_B);
  ASSERT_TRUE(returned.ok());
  EXPECT_GE(*returned, 98_MiB);
  EXPECT_EQ(sim_.memory_in_use(), reserved().count);
  EXPECT_EQ(sim_.word_at(live, first_), 7U);
  free(live, first_);
  ASSERT_TRUE(pool_->trim(0_B).ok());
  EXPECT_EQ(reserved(), 0_B);
}

TEST_P(DevicePoolUse, ADeviceThatIsFullMakesIdleMemoryMove) {
  const DeviceAddress keep = allocate(8_MiB, first_);
  free(allocate(64_MiB, first_), first_);
  sim_.fail_nth("cuMemCreate", 1, kCudaOutOfMemory);
  const DeviceAddress moved = allocate(80_MiB, first_);
  sim_.write(moved, 5, first_);
  EXPECT_EQ(sim_.word_at(moved, first_), 5U);
  free(moved, first_);
  free(keep, first_);
}

// Random traffic on three streams under a tight limit. Every block carries its own word, which must
// be there when the block is freed, whatever the schedule.
TEST_P(DevicePoolUse, RandomTrafficKeepsEveryBlockToItself) {
  constexpr int kSteps = 3000;
  struct Held {
    Bytes size;
    std::uint32_t word;
    StreamRef stream;
  };
  make_pool(96_MiB);
  const StreamRef streams[] = {first_, second_, sim_.stream()};
  std::map<std::uint64_t, Held> held;
  std::mt19937 random(2026);
  std::uint32_t next_word = 1;
  for (int step = 0; step < kSteps; ++step) {
    if (random() % 2 == 0) {
      const std::uint64_t kinds[] = {4096, 64 << 10, 1 << 20, 24 << 20};
      const Bytes size{4 + random() % kinds[random() % 4]};
      const StreamRef stream = streams[random() % 3];
      const Result<DeviceAddress> address = pool_->allocate(size, stream);
      if (!address.ok()) {
        ASSERT_EQ(address.error().code(), Code::out_of_memory);
        continue;
      }
      ASSERT_EQ(address->value % 512, 0U);
      const auto after = held.upper_bound(address->value);
      ASSERT_TRUE(after == held.end() || address->value + size.count <= after->first)
          << "overlaps a live block";
      ASSERT_TRUE(after == held.begin() ||
                  std::prev(after)->first + std::prev(after)->second.size.count <= address->value);
      held[address->value] = Held{size, next_word, stream};
      sim_.write(*address, next_word++, stream);
    } else if (!held.empty()) {
      const auto entry =
          std::next(held.begin(), static_cast<std::ptrdiff_t>(random() % held.size()));
      const Held block = entry->second;
      const DeviceAddress address{entry->first};
      if (random() % 64 == 0) {
        ASSERT_EQ(sim_.word_at(address, block.stream), block.word);
      }
      if (random() % 4 == 0) {
        const StreamRef other = streams[random() % 3];
        sim_.order(block.stream, other);
        sim_.write(address, block.word, other);
        ASSERT_TRUE(pool_->record_use(address, other));
      }
      free(address, block.stream);
      held.erase(entry);
    }
  }
  for (const auto& [address, block] : held)
    ASSERT_EQ(sim_.word_at(DeviceAddress{address}, block.stream), block.word);
  EXPECT_LE(pool_->stats().reserved_bytes_peak, 96_MiB);
  EXPECT_GT(pool_->stats().chunks_moved, 0U);
}

INSTANTIATE_TEST_SUITE_P(Schedules, DevicePoolUse, testing::ValuesIn(testing_support::kSchedules),
                         testing_support::schedule_name);

}  // namespace
}  // namespace ferry
