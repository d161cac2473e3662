// SPDX-License-Identifier: Apache-2.0
// What shared events do not allow, and what they cost the process.
#include <algorithm>
#include <filesystem>
#include <iterator>

#include "sim/machine/event_access.hpp"
#include "sim/machine/no_descriptors.hpp"
#include "sim/machine/shared_event_fixture.hpp"

namespace ferry::sim {
namespace {

std::ptrdiff_t threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

using EventRefusalsTest = EventAccessTest;

TEST_F(EventRefusalsTest, WithoutDescriptorsThereAreNoSharedEvents) {
  CUevent none = nullptr;
  {
    const NoDescriptors used_up;
    EXPECT_EQ(cuEventCreate(&none, kShared), CUDA_ERROR_OUT_OF_MEMORY);
  }
  EXPECT_EQ(none, nullptr);
}

// Its end cannot be told without a descriptor, but it has not ended.
TEST_F(EventRefusalsTest, ARecordWithoutDescriptorsIsWaitedFor) {
  const CUevent an_event = event(kShared);
  const auto outside = behind(an_event);
  {
    const NoDescriptors used_up;
    FERRY_OK(cuMemsetD32Async(allocate(64), 7, 16, nullptr));
    FERRY_OK(cuEventRecord(an_event, nullptr));
  }
  EXPECT_FALSE(outside->is_over(outside->latest()));
  FERRY_OK(cuEventSynchronize(an_event));
  EXPECT_TRUE(outside->is_over(outside->latest()));
}

TEST_F(EventRefusalsTest, AFileThatIsNoEventIsNotOpened) {
  const Foreign foreign;
  SharedDescription description;
  description.kind = SharedKind::event;
  const auto file = SealedFile::create(description, 4096);
  const pid_t holder = fork();
  if (holder == 0) {
    pause();
    _exit(0);
  }
  CUipcEventHandle bytes{};
  write_ipc_handle({SharedKind::event, holder, file->descriptor(), file->id(), {}}, &bytes);
  CUevent opened = nullptr;
  EXPECT_EQ(cuIpcOpenEventHandle(&opened, bytes), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(opened, nullptr);
  EXPECT_EQ(cuIpcOpenEventHandle(nullptr, bytes), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(kill(holder, SIGKILL), 0);
  EXPECT_EQ(waitpid(holder, nullptr, 0), holder);
}

TEST_F(EventRefusalsTest, OpenedEventsHaveNoTimes) {
  const Foreign foreign;
  foreign.event->reach(foreign.event->record());
  FERRY_OK(cuEventRecord(foreign.opened, nullptr));
  FERRY_OK(cuEventSynchronize(foreign.opened));
  float milliseconds = 0;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, foreign.opened, foreign.opened),
            CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(EventRefusalsTest, OneThreadServesAllRecordsAndEndsWithThem) {
  // That of an earlier test may be about to end.
  for (int i = 0; i < 200 && threads() > 1; ++i) usleep(1000);
  const std::ptrdiff_t before = threads();
  for (int i = 0; i < 20; ++i) {
    FERRY_OK(cuMemsetD32Async(allocate(64), 7, 16, nullptr));
    FERRY_OK(cuEventRecord(event(kShared), nullptr));
  }
  EXPECT_EQ(threads(), before + 1);
  FERRY_OK(cuCtxSynchronize());
  for (int i = 0; i < 2000 && threads() > before; ++i) usleep(1000);
  EXPECT_EQ(threads(), before);
}

TEST_F(EventRefusalsTest, UnderEagerARecordIsReachedAtOnce) {
  restart("schedule=eager");
  const CUevent an_event = event(kShared);
  const auto outside = behind(an_event);
  FERRY_OK(cuEventRecord(an_event, nullptr));
  EXPECT_TRUE(outside->is_reached(1));
}

// Each wait has a stream of its own for as long as it lasts.
TEST_F(EventRefusalsTest, WaitsLeaveNoStreams) {
  const Foreign foreign;
  const CUstream a_stream = stream();
  const auto streams = [] {
    std::size_t count = 0;
    Library::get().with_machine([&](Lock&, Machine& machine) {
      machine.contexts.for_each([&](Context& own) { count += own.streams->streams.size(); });
    });
    return count;
  };
  const std::size_t before = streams();
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t record = foreign.event->record();
    FERRY_OK(cuStreamWaitEvent(a_stream, foreign.opened, 0));
    foreign.event->reach(record);
    FERRY_OK(cuStreamSynchronize(a_stream));
  }
  EXPECT_EQ(streams(), before);
}

}  // namespace
}  // namespace ferry::sim
