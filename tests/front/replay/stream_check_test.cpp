// SPDX-License-Identifier: Apache-2.0
#include "front/replay/stream_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "front/replay/sim_machine.hpp"

namespace ferry::replay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::open_machine;

std::set<std::uint64_t> offsets(const MarkPlan& plan) {
  std::set<std::uint64_t> all;
  for (std::uint64_t word = 0; word < plan.words(); ++word) all.insert(plan.offset_of(word).count);
  return all;
}

class MarkPlans : public ::testing::TestWithParam<std::uint64_t> {};

INSTANTIATE_TEST_SUITE_P(Sizes, MarkPlans,
                         ::testing::Values(4, 5, 7, 8, 9, 12, 511, 512, 513, (2 << 20) - 1, 2 << 20,
                                           (2 << 20) + 1, (2 << 20) + 4, (4 << 20) + 4, 77'070'336,
                                           122 << 20, 124 << 20, 126 << 20, (126 << 20) + 4,
                                           (128 << 20) + 4, 1'000'000'007, 22ULL << 30,
                                           180ULL << 30, (1ULL << 40) + 1));

TEST_P(MarkPlans, CoverBeginningEndAndEveryPageBetween) {
  const std::uint64_t size = GetParam();
  const MarkPlan plan = plan_marks(Bytes{size});
  const std::set<std::uint64_t> all = offsets(plan);
  EXPECT_EQ(all.size(), plan.words()) << "a word is marked twice";
  EXPECT_LE(all.size(), kMostMarks);
  EXPECT_EQ(*all.begin(), 0U);
  EXPECT_EQ(*all.rbegin(), size / 4 * 4 - 4);
  EXPECT_LT(plan.pitch, 2_GiB);
  for (const std::uint64_t offset : all) EXPECT_EQ(offset % 4, 0U);
  if (size <= (124 << 20)) {
    for (auto at = all.begin(); std::next(at) != all.end(); ++at) {
      EXPECT_LE(*std::next(at) - *at, 2U << 20);
    }
  }
}

TEST(MarkPlan, TheSmallestBlocksHaveNone) {
  for (std::uint64_t size = 0; size < 4; ++size) EXPECT_EQ(plan_marks(Bytes{size}).words(), 0U);
}

TEST(MarkPlan, LargeBlocksKeepAnEvenPitch) {
  const MarkPlan plan = plan_marks(10_GiB);
  EXPECT_GE(plan.words(), kMostMarks / 2);
  EXPECT_EQ(plan.pitch.count % (2_MiB).count, 0U);
}

// A device, some memory, two streams and a check over them.
class StreamChecks : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    machine_ = open_machine(GetParam());
    device_ = &machine_->tool_device();
    memory_ = device_->alloc(16_MiB).value();
    first_ = device_->create_stream().value();
    second_ = device_->create_stream().value();
    check_ = std::move(StreamCheck::open(*device_, {.several_streams = true})).value();
  }

  std::unique_ptr<ReplayMachine> machine_;
  Device* device_ = nullptr;
  DeviceAddress memory_;
  StreamRef first_;
  StreamRef second_;
  std::unique_ptr<StreamCheck> check_;
};

INSTANTIATE_TEST_SUITE_P(Schedules, StreamChecks, testing::schedules());

TEST_P(StreamChecks, AcceptsReuseInStreamOrder) {
  for (std::uint32_t block = 0; block < 100; ++block) {
    ASSERT_EQ(check_->allocated(block, memory_, 5_MiB, first_, 2 * block), "");
    ASSERT_EQ(check_->freeing(memory_, first_, 2 * block + 1), "");
  }
  EXPECT_EQ(check_->finish(), "");
}

TEST_P(StreamChecks, AcceptsReuseElsewhereAfterAWait) {
  ASSERT_EQ(check_->allocated(0, memory_, 5_MiB, first_, 0), "");
  ASSERT_EQ(check_->freeing(memory_, first_, 1), "");
  const EventHandle event = device_->create_event().value();
  ASSERT_TRUE(device_->record(event, first_).ok());
  ASSERT_TRUE(device_->wait(second_, event).ok());
  ASSERT_EQ(check_->allocated(1, memory_ + 1_MiB, 5_MiB, second_, 2), "");
  ASSERT_EQ(check_->freeing(memory_ + 1_MiB, second_, 3), "");
  EXPECT_EQ(check_->finish(), "");
}

TEST_P(StreamChecks, OrdersAForeignFreeAfterTheBlocksOwnStream) {
  for (std::uint32_t block = 0; block < 20; ++block) {
    const DeviceAddress address = memory_ + 512_KiB * block;
    ASSERT_EQ(check_->allocated(block, address, 512_KiB, first_, block), "");
    ASSERT_EQ(check_->freeing(address, second_, 100 + block), "");
  }
  EXPECT_EQ(check_->finish(), "");
}

TEST_P(StreamChecks, SeesALostWriteInTheMiddle) {
  ASSERT_EQ(check_->allocated(3, memory_, 9_MiB, first_, 10), "");
  ASSERT_TRUE(device_->fill_words(memory_ + 4_MiB, 4_B, 1, 0x1234, first_).ok());
  ASSERT_EQ(check_->freeing(memory_, first_, 20), "");
  EXPECT_THAT(check_->finish(),
              AllOf(HasSubstr("block 3"), HasSubstr("allocated at event 10"),
                    HasSubstr("freed at event 20"), HasSubstr("offset 4194304"),
                    HasSubstr("holds 0x1234"), HasSubstr("not a mark of this pass")));
}

TEST_P(StreamChecks, SeesALostWriteInTheLastWord) {
  ASSERT_EQ(check_->allocated(3, memory_, 5_MiB + 6_B, first_, StreamCheck::kBefore), "");
  ASSERT_TRUE(device_->fill_words(memory_ + 5_MiB, 4_B, 1, 0x1234, first_).ok());
  ASSERT_EQ(check_->freeing(memory_, first_, StreamCheck::kAfter), "");
  EXPECT_THAT(check_->finish(), AllOf(HasSubstr("allocated in the start set"),
                                      HasSubstr("freed at the end of the pass")));
}

TEST_P(StreamChecks, LiveBlocksMayTouchButNotOverlap) {
  ASSERT_EQ(check_->allocated(0, memory_ + 1_MiB, 1_MiB, first_, 0), "");
  ASSERT_EQ(check_->allocated(1, memory_, 1_MiB, first_, 1), "");
  ASSERT_EQ(check_->allocated(2, memory_ + 2_MiB, 1_MiB, first_, 2), "");
  for (const Bytes offset : {512_B, 1_MiB - 512_B, 1_MiB, 3_MiB - 512_B}) {
    EXPECT_THAT(check_->allocated(9, memory_ + offset, 1_MiB, first_, 3),
                HasSubstr("lies in memory of the live block"))
        << offset.count;
  }
  EXPECT_THAT(check_->allocated(9, memory_ + 512_B, 10_MiB, first_, 3), HasSubstr("block 9"));
}

TEST_P(StreamChecks, AddressesMustBeAligned) {
  EXPECT_THAT(check_->allocated(0, memory_ + 256_B, 1_MiB, first_, 0), HasSubstr("not aligned"));
  EXPECT_THAT(check_->allocated(0, DeviceAddress{}, 1_MiB, first_, 0), HasSubstr("not aligned"));
}

TEST_P(StreamChecks, BlocksOfNoBytesAreNothing) {
  EXPECT_EQ(check_->allocated(0, DeviceAddress{}, 0_B, first_, 0), "");
  EXPECT_EQ(check_->freeing(DeviceAddress{}, first_, 1), "");
  EXPECT_EQ(check_->allocated(1, memory_, 3_B, first_, 2), "");
  EXPECT_EQ(check_->freeing(memory_, first_, 3), "");
  EXPECT_EQ(check_->finish(), "");
}

TEST_P(StreamChecks, ComparesBeforeTheRoomForReadsIsUsedUp) {
  const Bytes size = 120_MiB;
  const DeviceAddress large = device_->alloc(size).value();
  const auto rounds = static_cast<std::uint32_t>(2 * (1 << 18) / plan_marks(size).words());
  for (std::uint32_t block = 0; block < rounds; ++block) {
    ASSERT_EQ(check_->allocated(block, large, size, first_, block), "");
    if (block == 0) {
      ASSERT_TRUE(device_->fill_words(large + 2_MiB, 4_B, 1, 7, first_).ok());
    }
    if (const std::string trouble = check_->freeing(large, first_, block); !trouble.empty()) {
      EXPECT_THAT(trouble, HasSubstr("block 0"));
      EXPECT_LT(block, rounds - 1);
      return;
    }
  }
  ADD_FAILURE() << "the first comparison came at the end only";
}

TEST_P(StreamChecks, MemoryThatIsTakenAwayTooEarlyIsTheDriversComplaint) {
  ASSERT_EQ(check_->allocated(0, memory_ + 16_MiB, 1_MiB, first_, 0), "");  // not ours at all
  const std::string freeing = check_->freeing(memory_ + 16_MiB, first_, 1);
  const std::string trouble = freeing.empty() ? check_->finish() : freeing;
  EXPECT_THAT(trouble, AllOf(HasSubstr("the driver refused work"), HasSubstr("illegal")));
}

// The same memory on another stream while the first may still use it: what a missing fence does.
std::string reuse_too_early(StreamCheck& check, DeviceAddress memory, StreamRef first,
                            StreamRef second) {
  for (const std::string& trouble :
       {check.allocated(0, memory, 1_MiB, first, 0), check.freeing(memory, first, 1),
        check.allocated(1, memory, 1_MiB, second, 2), check.freeing(memory, second, 3)}) {
    if (!trouble.empty()) return trouble;
  }
  return check.finish();
}

TEST(StreamCheck, UnderLazyAMissingFenceIsAlwaysSeen) {
  const auto machine = open_machine("schedule=lazy");
  Device& device = machine->tool_device();
  const DeviceAddress memory = device.alloc(1_MiB).value();
  const StreamRef first = device.create_stream().value();
  const StreamRef second = device.create_stream().value();
  for (const bool swapped : {false, true}) {  // no matter which stream the driver runs first
    const auto check = std::move(StreamCheck::open(device, {.several_streams = true})).value();
    EXPECT_THAT(reuse_too_early(*check, memory, swapped ? second : first, swapped ? first : second),
                AllOf(HasSubstr("handed out while another user could still write to it"),
                      HasSubstr("the mark of block 0")))
        << swapped;
  }
  EXPECT_GT(testing::take_hazards(), 0U);
}

TEST(StreamCheck, UnderLazyAForgottenForeignFreeIsSeen) {
  const auto machine = open_machine("schedule=lazy");
  Device& device = machine->tool_device();
  const DeviceAddress memory = device.alloc(1_MiB).value();
  const StreamRef home = device.create_stream().value();
  const StreamRef foreign = device.create_stream().value();
  const auto check = std::move(StreamCheck::open(device, {.several_streams = true})).value();
  ASSERT_EQ(check->allocated(0, memory, 1_MiB, home, 0), "");
  ASSERT_EQ(check->freeing(memory, foreign, 1), "");
  ASSERT_EQ(check->allocated(1, memory, 1_MiB, home, 2), "");  // foreign still reads
  ASSERT_EQ(check->freeing(memory, home, 3), "");
  EXPECT_THAT(check->finish(), AllOf(HasSubstr("block 0"), HasSubstr("the mark of block 1")));
  EXPECT_GT(testing::take_hazards(), 0U);
}

TEST(StreamCheck, GivesItsMemoryBack) {
  const auto machine = open_machine("fault=cuMemHostAlloc@2:2");
  EXPECT_TRUE(StreamCheck::open(machine->tool_device(), {}).ok());
  const auto refused = StreamCheck::open(machine->tool_device(), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::out_of_memory);
}

}  // namespace
}  // namespace ferry::replay
