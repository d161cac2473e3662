// SPDX-License-Identifier: Apache-2.0
#include "front/replay/replay_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "front/replay/sim_machine.hpp"
#include "front/replay/toy_allocator.hpp"
#include "front/traces/trace_builder.hpp"

namespace ferry::replay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::Flaw;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::open_machine;
using testing::ToyAllocator;
using testing::TraceBuilder;

// Two streams that allocate and free the same sizes in turn.
DeviceTrace two_streams() {
  TraceBuilder builder;
  builder.start(64_KiB, 1);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t stream = round % 2 == 0 ? 1 : 2;
    builder.free(builder.allocate(128_KiB, stream));
  }
  return builder.build();
}

// One stream allocates, another frees.
DeviceTrace handed_over() {
  TraceBuilder builder;
  for (int round = 0; round < 10; ++round) builder.free(builder.allocate(128_KiB, 1), 2);
  return builder.build();
}

// Blocks of all sizes on three streams, freed in any order and sometimes elsewhere.
DeviceTrace mixed(std::uint32_t seed, int events) {
  std::mt19937 random(seed);
  TraceBuilder builder;
  std::vector<std::uint32_t> live;
  for (int i = 0; i < 5; ++i) live.push_back(builder.start(Bytes{1 + random() % 3'000'000}, i % 3));
  for (int i = 0; i < events; ++i) {
    if (live.size() < 40 && (live.empty() || random() % 2 == 0)) {
      const Bytes bytes = random() % 4 == 0 ? Bytes{random() % 6'000'000} : Bytes{random() % 5000};
      live.push_back(builder.allocate(bytes, random() % 3));
      continue;
    }
    const std::size_t at = random() % live.size();
    if (random() % 5 == 0) {
      builder.free(live[at], random() % 3);
    } else {
      builder.free(live[at]);
    }
    live[at] = live.back();
    live.pop_back();
  }
  return builder.build();
}

ReplayOutcome replay_on_toy(const DeviceTrace& trace, const std::string& settings, Flaw flaw,
                            ReplayOptions options = {}) {
  const auto machine = open_machine(settings);
  ToyAllocator toy(machine->pool_device(), 4_MiB, flaw);
  return replay(trace, toy, machine->tool_device(), options);
}

ReplayOutcome replay_on_pool(const DeviceTrace& trace, const std::string& settings,
                             ReplayOptions options = {}) {
  const auto machine = open_machine(settings);
  ReplayedPool pool(machine->pool(), machine->pool_device());
  return replay(trace, pool, machine->tool_device(), options);
}

class ReplayUnder : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schedules, ReplayUnder, testing::schedules());

TEST_P(ReplayUnder, ASoundAllocatorPasses) {
  for (const DeviceTrace& trace : {two_streams(), handed_over()}) {
    const ReplayOutcome outcome = replay_on_toy(trace, GetParam(), Flaw::none, {.passes = 3});
    EXPECT_TRUE(outcome.completed) << outcome.error;
    EXPECT_EQ(outcome.passes.size(), 3U);
  }
}

TEST_P(ReplayUnder, ThePoolPasses) {
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    const ReplayOutcome outcome =
        replay_on_pool(mixed(seed, 800), GetParam(), {.passes = 2, .audit_every = 50});
    EXPECT_TRUE(outcome.completed) << outcome.error;
    EXPECT_EQ(outcome.passes.size(), 2U);
  }
}

TEST_P(ReplayUnder, OverlapsAndBadAddressesAreAlwaysSeen) {
  EXPECT_THAT(replay_on_toy(mixed(1, 50), GetParam(), Flaw::overlaps).error,
              HasSubstr("lies in memory of the live block"));
  EXPECT_THAT(replay_on_toy(two_streams(), GetParam(), Flaw::misaligns).error,
              HasSubstr("not aligned"));
}

// Holds more within its first allocation than after it.
class Overshooting final : public ReplayedAllocator {
 public:
  explicit Overshooting(Device& device) : device_(device), toy_(device, 4_MiB, Flaw::none) {}
  Result<DeviceAddress> allocate(Bytes bytes, StreamRef stream) override {
    if (auto chunk = device_.create(2_MiB)) {  // a call, so that the figures are looked at
      EXPECT_TRUE(device_.release(*chunk, 2_MiB));
    }
    peak_ = 9_MiB;
    return toy_.allocate(bytes, stream);
  }
  Status free(DeviceAddress address, StreamRef stream) override {
    return toy_.free(address, stream);
  }
  Status audit() override { return toy_.audit(); }
  Bytes reserved() const override { return 7_MiB; }
  Bytes reserved_peak() const override { return peak_; }
  CallTallies tallies() const override { return device_.tallies(); }
  std::string out_of_memory_report() const override { return ""; }

 private:
  Device& device_;
  ToyAllocator toy_;
  Bytes peak_ = 7_MiB;
};

TEST(Replay, ThePeakOfAllPassesIsThatOfOneOfThem) {
  const auto machine = open_machine();
  Overshooting allocator(machine->pool_device());
  const ReplayOutcome outcome = replay(two_streams(), allocator, machine->tool_device(),
                                       {.passes = 3, .record_timeline = true});
  ASSERT_TRUE(outcome.completed) << outcome.error;
  EXPECT_EQ(outcome.peak_reserved, 9_MiB);
  EXPECT_EQ(outcome.passes[0].peak_reserved, 9_MiB);
  EXPECT_EQ(outcome.passes[1].peak_reserved, 7_MiB);
  EXPECT_EQ(outcome.timeline[0].reserved, 9_MiB) << "the picture shows it too";
  EXPECT_EQ(outcome.timeline[1].reserved, 7_MiB);
}

TEST(Replay, MemoryHandedOutTooEarlyIsSeenUnderLazy) {
  const ReplayOutcome shared =
      replay_on_toy(two_streams(), "schedule=lazy", Flaw::shares_across_streams);
  EXPECT_FALSE(shared.completed);
  EXPECT_FALSE(shared.out_of_memory);
  EXPECT_THAT(shared.error, HasSubstr("handed out while another user could still write"));
  const ReplayOutcome forgotten =
      replay_on_toy(handed_over(), "schedule=lazy", Flaw::forgets_who_freed);
  EXPECT_FALSE(forgotten.completed);
  EXPECT_THAT(forgotten.error, HasSubstr("handed out while another user could still write"));
  EXPECT_GT(testing::take_hazards(), 0U);
}

TEST(Replay, WrongBooksAreSeenAfterThePassAtTheLatest) {
  const ReplayOutcome late = replay_on_toy(two_streams(), "", Flaw::keeps_wrong_books);
  EXPECT_FALSE(late.completed);
  EXPECT_THAT(late.error,
              AllOf(HasSubstr("books are wrong in pass 1"), HasSubstr("the toy's books")));
  EXPECT_THAT(late.passes, IsEmpty());
}

TEST(Replay, AuditsAsOftenAsAsked) {
  const auto machine = open_machine();
  ToyAllocator toy(machine->pool_device(), 4_MiB);
  const DeviceTrace trace = two_streams();  // 20 events
  ASSERT_TRUE(replay(trace, toy, machine->tool_device(), {.passes = 2}).completed);
  EXPECT_EQ(toy.audits, 2);
  ASSERT_TRUE(
      replay(trace, toy, machine->tool_device(), {.passes = 2, .audit_every = 5}).completed);
  EXPECT_EQ(toy.audits, 2 + 2 * (4 + 1));
}

TEST(Replay, AFreeThatIsRefusedFails) {
  const ReplayOutcome outcome = replay_on_toy(two_streams(), "", Flaw::loses_blocks);
  EXPECT_FALSE(outcome.completed);
  EXPECT_THAT(outcome.error, HasSubstr("could not be freed: pointer not owned by this pool"));
}

TEST(Replay, OutOfMemoryTellsWhereAndWhy) {
  TraceBuilder builder;
  builder.start(1_MiB);
  builder.allocate(2_MiB);
  builder.allocate(3_MiB);
  const ReplayOutcome outcome = replay_on_toy(builder.build(), "", Flaw::none);
  EXPECT_FALSE(outcome.completed);
  EXPECT_TRUE(outcome.out_of_memory);
  EXPECT_EQ(outcome.error,
            "event 2 of 2 in pass 1 asks for 3 MiB while 3 MiB are live.\n"
            "out of memory: the toy is full");
  EXPECT_THAT(outcome.passes, IsEmpty());
}

TEST(Replay, OutOfMemoryInTheStartSet) {
  TraceBuilder builder;
  builder.start(3_MiB);
  builder.start(3_MiB);
  const ReplayOutcome outcome = replay_on_toy(builder.build(), "", Flaw::none);
  EXPECT_TRUE(outcome.out_of_memory);
  EXPECT_THAT(outcome.error, HasSubstr("the start set in pass 1 asks for 3 MiB"));
}

TEST(Replay, ADriverThatFailsIsNotOutOfMemory) {
  const ReplayOutcome outcome = replay_on_pool(two_streams(), "fault=cuMemMap@1:999");
  EXPECT_FALSE(outcome.completed);
  EXPECT_FALSE(outcome.out_of_memory);
  EXPECT_THAT(outcome.error, HasSubstr("cuMemMap: CUDA error 999"));
}

TEST(Replay, EveryPassBeginsFromTheSameStartSet) {
  TraceBuilder builder;
  const std::uint32_t kept = builder.start(5_MiB);
  const std::uint32_t freed = builder.start(7_MiB);
  builder.free(freed);
  builder.allocate(6_MiB);
  static_cast<void>(kept);
  const auto machine = open_machine();
  ReplayedPool pool(machine->pool(), machine->pool_device());
  const ReplayOutcome outcome =
      replay(builder.build(), pool, machine->tool_device(), {.passes = 3});
  ASSERT_TRUE(outcome.completed) << outcome.error;
  EXPECT_EQ(machine->pool().stats().allocations, 0U);
  EXPECT_EQ(machine->pool().stats().requested_bytes_peak, 12_MiB);
  EXPECT_EQ(machine->pool().stats().allocations_total, 9U);
  EXPECT_EQ(machine->pool().stats().frees_total, 9U);
}

TEST(Replay, CallsOfTheStartSetBelongToThePass) {
  TraceBuilder builder;
  builder.start(50_MiB);
  const ReplayOutcome outcome =
      replay_on_pool(builder.build(), "", {.passes = 2, .record_timeline = true});
  ASSERT_TRUE(outcome.completed) << outcome.error;
  EXPECT_GE(outcome.passes[0].calls[DriverCall::create].bytes, (50_MiB).count);
  EXPECT_EQ(outcome.passes[1].calls.total_calls(), 0U);
  EXPECT_EQ(outcome.passes[0].calls.event_calls, 0U);
  ASSERT_EQ(outcome.marks.size(), 1U);
  EXPECT_EQ(outcome.marks[0].event, 0U);
  EXPECT_EQ(outcome.marks[0].calls, outcome.passes[0].calls.total_calls());
  EXPECT_GE(outcome.passes[0].peak_reserved, 50_MiB);
  EXPECT_GE(outcome.peak_reserved, outcome.passes[0].peak_reserved);
}

TEST(Replay, TheTimelineIsOfTheFirstPass) {
  TraceBuilder builder;
  builder.start(10_MiB);
  const std::uint32_t block = builder.allocate(30_MiB);
  builder.free(block);
  const ReplayOutcome outcome =
      replay_on_pool(builder.build(), "", {.passes = 2, .record_timeline = true});
  ASSERT_TRUE(outcome.completed) << outcome.error;
  std::vector<Bytes> live;
  for (const Sample& sample : outcome.timeline) live.push_back(sample.live);
  EXPECT_THAT(live, ElementsAre(10_MiB, 40_MiB, 10_MiB));
  EXPECT_GE(outcome.timeline[1].reserved, 40_MiB);
  std::uint64_t calls = 0;
  for (const CallMark& mark : outcome.marks) calls += mark.calls;
  EXPECT_EQ(calls, outcome.passes[0].calls.total_calls());
  EXPECT_THAT(replay_on_pool(builder.build(), "").timeline, IsEmpty());
}

TEST(Replay, ATraceOfNothingCompletes) {
  TraceBuilder builder;
  builder.free(builder.allocate(0_B));
  const ReplayOutcome outcome = replay_on_pool(builder.build(), "", {.passes = 2});
  EXPECT_TRUE(outcome.completed) << outcome.error;
  EXPECT_EQ(outcome.peak_reserved, Bytes{});
}

TEST(Replay, ProgressIsTold) {
  std::vector<std::uint32_t> passes;
  const ReplayOutcome outcome = replay_on_pool(
      mixed(1, 2500), "", {.passes = 2, .progress = [&](std::uint32_t pass, std::uint64_t) {
                             passes.push_back(pass);
                           }});
  EXPECT_TRUE(outcome.completed);
  EXPECT_THAT(passes, ElementsAre(1, 1, 1, 2, 2, 2));
}

TEST(Replay, WithoutStreamsThereIsAReason) {
  const ReplayOutcome outcome = replay_on_pool(two_streams(), "fault=cuStreamCreate@1:2");
  EXPECT_FALSE(outcome.completed);
  EXPECT_FALSE(outcome.out_of_memory);
  EXPECT_THAT(outcome.error, HasSubstr("the replay's own streams"));
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(Replay, AHundredPassesNeedNoMoreMemoryThanTen) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep freed memory";
#endif
  const DeviceTrace trace = mixed(4, 2000);
  const auto machine = open_machine("schedule=lazy");
  ReplayedPool pool(machine->pool(), machine->pool_device());
  Device& tool = machine->tool_device();
  ASSERT_TRUE(replay(trace, pool, tool, {.passes = 10}).completed);
  const std::uint64_t before = resident_bytes();
  const Bytes reserved = pool.reserved();
  const ReplayOutcome outcome = replay(trace, pool, tool, {.passes = 100});
  ASSERT_TRUE(outcome.completed) << outcome.error;
  EXPECT_LT(resident_bytes(), before + (4_MiB).count);
  EXPECT_LE(pool.reserved(), reserved + reserved);
}

}  // namespace
}  // namespace ferry::replay
