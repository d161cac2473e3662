// SPDX-License-Identifier: Apache-2.0
// Streams and events: what is ordered, and what the handles refuse.
#include <thread>

#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

// Under a random schedule an order that is not kept shows by chance; so often it shows surely.
constexpr int kRounds = 16;

class Order : public WithContext {
 protected:
  // Queues: buffer filled with `value`.
  static void fill(const DeviceBuffer& buffer, int value, CUstream stream) {
    FERRY_OK(cuda().cuMemsetD8Async(buffer.address, static_cast<unsigned char>(value), buffer.bytes,
                                    stream));
  }
  static void fetch(const PinnedBuffer& to, const DeviceBuffer& buffer, CUstream stream) {
    FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, buffer.address, to.bytes, stream));
  }
};

TEST_F(Order, AStreamRunsInTheOrderOfItsCalls) {
  const StreamOwner stream;
  const DeviceBuffer buffer(64 * 1024);
  const PinnedBuffer to(64 * 1024);
  for (int value = 1; value <= 20; ++value) fill(buffer, value, stream.handle);
  fetch(to, buffer, stream.handle);
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(20));
  EXPECT_EQ(cuda().cuStreamQuery(stream.handle), CUDA_SUCCESS);
}

TEST_F(Order, AnEventOrdersTwoStreams) {
  const StreamOwner producer;
  const StreamOwner consumer;
  const EventOwner ready;
  const DeviceBuffer buffer(256 * 1024);
  const PinnedBuffer to(256 * 1024);
  for (int round = 1; round <= kRounds; ++round) {
    fill(buffer, round, producer.handle);
    FERRY_OK(cuda().cuEventRecord(ready.handle, producer.handle));
    FERRY_OK(cuda().cuStreamWaitEvent(consumer.handle, ready.handle, 0));
    fetch(to, buffer, consumer.handle);
    FERRY_OK(cuda().cuStreamSynchronize(consumer.handle));
    ASSERT_TRUE(to.holds(round)) << "round " << round;
  }
}

TEST_F(Order, AWaitTakesTheRecordOfItsMoment) {
  const StreamOwner producer;
  const StreamOwner consumer;
  const EventOwner event;
  const DeviceBuffer first(4096);
  const DeviceBuffer second(4096);
  const PinnedBuffer to(4096);
  fill(first, 1, producer.handle);
  FERRY_OK(cuda().cuEventRecord(event.handle, producer.handle));
  FERRY_OK(cuda().cuStreamWaitEvent(consumer.handle, event.handle, 0));
  fill(second, 2, producer.handle);
  FERRY_OK(cuda().cuEventRecord(event.handle, producer.handle));
  fetch(to, first, consumer.handle);
  FERRY_OK(cuda().cuStreamSynchronize(consumer.handle));
  EXPECT_TRUE(to.holds(1)) << "a later record does not take the earlier order away";
  FERRY_OK(cuda().cuEventSynchronize(event.handle));
  FERRY_OK(cuda().cuMemcpyDtoH_v2(to.pointer, second.address, 4096));
  EXPECT_TRUE(to.holds(2));
}

TEST_F(Order, AnEventNeverRecordedIsComplete) {
  const StreamOwner stream;
  const EventOwner event;
  EXPECT_EQ(cuda().cuEventQuery(event.handle), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuEventSynchronize(event.handle), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuStreamWaitEvent(stream.handle, event.handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuStreamSynchronize(stream.handle), CUDA_SUCCESS);
}

TEST_F(Order, SynchronisingAnEventFinishesWhatCameBefore) {
  const StreamOwner stream;
  const EventOwner event;
  const DeviceBuffer buffer(4096);
  const PinnedBuffer to(4096);
  fill(buffer, 9, stream.handle);
  fetch(to, buffer, stream.handle);
  FERRY_OK(cuda().cuEventRecord(event.handle, stream.handle));
  FERRY_OK(cuda().cuEventSynchronize(event.handle));
  EXPECT_TRUE(to.holds(9));
  EXPECT_EQ(cuda().cuEventQuery(event.handle), CUDA_SUCCESS);
}

TEST_F(Order, PollingComesToAnEnd) {
  const StreamOwner stream;
  const EventOwner event;
  const DeviceBuffer buffer(4096);
  const PinnedBuffer to(4096);
  for (int value = 1; value <= 10; ++value) fill(buffer, value, stream.handle);
  fetch(to, buffer, stream.handle);
  FERRY_OK(cuda().cuEventRecord(event.handle, stream.handle));
  CUresult result = CUDA_ERROR_NOT_READY;
  while (result == CUDA_ERROR_NOT_READY) result = cuda().cuEventQuery(event.handle);
  ASSERT_EQ(result, CUDA_SUCCESS);
  EXPECT_TRUE(to.holds(10)) << "complete means done";
  fill(buffer, 11, stream.handle);
  fetch(to, buffer, stream.handle);
  result = CUDA_ERROR_NOT_READY;
  while (result == CUDA_ERROR_NOT_READY) result = cuda().cuStreamQuery(stream.handle);
  ASSERT_EQ(result, CUDA_SUCCESS);
  EXPECT_TRUE(to.holds(11));
}

TEST_F(Order, TheDefaultStreamWaitsForBlockingStreams) {
  const StreamOwner blocking(CU_STREAM_DEFAULT);
  const DeviceBuffer buffer(4096);
  const PinnedBuffer to(4096);
  for (int round = 1; round <= kRounds; ++round) {
    fill(buffer, round, blocking.handle);
    fetch(to, buffer, nullptr);
    FERRY_OK(cuda().cuStreamSynchronize(nullptr));
    ASSERT_TRUE(to.holds(round)) << "round " << round;
  }
}

TEST_F(Order, BlockingStreamsWaitForTheDefaultStream) {
  const StreamOwner blocking(CU_STREAM_DEFAULT);
  const DeviceBuffer buffer(4096);
  const PinnedBuffer to(4096);
  for (int round = 1; round <= kRounds; ++round) {
    fill(buffer, round, nullptr);
    fetch(to, buffer, blocking.handle);
    FERRY_OK(cuda().cuStreamSynchronize(blocking.handle));
    ASSERT_TRUE(to.holds(round)) << "round " << round;
  }
}

TEST_F(Order, TwoBlockingStreamsAreOrderedThroughTheDefaultStream) {
  const StreamOwner first(CU_STREAM_DEFAULT);
  const StreamOwner second(CU_STREAM_DEFAULT);
  const DeviceBuffer buffer(4096);
  const DeviceBuffer other(4096);
  const PinnedBuffer to(4096);
  for (int round = 1; round <= kRounds; ++round) {
    fill(buffer, round, first.handle);
    fill(other, 0, CU_STREAM_LEGACY);
    fetch(to, buffer, second.handle);
    FERRY_OK(cuda().cuStreamSynchronize(second.handle));
    ASSERT_TRUE(to.holds(round)) << "round " << round;
  }
}

TEST_F(Order, AnEventOnTheDefaultStreamCoversBlockingStreams) {
  const StreamOwner blocking(CU_STREAM_DEFAULT);
  const EventOwner event;
  const DeviceBuffer buffer(4096);
  const PinnedBuffer to(4096);
  for (int round = 1; round <= kRounds; ++round) {
    fill(buffer, round, blocking.handle);
    fetch(to, buffer, blocking.handle);
    FERRY_OK(cuda().cuEventRecord(event.handle, nullptr));
    FERRY_OK(cuda().cuEventSynchronize(event.handle));
    ASSERT_TRUE(to.holds(round)) << "round " << round;
  }
}

TEST_F(Order, ThePerThreadStreamIsAStream) {
  const DeviceBuffer buffer(4096);
  const PinnedBuffer to(4096);
  fill(buffer, 35, CU_STREAM_PER_THREAD);
  fetch(to, buffer, CU_STREAM_PER_THREAD);
  FERRY_OK(cuda().cuStreamSynchronize(CU_STREAM_PER_THREAD));
  EXPECT_TRUE(to.holds(35));
}

TEST_F(Order, SynchronisingTheContextFinishesAllStreams) {
  const StreamOwner a;
  const StreamOwner b;
  const DeviceBuffer first(4096);
  const DeviceBuffer second(4096);
  const PinnedBuffer to_first(4096);
  const PinnedBuffer to_second(4096);
  fill(first, 41, a.handle);
  fetch(to_first, first, a.handle);
  fill(second, 42, b.handle);
  fetch(to_second, second, b.handle);
  FERRY_OK(cuda().cuCtxSynchronize());
  EXPECT_TRUE(to_first.holds(41));
  EXPECT_TRUE(to_second.holds(42));
}

TEST_F(Order, AnEventOfTheContextCoversAllStreams) {
  if (cuda().cuCtxRecordEvent == nullptr) GTEST_SKIP() << "the driver has no cuCtxRecordEvent";
  const StreamOwner a;
  const StreamOwner b;
  const StreamOwner waiting;
  const EventOwner event;
  const DeviceBuffer first(4096);
  const DeviceBuffer second(4096);
  const PinnedBuffer to_first(4096);
  const PinnedBuffer to_second(4096);
  for (int round = 1; round <= kRounds; ++round) {
    fill(first, round, a.handle);
    fill(second, round + 100, b.handle);
    FERRY_OK(cuda().cuCtxRecordEvent(context, event.handle));
    FERRY_OK(cuda().cuStreamWaitEvent(waiting.handle, event.handle, 0));
    fetch(to_first, first, waiting.handle);
    fetch(to_second, second, waiting.handle);
    FERRY_OK(cuda().cuStreamSynchronize(waiting.handle));
    ASSERT_TRUE(to_first.holds(round)) << "round " << round;
    ASSERT_TRUE(to_second.holds(round + 100)) << "round " << round;
  }
}

TEST_F(Order, DestroyedStreamsFinishTheirWork) {
  CUstream stream = nullptr;
  FERRY_OK(cuda().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const DeviceBuffer buffer(4096);
  const PinnedBuffer to(4096);
  fill(buffer, 51, stream);
  fetch(to, buffer, stream);
  FERRY_OK(cuda().cuStreamDestroy_v2(stream));
  FERRY_OK(cuda().cuCtxSynchronize());
  EXPECT_TRUE(to.holds(51));
}

TEST_F(Order, DestroyedEventsStillOrderWhatWaitsForThem) {
  const StreamOwner producer;
  const StreamOwner consumer;
  const DeviceBuffer buffer(4096);
  const PinnedBuffer to(4096);
  CUevent event = nullptr;
  FERRY_OK(cuda().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  fill(buffer, 52, producer.handle);
  FERRY_OK(cuda().cuEventRecord(event, producer.handle));
  FERRY_OK(cuda().cuStreamWaitEvent(consumer.handle, event, 0));
  FERRY_OK(cuda().cuEventDestroy_v2(event));
  fetch(to, buffer, consumer.handle);
  FERRY_OK(cuda().cuStreamSynchronize(consumer.handle));
  EXPECT_TRUE(to.holds(52));
}

TEST_F(Order, ElapsedTimeIsNotNegative) {
  const StreamOwner stream;
  const EventOwner begin(CU_EVENT_DEFAULT);
  const EventOwner end(CU_EVENT_DEFAULT);
  const DeviceBuffer buffer(kMiB);
  FERRY_OK(cuda().cuEventRecord(begin.handle, stream.handle));
  fill(buffer, 1, stream.handle);
  FERRY_OK(cuda().cuEventRecord(end.handle, stream.handle));
  FERRY_OK(cuda().cuEventSynchronize(end.handle));
  float milliseconds = -1;
  FERRY_OK(cuda().cuEventElapsedTime(&milliseconds, begin.handle, end.handle));
  EXPECT_GE(milliseconds, 0);
}

TEST_F(Order, ElapsedTimeNeedsRecordsWithTiming) {
  const StreamOwner stream;
  const EventOwner timed(CU_EVENT_DEFAULT);
  const EventOwner untimed(CU_EVENT_DISABLE_TIMING);
  float milliseconds = 0;
  EXPECT_EQ(cuda().cuEventElapsedTime(&milliseconds, timed.handle, timed.handle),
            CUDA_ERROR_INVALID_HANDLE)
      << "never recorded";
  FERRY_OK(cuda().cuEventRecord(timed.handle, stream.handle));
  FERRY_OK(cuda().cuEventRecord(untimed.handle, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_EQ(cuda().cuEventElapsedTime(&milliseconds, timed.handle, untimed.handle),
            CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Order, StreamsKnowThemselves) {
  const StreamOwner stream(CU_STREAM_NON_BLOCKING);
  unsigned flags = 0;
  FERRY_OK(cuda().cuStreamGetFlags(stream.handle, &flags));
  EXPECT_EQ(flags, unsigned{CU_STREAM_NON_BLOCKING});
  CUcontext owner = nullptr;
  FERRY_OK(cuda().cuStreamGetCtx(stream.handle, &owner));
  EXPECT_EQ(owner, context);
  FERRY_OK(cuda().cuStreamGetCtx(nullptr, &owner));
  EXPECT_EQ(owner, context);
  CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  FERRY_OK(cuda().cuStreamIsCapturing(stream.handle, &capturing));
  EXPECT_EQ(capturing, CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(Order, PrioritiesAreClamped) {
  int least = 0;
  int greatest = 0;
  FERRY_OK(cuda().cuCtxGetStreamPriorityRange(&least, &greatest));
  for (const auto& [asked, wanted] :
       {std::pair{greatest - 100, greatest}, std::pair{least + 100, least}}) {
    CUstream stream = nullptr;
    FERRY_OK(cuda().cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, asked));
    int priority = 99;
    FERRY_OK(cuda().cuStreamGetPriority(stream, &priority));
    EXPECT_EQ(priority, wanted);
    FERRY_OK(cuda().cuStreamDestroy_v2(stream));
  }
}

TEST_F(Order, BadCreationsAreRefused) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  EXPECT_EQ(cuda().cuStreamCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuStreamCreate(&stream, 0x80), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuEventCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuEventCreate(&event, 0x80), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuEventCreate(&event, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE)
      << "needs DISABLE_TIMING";
}

TEST_F(Order, NullHandlesAreRefused) {
  const StreamOwner stream;
  EXPECT_EQ(cuda().cuEventRecord(nullptr, stream.handle), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuda().cuEventQuery(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuda().cuEventSynchronize(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuda().cuEventDestroy_v2(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuda().cuStreamWaitEvent(stream.handle, nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuda().cuStreamDestroy_v2(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Order, AnEventOfAnotherContextIsNotRecorded) {
  CUcontext other = nullptr;
  FERRY_OK(cuda().cuCtxCreate_v2(&other, 0, device));
  CUstream stream = nullptr;
  FERRY_OK(cuda().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  FERRY_OK(cuda().cuCtxPopCurrent_v2(nullptr));
  {
    const EventOwner event;
    EXPECT_EQ(cuda().cuEventRecord(event.handle, stream), CUDA_ERROR_INVALID_HANDLE);
  }
  FERRY_OK(cuda().cuCtxDestroy_v2(other));
}

TEST_F(Order, AnEventOfAnotherContextCanBeWaitedFor) {
  const EventOwner event;
  const DeviceBuffer buffer(4096);
  const PinnedBuffer to(4096);
  const StreamOwner producer;
  fill(buffer, 61, producer.handle);
  FERRY_OK(cuda().cuEventRecord(event.handle, producer.handle));
  CUcontext other = nullptr;
  FERRY_OK(cuda().cuCtxCreate_v2(&other, 0, device));
  {
    const StreamOwner consumer;
    FERRY_OK(cuda().cuStreamWaitEvent(consumer.handle, event.handle, 0));
    FERRY_OK(cuda().cuStreamSynchronize(consumer.handle));
    FERRY_OK(cuda().cuEventQuery(event.handle)) << "the wait covered the record";
  }
  FERRY_OK(cuda().cuCtxDestroy_v2(other));
  FERRY_OK(cuda().cuMemcpyDtoH_v2(to.pointer, buffer.address, 4096));
  EXPECT_TRUE(to.holds(61));
}

TEST_F(Order, HandlesServeEveryThread) {
  const StreamOwner stream;
  const EventOwner event;
  const DeviceBuffer buffer(4096);
  const PinnedBuffer to(4096);
  std::thread([&] {
    EXPECT_EQ(cuda().cuCtxSetCurrent(context), CUDA_SUCCESS);
    fill(buffer, 71, stream.handle);
    fetch(to, buffer, stream.handle);
    EXPECT_EQ(cuda().cuEventRecord(event.handle, stream.handle), CUDA_SUCCESS);
  }).join();
  FERRY_OK(cuda().cuEventSynchronize(event.handle));
  EXPECT_TRUE(to.holds(71));
}

TEST_F(Order, ManyThreadsOnTheirOwnStreams) {
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([this, number] {
      EXPECT_EQ(cuda().cuCtxSetCurrent(context), CUDA_SUCCESS);
      const StreamOwner stream;
      const DeviceBuffer buffer(4096);
      const PinnedBuffer to(4096);
      for (int round = 0; round < 25; ++round) {
        const int value = number * 25 + round;
        fill(buffer, value, stream.handle);
        fetch(to, buffer, stream.handle);
        EXPECT_EQ(cuda().cuStreamSynchronize(stream.handle), CUDA_SUCCESS);
        EXPECT_TRUE(to.holds(value));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace ferry::conformance
