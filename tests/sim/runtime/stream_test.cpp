// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime {
namespace {

TEST_F(RuntimeTest, EventsOrderStreams) {
  restart("schedule=lazy");
  char* const device = allocate(64);
  char* const to = allocate_host(64);
  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  cudaEvent_t done = nullptr;
  FERRY_OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  FERRY_OK(cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, -1));
  FERRY_OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  FERRY_OK(cudaMemsetAsync(device, 3, 64, first));
  FERRY_OK(cudaEventRecord(done, first));
  FERRY_OK(cudaStreamWaitEvent(second, done, 0));
  FERRY_OK(cudaMemcpyAsync(to, device, 64, cudaMemcpyDeviceToHost, second));
  FERRY_OK(cudaStreamSynchronize(second));
  EXPECT_EQ(to[0], 3);
  int priority = 0;
  FERRY_OK(cudaStreamGetPriority(second, &priority));
  EXPECT_EQ(priority, -1);
  unsigned flags = 0;
  FERRY_OK(cudaStreamGetFlags(first, &flags));
  EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
  FERRY_OK(cudaStreamDestroy(first));
  FERRY_OK(cudaEventDestroy(done));
}

TEST_F(RuntimeTest, AMissingWaitIsNamed) {
  char* const device = allocate(64);
  cudaStream_t stream = nullptr;
  FERRY_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  FERRY_OK(cudaMemsetAsync(device, 3, 64, nullptr));
  FERRY_OK(cudaMemsetAsync(device, 4, 64, stream));
  EXPECT_EQ(take_hazards(), 1U);
}

TEST_F(RuntimeTest, EventsMeasureModelledTime) {
  restart("profile=h200-pcie5");
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  FERRY_OK(cudaEventCreate(&begin));
  FERRY_OK(cudaEventCreate(&end));
  FERRY_OK(cudaEventRecord(begin, nullptr));
  FERRY_OK(cudaMemsetAsync(allocate(64 << 20), 0, 64 << 20, nullptr));
  FERRY_OK(cudaEventRecordWithFlags(end, nullptr, 0));
  FERRY_OK(cudaEventSynchronize(end));
  float milliseconds = 0;
  FERRY_OK(cudaEventElapsedTime(&milliseconds, begin, end));
  EXPECT_GT(milliseconds, 0.005F);
}

TEST_F(RuntimeTest, FunctionsOfTheHost) {
  int calls = 0;
  FERRY_OK(cudaLaunchHostFunc(
      nullptr, [](void* count) { ++*static_cast<int*>(count); }, &calls));
  FERRY_OK(cudaStreamAddCallback(
      nullptr,
      [](cudaStream_t, cudaError_t status, void* count) {
        if (status == cudaSuccess) ++*static_cast<int*>(count);
      },
      &calls, 0));
  FERRY_OK(cudaDeviceSynchronize());
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace ferry::sim::runtime
