// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime_test {
namespace {

using RuntimeStreamTest = ScheduledRuntimeTest;

// A host function that leaves a mark.
void note(void* flag) {
  *static_cast<bool*>(flag) = true;
}

TEST_P(RuntimeStreamTest, AStreamKnowsItself) {
  cudaStream_t blocking = nullptr;
  FERRY_RT_OK(cudaStreamCreate(&blocking));
  const cudaStream_t own = stream();
  unsigned flags = 7;
  FERRY_RT_OK(cudaStreamGetFlags(blocking, &flags));
  EXPECT_EQ(flags, unsigned{cudaStreamDefault});
  FERRY_RT_OK(cudaStreamGetFlags(own, &flags));
  EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
  unsigned long long first = 0;
  unsigned long long second = 0;
  FERRY_RT_OK(cudaStreamGetId(blocking, &first));
  FERRY_RT_OK(cudaStreamGetId(own, &second));
  EXPECT_NE(first, second);
  int greatest = 0;
  FERRY_RT_OK(cudaDeviceGetStreamPriorityRange(nullptr, &greatest));
  cudaStream_t urgent = nullptr;
  FERRY_RT_OK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
  int priority = 1;
  FERRY_RT_OK(cudaStreamGetPriority(urgent, &priority));
  EXPECT_EQ(priority, greatest);
  EXPECT_EQ(cudaStreamCreateWithFlags(&urgent, 0x80), cudaErrorInvalidValue);
}

TEST_P(RuntimeStreamTest, AStreamBelongsToItsDevice) {
  restart(std::string("devices=2;") + GetParam());
  FERRY_RT_OK(cudaSetDevice(1));
  const cudaStream_t there = stream();
  FERRY_RT_OK(cudaSetDevice(0));
  int device = -1;
  FERRY_RT_OK(cudaStreamGetDevice(there, &device));
  EXPECT_EQ(device, 1);
}

TEST_P(RuntimeStreamTest, ADestroyedStreamIsNone) {
  const cudaStream_t own = stream();
  FERRY_RT_OK(cudaStreamDestroy(own));
  EXPECT_NE(cudaStreamSynchronize(own), cudaSuccess);
}

TEST_P(RuntimeStreamTest, WhatIsNotReadySaysSoAndIsTheLastError) {
  const cudaStream_t own = stream();
  const cudaEvent_t reached = event();
  FERRY_RT_OK(cudaMemsetAsync(allocate(4), 0, 4, own));
  FERRY_RT_OK(cudaEventRecord(reached, own));
  if (eager()) {
    EXPECT_EQ(cudaStreamQuery(own), cudaSuccess);
  } else if (lazy()) {
    EXPECT_EQ(cudaStreamQuery(own), cudaErrorNotReady);
    EXPECT_EQ(cudaEventQuery(reached), cudaErrorNotReady);
    EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady);
  }
  FERRY_RT_OK(cudaEventSynchronize(reached));
  FERRY_RT_OK(cudaEventQuery(reached));
  FERRY_RT_OK(cudaStreamSynchronize(own));
  FERRY_RT_OK(cudaStreamQuery(own));
}

TEST_P(RuntimeStreamTest, AWaitOrdersTwoStreams) {
  const cudaStream_t first = stream();
  const cudaStream_t second = stream();
  const cudaEvent_t written = event();
  auto* const host = allocate_host<std::uint32_t>(1);
  void* const memory = allocate(4);
  FERRY_RT_OK(cudaMemsetAsync(memory, 8, 4, first));
  FERRY_RT_OK(cudaEventRecordWithFlags(written, first, cudaEventRecordDefault));
  FERRY_RT_OK(cudaStreamWaitEvent(second, written, 0));
  FERRY_RT_OK(cudaMemcpyAsync(host, memory, 4, cudaMemcpyDeviceToHost, second));
  FERRY_RT_OK(cudaStreamSynchronize(second));
  EXPECT_EQ(*host, 0x08080808U);
  FERRY_RT_OK(cudaEventDestroy(written));
}

TEST_P(RuntimeStreamTest, TimeBetweenTwoEvents) {
  const cudaStream_t own = stream();
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  FERRY_RT_OK(cudaEventCreate(&start));
  FERRY_RT_OK(cudaEventCreate(&end));
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  FERRY_RT_OK(cudaEventRecord(start, own));
  void* const memory = allocate(4);
  for (int i = 0; i < 10; ++i) FERRY_RT_OK(cudaMemsetAsync(memory, i, 4, own));
  FERRY_RT_OK(cudaEventRecord(end, own));
  if (lazy()) {
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorNotReady);
  }
  FERRY_RT_OK(cudaEventSynchronize(end));
  FERRY_RT_OK(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT_NEAR(milliseconds, 0.010F, 0.0011F);  // a microsecond for each
}

TEST_P(RuntimeStreamTest, AnEventWithoutTimesHasNone) {
  const cudaEvent_t first = event();
  const cudaEvent_t second = event();
  FERRY_RT_OK(cudaEventRecord(first, nullptr));
  FERRY_RT_OK(cudaEventRecord(second, nullptr));
  FERRY_RT_OK(cudaDeviceSynchronize());
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, second), cudaErrorInvalidResourceHandle);
  cudaEvent_t none = nullptr;
  EXPECT_EQ(cudaEventCreateWithFlags(&none, 0x100), cudaErrorInvalidValue);
}

TEST_P(RuntimeStreamTest, AHostFunctionComesAfterWhatIsBeforeIt) {
  const cudaStream_t own = stream();
  struct Seen {
    std::uint32_t* host;
    std::uint32_t value = 0;
  } seen{allocate_host<std::uint32_t>(1)};
  *seen.host = 0;
  void* const memory = allocate(4);
  FERRY_RT_OK(cudaMemsetAsync(memory, 5, 4, own));
  FERRY_RT_OK(cudaMemcpyAsync(seen.host, memory, 4, cudaMemcpyDeviceToHost, own));
  FERRY_RT_OK(cudaLaunchHostFunc(
      own,
      [](void* data) {
        auto* const to = static_cast<Seen*>(data);
        to->value = *to->host;
      },
      &seen));
  FERRY_RT_OK(cudaStreamSynchronize(own));
  EXPECT_EQ(seen.value, 0x05050505U);
  EXPECT_EQ(cudaLaunchHostFunc(own, nullptr, nullptr), cudaErrorInvalidValue);
}

TEST_P(RuntimeStreamTest, ACallbackIsToldItsStreamAndTheRuntimesError) {
  const cudaStream_t own = stream();
  struct Told {
    cudaStream_t stream = nullptr;
    cudaError_t status = cudaErrorUnknown;
    int calls = 0;
  } told;
  FERRY_RT_OK(cudaStreamAddCallback(
      own,
      [](cudaStream_t stream, cudaError_t status, void* data) {
        auto* const to = static_cast<Told*>(data);
        to->stream = stream;
        to->status = status;
        ++to->calls;
      },
      &told, 0));
  FERRY_RT_OK(cudaStreamSynchronize(own));
  EXPECT_EQ(told.stream, own);
  EXPECT_EQ(told.status, cudaSuccess);
  EXPECT_EQ(told.calls, 1);
  EXPECT_EQ(cudaStreamAddCallback(own, nullptr, nullptr, 0), cudaErrorInvalidValue);
}

TEST_P(RuntimeStreamTest, TheDefaultStreamWaitsForTheBlockingOnes) {
  cudaStream_t blocking = nullptr;
  FERRY_RT_OK(cudaStreamCreate(&blocking));
  bool ran = false;
  FERRY_RT_OK(cudaLaunchHostFunc(blocking, note, &ran));
  FERRY_RT_OK(cudaMemsetAsync(allocate(4), 0, 4, nullptr));
  FERRY_RT_OK(cudaStreamSynchronize(nullptr));
  EXPECT_TRUE(ran);
}

FERRY_EVERY_SCHEDULE(RuntimeStreamTest);

}  // namespace
}  // namespace ferry::sim::runtime_test
