// SPDX-License-Identifier: Apache-2.0
// What is refused is in event_refusals_test.cpp.
#include "sim/machine/event_access.hpp"

#include <thread>

#include "sim/machine/foreign_records.hpp"
#include "sim/machine/shared_event_fixture.hpp"

namespace ferry::sim {
namespace {

TEST_F(EventAccessTest, WorkWaitsUntilSomeoneAsks) {
  const CUdeviceptr address = allocate(4096);
  const CUstream a_stream = stream();
  const CUevent an_event = event(kShared);
  const auto outside = behind(an_event);
  FERRY_OK(cuMemsetD32Async(address, 7, 16, a_stream));
  FERRY_OK(cuEventRecord(an_event, a_stream));
  EXPECT_EQ(outside->latest().number, 1U);
  usleep(20'000);
  EXPECT_FALSE(outside->is_reached(1)) << "as late as possible";
  EXPECT_EQ(peek(address), kUnwritten);
  outside->ask(1);
  EXPECT_TRUE(is_reached_soon(*outside, 1)) << "without a call of the program";
  EXPECT_EQ(peek(address), 7U);
  FERRY_OK(cuStreamSynchronize(a_stream));
}

TEST_F(EventAccessTest, ItsOwnWaitsReachItToo) {
  const CUstream a_stream = stream();
  const CUevent an_event = event(kShared);
  const auto outside = behind(an_event);
  FERRY_OK(cuMemsetD32Async(allocate(64), 7, 16, a_stream));
  FERRY_OK(cuEventRecord(an_event, a_stream));
  FERRY_OK(cuEventSynchronize(an_event));
  EXPECT_TRUE(outside->is_reached(1));
  FERRY_OK(cuMemsetD32Async(allocate(64), 7, 16, a_stream));
  FERRY_OK(cuCtxRecordEvent(context, an_event));
  EXPECT_EQ(outside->latest().number, 2U);
  EXPECT_FALSE(outside->is_reached(2));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_TRUE(outside->is_reached(2));
}

TEST_F(EventAccessTest, ARecordAfterAFaultIsReached) {
  const CUstream a_stream = stream();
  const CUevent an_event = event(kShared);
  const auto outside = behind(an_event);
  FERRY_OK(cuMemsetD8Async(allocate(16), 1, 17, a_stream));
  FERRY_OK(cuEventRecord(an_event, a_stream));
  EXPECT_EQ(cuStreamSynchronize(a_stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_TRUE(outside->is_reached(1)) << "others do not wait for ever";
  EXPECT_EQ(cuEventQuery(an_event), CUDA_ERROR_ILLEGAL_ADDRESS) << "and the fault stays";
}

TEST_F(EventAccessTest, AQueryThatGoesOnAsks) {
  const Foreign foreign;
  EXPECT_EQ(cuEventQuery(foreign.opened), CUDA_SUCCESS) << "never recorded";
  const std::uint64_t record = foreign.event->record();
  EXPECT_EQ(cuEventQuery(foreign.opened), CUDA_ERROR_NOT_READY);
  EXPECT_FALSE(foreign.event->is_asked_for(record)) << "one look is no wait";
  for (unsigned i = 0; i < StreamEngine::kPatience; ++i) {
    EXPECT_EQ(cuEventQuery(foreign.opened), CUDA_ERROR_NOT_READY);
  }
  EXPECT_TRUE(foreign.event->is_asked_for(record));
  foreign.event->reach(record);
  EXPECT_EQ(cuEventQuery(foreign.opened), CUDA_SUCCESS);
  const std::uint64_t next = foreign.event->record();
  EXPECT_EQ(cuEventQuery(foreign.opened), CUDA_ERROR_NOT_READY);
  EXPECT_FALSE(foreign.event->is_asked_for(next)) << "it begins anew";
}

TEST_F(EventAccessTest, AStreamWaitsForTheRecordThatWasThere) {
  const Foreign foreign;
  const CUdeviceptr address = allocate(64);
  const CUstream a_stream = stream();
  const std::uint64_t first = foreign.event->record();
  FERRY_OK(cuStreamWaitEvent(a_stream, foreign.opened, 0));
  FERRY_OK(cuMemsetD32Async(address, 7, 1, a_stream));
  EXPECT_FALSE(foreign.event->is_asked_for(first)) << "nobody needs it yet";
  static_cast<void>(foreign.event->record());
  std::thread other([&] {
    usleep(20'000);
    EXPECT_EQ(peek(address), kUnwritten);
    EXPECT_TRUE(foreign.event->is_asked_for(first));
    foreign.event->reach(first);
  });
  FERRY_OK(cuStreamSynchronize(a_stream));
  other.join();
  EXPECT_EQ(peek(address), 7U) << "the later record was not waited for";
}

TEST_F(EventAccessTest, AContextWaitsForTheOtherProcessToo) {
  const Foreign foreign;
  const CUdeviceptr address = allocate(64);
  const CUstream a_stream = stream();
  const std::uint64_t record = foreign.event->record();
  FERRY_OK(cuCtxWaitEvent(context, foreign.opened));
  FERRY_OK(cuMemsetD32Async(address, 7, 1, a_stream));
  std::thread other([&] {
    usleep(20'000);
    EXPECT_EQ(peek(address), kUnwritten);
    foreign.event->reach(record);
  });
  FERRY_OK(cuStreamSynchronize(a_stream));
  other.join();
  EXPECT_EQ(peek(address), 7U);
}

// What this process did before the other one went on is over for who waits for the other one.
TEST_F(EventAccessTest, AWaitOrdersWhatRanBefore) {
  const Foreign foreign;
  const CUdeviceptr address = allocate(64);
  const CUstream first = stream();
  const CUstream second = stream();
  const CUevent mine = event(kShared);
  const auto outside = behind(mine);
  FERRY_OK(cuMemsetD32Async(address, 1, 1, first));
  FERRY_OK(cuEventRecord(mine, first));
  outside->ask(1);
  ASSERT_TRUE(is_reached_soon(*outside, 1));
  foreign.event->reach(foreign.event->record());
  FERRY_OK(cuStreamWaitEvent(second, foreign.opened, 0));
  FERRY_OK(cuMemsetD32Async(address, 2, 1, second));
  FERRY_OK(cuStreamSynchronize(second));
  FERRY_OK(cuStreamSynchronize(first));
}

TEST_F(EventAccessTest, AQueryOrdersWhatRanBefore) {
  const Foreign foreign;
  const CUdeviceptr address = allocate(64);
  const CUevent mine = event(kShared);
  const auto outside = behind(mine);
  FERRY_OK(cuMemsetD32Async(address, 1, 1, stream()));
  FERRY_OK(cuCtxRecordEvent(context, mine));
  outside->ask(1);
  ASSERT_TRUE(is_reached_soon(*outside, 1));
  foreign.event->reach(foreign.event->record());
  EXPECT_EQ(cuEventQuery(foreign.opened), CUDA_SUCCESS);
  FERRY_OK(cuMemsetD32Async(address, 2, 1, stream()));
  FERRY_OK(cuCtxSynchronize());
}

// The parent's end is played by a reset, which drops the work too.
TEST_F(EventAccessTest, AChildOfForkDoesNotStandInForItsParent) {
  const CUevent an_event = event(kShared);
  const CUstream a_stream = stream();
  const auto outside = behind(an_event);
  FERRY_OK(cuMemsetD32Async(allocate(64), 7, 16, a_stream));
  FERRY_OK(cuEventRecord(an_event, a_stream));
  FERRY_OK(cuEventRecord(event(kShared), a_stream));
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const bool there = true;
    static_cast<void>(!write(ends[1], &there, sizeof there));
    pause();
    _exit(0);
  }
  bool there = false;
  ASSERT_EQ(read(ends[0], &there, sizeof there), static_cast<ssize_t>(sizeof there));
  EXPECT_FALSE(outside->is_over(outside->latest()));
  restart("schedule=lazy");
  EXPECT_TRUE(outside->is_over(outside->latest()));
  EXPECT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(EventAccessTest, AQueryEndsWithTheRecorder) {
  const Foreign foreign;
  auto recorder =
      SharedEvent::open(SealedFile::open(foreign.event->file().descriptor(), SharedKind::event));
  static_cast<void>(recorder->record());
  EXPECT_EQ(cuEventQuery(foreign.opened), CUDA_ERROR_NOT_READY);
  recorder.reset();
  EXPECT_EQ(cuEventQuery(foreign.opened), CUDA_SUCCESS);
}

// Work of this process that was recorded and has run, as another process may have seen it.
class SeenElsewhereTest : public EventAccessTest {
 protected:
  void SetUp() override {
    EventAccessTest::SetUp();
    mine = event(kShared);
    outside = behind(mine);
    first = allocate(64);
    second = allocate(64);
    working = stream();
    other = stream();
  }
  std::uint64_t record_after(CUdeviceptr address) {
    EXPECT_EQ(cuMemsetD32Async(address, 7, 16, working), CUDA_SUCCESS);
    EXPECT_EQ(cuEventRecord(mine, working), CUDA_SUCCESS);
    const std::uint64_t record = outside->latest().number;
    outside->ask(record);
    EXPECT_TRUE(is_reached_soon(*outside, record));
    return record;
  }
  std::uint64_t hazards_of_use(CUdeviceptr address) {
    EXPECT_EQ(cuMemsetD32Async(address, 8, 16, other), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    return ferry_sim_take_hazards();
  }

  CUevent mine = nullptr;
  std::shared_ptr<SharedEvent> outside;
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  CUstream working = nullptr;
  CUstream other = nullptr;
};

TEST_F(SeenElsewhereTest, IsSeenHere) {
  outside->see(record_after(first));
  EXPECT_EQ(hazards_of_use(first), 0U);
}

TEST_F(SeenElsewhereTest, WhatHasRunIsNotSeenYet) {
  static_cast<void>(record_after(first));
  EXPECT_EQ(hazards_of_use(first), 1U);
}

TEST_F(SeenElsewhereTest, NobodyHasSeenWhatHasNotRun) {
  FERRY_OK(cuMemsetD32Async(first, 7, 16, working));
  FERRY_OK(cuEventRecord(mine, working));
  outside->see(1);
  EXPECT_EQ(hazards_of_use(first), 1U);
}

TEST_F(SeenElsewhereTest, WorkAfterTheRecordIsNotSeen) {
  const std::uint64_t record = record_after(first);
  FERRY_OK(cuMemsetD32Async(second, 7, 16, working));
  outside->see(record);
  EXPECT_EQ(hazards_of_use(second), 1U);
}

TEST_F(SeenElsewhereTest, ALaterRecordIsNotSeen) {
  const std::uint64_t record = record_after(first);
  static_cast<void>(record_after(second));
  outside->see(record);
  EXPECT_EQ(hazards_of_use(second), 1U);
}

TEST_F(SeenElsewhereTest, ALaterRecordInAnotherStreamCoversNoEarlierOne) {
  static_cast<void>(record_after(first));
  working = stream();
  outside->see(record_after(second));
  EXPECT_EQ(hazards_of_use(second), 0U);
  // The synchronization of that has seen all; so anew.
  static_cast<void>(record_after(first));
  working = stream();
  outside->see(record_after(second));
  EXPECT_EQ(hazards_of_use(first), 1U);
}

TEST_F(SeenElsewhereTest, EveryOneOfSeveralRecordsCounts) {
  const std::uint64_t record = record_after(first);
  const std::uint64_t later = record_after(second);
  outside->see(record);
  FERRY_OK(cuMemsetD32Async(first, 8, 16, other));
  outside->see(later);
  EXPECT_EQ(hazards_of_use(second), 0U);
}

TEST_F(SeenElsewhereTest, AlsoWhenTheEventIsGone) {
  const std::uint64_t record = record_after(first);
  FERRY_OK(cuEventDestroy_v2(mine));
  outside->see(record);
  EXPECT_EQ(hazards_of_use(first), 0U);
}

TEST_F(SeenElsewhereTest, ARecordOfTheWholeContextToo) {
  FERRY_OK(cuMemsetD32Async(first, 7, 16, working));
  FERRY_OK(cuCtxRecordEvent(context, mine));
  outside->ask(1);
  ASSERT_TRUE(is_reached_soon(*outside, 1));
  outside->see(1);
  EXPECT_EQ(hazards_of_use(first), 0U);
}

TEST_F(EventAccessTest, OthersHearWhatTheHostHasSeen) {
  const Foreign foreign;
  const CUstream waiting = stream();
  const CUstream another = stream();
  const std::uint64_t record = foreign.event->record();
  FERRY_OK(cuStreamWaitEvent(waiting, foreign.opened, 0));
  foreign.event->reach(record);
  FERRY_OK(cuStreamSynchronize(another));
  EXPECT_FALSE(foreign.event->is_seen(record)) << "nobody has waited for it";
  FERRY_OK(cuStreamSynchronize(waiting));
  EXPECT_TRUE(foreign.event->is_seen(record));
}

TEST_F(EventAccessTest, OthersHearOfItBeforeAHostFunctionBegins) {
  const Foreign foreign;
  const CUstream waiting = stream();
  const std::uint64_t record = foreign.event->record();
  FERRY_OK(cuStreamWaitEvent(waiting, foreign.opened, 0));
  struct Look {
    SharedEvent* event;
    std::uint64_t record;
    bool seen = false;
  } look{foreign.event.get(), record};
  const auto look_at = [](void* at) {
    auto* const its = static_cast<Look*>(at);
    its->seen = its->event->is_seen(its->record);
  };
  FERRY_OK(cuLaunchHostFunc(waiting, look_at, &look));
  foreign.event->reach(record);
  FERRY_OK(cuStreamSynchronize(waiting));
  EXPECT_TRUE(look.seen);
}

TEST_F(EventAccessTest, AQueryThatFindsNothingSeesNothing) {
  const Foreign foreign;
  const std::uint64_t record = foreign.event->record();
  EXPECT_EQ(cuEventQuery(foreign.opened), CUDA_ERROR_NOT_READY);
  EXPECT_FALSE(foreign.event->is_seen(record));
  foreign.event->reach(record);
  EXPECT_EQ(cuEventQuery(foreign.opened), CUDA_SUCCESS);
  EXPECT_TRUE(foreign.event->is_seen(record));
}

TEST_F(EventAccessTest, ARecordPassesOnWhatItsStreamWaitsFor) {
  const Foreign foreign;
  const CUevent mine = event(kShared);
  const auto outside = behind(mine);
  const CUstream waiting = stream();
  const std::uint64_t record = foreign.event->record();
  FERRY_OK(cuStreamWaitEvent(waiting, foreign.opened, 0));
  FERRY_OK(cuEventRecord(mine, stream()));
  FERRY_OK(cuEventRecord(mine, waiting));
  EXPECT_TRUE(outside->links_of(1).empty()) << "another stream";
  see_record(*outside, 1);
  EXPECT_FALSE(foreign.event->is_seen(record));
  see_record(*outside, 2);
  EXPECT_TRUE(foreign.event->is_seen(record));
  foreign.event->reach(record);
  FERRY_OK(cuCtxSynchronize());
}

TEST_F(EventAccessTest, WhatIsGoneIsNotOpened) {
  const CUevent an_event = event(kShared);
  CUipcEventHandle bytes{};
  FERRY_OK(cuIpcGetEventHandle(&bytes, an_event));
  CUevent opened = nullptr;
  EXPECT_EQ(cuIpcOpenEventHandle(&opened, bytes), CUDA_ERROR_INVALID_CONTEXT) << "its own process";
  auto handle = *read_ipc_handle(&bytes, SharedKind::event);
  handle.process = 0x7FFFFFFF;
  write_ipc_handle(handle, &bytes);
  EXPECT_EQ(cuIpcOpenEventHandle(&opened, bytes), CUDA_ERROR_INVALID_HANDLE);
  FERRY_OK(cuEventDestroy_v2(an_event));
  EXPECT_EQ(cuIpcGetEventHandle(&bytes, an_event), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace
}  // namespace ferry::sim
