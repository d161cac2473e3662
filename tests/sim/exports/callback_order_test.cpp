// SPDX-License-Identifier: Apache-2.0
// When host functions run, on the modelled machine: never before their moment in virtual time, and
// under eager in the order of those moments.
#include <gmock/gmock.h>

#include <array>
#include <thread>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CallbackOrderTest : public SimTest {
 protected:
  struct Note {
    CallbackOrderTest* test = nullptr;
    int name = 0;
  };

  void start(const std::string& schedule) {
    restart("profile=h200-pcie5;schedule=" + schedule);
    ran.clear();
    times.clear();
  }
  void note_later(CUstream stream, int name) {
    notes[static_cast<std::size_t>(name)] = {this, name};
    const auto body = [](void* data) {
      const Note& note = *static_cast<Note*>(data);
      note.test->ran.push_back(note.name);
      note.test->times.push_back(ferry_sim_now_ps());
    };
    EXPECT_EQ(cuLaunchHostFunc(stream, body, &notes[static_cast<std::size_t>(name)]), CUDA_SUCCESS);
  }
  // A copy to the host and one to the device, which overlap: the first takes longer.
  void queue_long_and_short(CUstream longer, CUstream shorter) {
    const CUdeviceptr device = allocate(9 * kMiB);
    auto* const host = static_cast<char*>(allocate_host(9 * kMiB));
    queued_at = ferry_sim_now_ps();
    EXPECT_EQ(cuMemcpyDtoHAsync_v2(host, device, 8 * kMiB, longer), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoDAsync_v2(device + 8 * kMiB, host + 8 * kMiB, kMiB, shorter),
              CUDA_SUCCESS);
  }

  std::array<Note, 16> notes;
  std::vector<int> ran;
  std::vector<std::uint64_t> times;
  std::uint64_t queued_at = 0;  // memory has taken its time before
};

TEST_F(CallbackOrderTest, UnderEagerTheyRunInTheOrderInWhichTheirWorkEnds) {
  start("eager");
  const CUstream longer = stream();
  const CUstream shorter = stream();
  queue_long_and_short(longer, shorter);
  note_later(longer, 1);
  note_later(shorter, 2);
  note_later(shorter, 3);
  EXPECT_THAT(ran, IsEmpty()) << "nothing has ended yet";
  FERRY_OK(cuStreamSynchronize(longer));
  EXPECT_THAT(ran, ElementsAre(2, 3, 1)) << "that of the other stream came first";
}

TEST_F(CallbackOrderTest, TheyRunWhenTheCallersClockReachesThem) {
  start("eager");
  const CUstream longer = stream();
  const CUstream shorter = stream();
  queue_long_and_short(longer, shorter);
  note_later(longer, 1);
  note_later(shorter, 2);
  ferry_sim_host_work(60'000);  // 1 MiB takes 20 us, 8 MiB take 150
  EXPECT_THAT(ran, ElementsAre(2));
  ferry_sim_host_work(200'000);
  EXPECT_THAT(ran, ElementsAre(2, 1));
}

TEST_F(CallbackOrderTest, APollThatSucceedsComesAfterWhatEndedBefore) {
  start("eager");
  const CUstream longer = stream();
  const CUstream shorter = stream();
  queue_long_and_short(longer, shorter);
  note_later(longer, 1);
  note_later(shorter, 2);
  while (cuStreamQuery(longer) == CUDA_ERROR_NOT_READY) {
  }
  EXPECT_THAT(ran, ElementsAre(2, 1));
}

// The function stands behind an event of its stream; whoever sees what it did records later.
TEST_F(CallbackOrderTest, NoScheduleRunsThemBeforeTheirMoment) {
  for (const char* schedule : {"eager", "lazy", "random;seed=1", "random;seed=2", "random;seed=3",
                               "random;seed=4", "random;seed=5", "random;seed=6"}) {
    start(schedule);
    const CUstream longer = stream();
    const CUstream other = stream();
    const CUevent ended = event(CU_EVENT_DEFAULT);
    const CUevent seen = event(CU_EVENT_DEFAULT);
    const CUdeviceptr device = allocate(8 * kMiB);
    void* const host = allocate_host(8 * kMiB);
    queued_at = ferry_sim_now_ps();
    FERRY_OK(cuMemcpyDtoHAsync_v2(host, device, 8 * kMiB, longer));
    FERRY_OK(cuEventRecord(ended, longer));
    note_later(longer, 1);
    for (int calls = 0; ran.empty() && calls < 200; ++calls) {
      FERRY_OK(cuStreamWaitEvent(other, seen, 0));  // calls that may let work run
      ferry_sim_host_work(10'000);
    }
    if (ran.empty()) {
      FERRY_OK(cuStreamSynchronize(longer));
    }
    FERRY_OK(cuEventRecord(seen, other));
    FERRY_OK(cuEventSynchronize(seen));
    FERRY_OK(cuEventSynchronize(ended));
    float milliseconds = -1;
    FERRY_OK(cuEventElapsedTime(&milliseconds, ended, seen));
    EXPECT_GE(milliseconds, 0.0F) << schedule;
    EXPECT_GE(times.at(0) - queued_at, 100'000'000U) << schedule << ": 8 MiB take longer";
  }
}

TEST_F(CallbackOrderTest, CallbacksToo) {
  start("eager");
  const CUstream longer = stream();
  const CUstream shorter = stream();
  queue_long_and_short(longer, shorter);
  static std::vector<CUstream> called;
  called.clear();
  const auto body = [](CUstream stream, CUresult, void*) { called.push_back(stream); };
  FERRY_OK(cuStreamAddCallback(longer, body, nullptr, 0));
  FERRY_OK(cuStreamAddCallback(shorter, body, nullptr, 0));
  EXPECT_THAT(called, IsEmpty());
  FERRY_OK(cuCtxSynchronize());
  EXPECT_THAT(called, ElementsAre(shorter, longer));
}

// Virtual time does not know how long the wait takes, and lets it go on until the function's
// moment.
TEST_F(CallbackOrderTest, AWaitForAValueLetsTheFunctionRunThatWritesIt) {
  for (const char* schedule : {"eager", "lazy", "random;seed=1", "random;seed=2"}) {
    for (const bool polled : {false, true}) {
      start(schedule);
      const CUstream waits = stream();
      const CUstream writes = stream();
      const CUstream other = stream();
      queue_long_and_short(writes, other);
      static std::uint32_t* word;
      word = static_cast<std::uint32_t*>(allocate_host(4));
      *word = 0;
      FERRY_OK(cuStreamWaitValue32_v2(waits, reinterpret_cast<CUdeviceptr>(word), 1,
                                      CU_STREAM_WAIT_VALUE_EQ));
      note_later(writes, 1);
      FERRY_OK(cuLaunchHostFunc(
          writes, [](void*) { *word = 1; }, nullptr));
      while (polled && cuStreamQuery(waits) == CUDA_ERROR_NOT_READY) {
      }
      FERRY_OK(cuStreamSynchronize(waits));
      EXPECT_EQ(*word, 1U) << schedule;
      EXPECT_GE(times.at(0) - queued_at, 100'000'000U) << schedule << ": 8 MiB take longer";
      EXPECT_LT(times.at(0) - queued_at, 250'000'000U) << schedule;
    }
  }
}

// The waiter is in nobody's way: the other thread's moments come before the function's.
TEST_F(CallbackOrderTest, AWaiterForAFunctionLetsOtherThreadsHaveTheirTurns) {
  restart("profile=h200-pcie5;threads=turns");
  const CUstream waits = stream();
  const CUstream writes = stream();
  const CUstream other = stream();
  queue_long_and_short(writes, other);
  static std::uint32_t* word;
  word = static_cast<std::uint32_t*>(allocate_host(4));
  *word = 0;
  note_later(writes, 1);
  FERRY_OK(cuLaunchHostFunc(
      writes, [](void*) { *word = 1; }, nullptr));
  ASSERT_EQ(ferry_sim_thread_expect(1), 0);
  ASSERT_EQ(ferry_sim_thread_expect(2), 0);
  std::thread waiter([&] {
    EXPECT_EQ(ferry_sim_thread_begin(1), 0);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamWaitValue32_v2(waits, reinterpret_cast<CUdeviceptr>(word), 1,
                                     CU_STREAM_WAIT_VALUE_EQ),
              CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(waits), CUDA_SUCCESS);
    ran.push_back(3);
    EXPECT_EQ(ferry_sim_thread_end(), 0);
  });
  std::thread early([&] {
    EXPECT_EQ(ferry_sim_thread_begin(2), 0);
    ferry_sim_host_work(50'000);
    ran.push_back(2);
    EXPECT_EQ(ferry_sim_thread_end(), 0);
  });
  waiter.join();
  early.join();
  EXPECT_THAT(ran, ElementsAre(2, 1, 3));
}

TEST_F(CallbackOrderTest, WhoMayNotUseTheDriverLetsNoneRun) {
  restart("profile=h200-pcie5;threads=turns");
  ASSERT_EQ(ferry_sim_thread_expect(1), 0);
  std::thread([&] {
    EXPECT_EQ(ferry_sim_thread_begin(1), 0);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    note_later(stream(), 1);
    allocate_host(kMiB);  // takes longer; a call lets work run before it takes its time
    EXPECT_THAT(ran, IsEmpty());
    std::thread([] { ferry_sim_host_work(1'000'000); }).join();
    EXPECT_THAT(ran, IsEmpty()) << "its clock is no business of the round's";
    ferry_sim_host_work(1'000'000);
    EXPECT_THAT(ran, ElementsAre(1));
    EXPECT_EQ(ferry_sim_thread_end(), 0);
  }).join();
}

// Without a profile there is no time to wait for.
TEST_F(CallbackOrderTest, WithoutAProfileTheyRunAtOnce) {
  restart("schedule=eager");
  note_later(stream(), 1);
  EXPECT_THAT(ran, ElementsAre(1));
}

}  // namespace
}  // namespace ferry::sim
