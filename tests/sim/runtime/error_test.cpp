// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <thread>

#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime {
namespace {

TEST_F(RuntimeTest, TheLastErrorStaysUntilItIsTaken) {
  EXPECT_EQ(cudaSetDevice(9), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  FERRY_OK(cudaDeviceSynchronize());
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(RuntimeTest, EachThreadHasItsError) {
  EXPECT_EQ(cudaSetDevice(9), cudaErrorInvalidDevice);
  cudaError_t there = cudaErrorUnknown;
  std::thread([&] { there = cudaGetLastError(); }).join();
  EXPECT_EQ(there, cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST_F(RuntimeTest, WorkThatIsNotDoneIsAnErrorToo) {
  restart("schedule=lazy");
  cudaEvent_t event = nullptr;
  FERRY_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  FERRY_OK(cudaMemsetAsync(allocate(64), 1, 64, nullptr));
  FERRY_OK(cudaEventRecord(event, nullptr));
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady);
}

TEST_F(RuntimeTest, ErrorsHaveNamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidMemcpyDirection),
               "cudaErrorInvalidMemcpyDirection");
  EXPECT_STREQ(cudaGetErrorName(std::bit_cast<cudaError_t>(123456)), "unrecognized error code");
  EXPECT_STREQ(cudaGetErrorString(std::bit_cast<cudaError_t>(123456)), "unrecognized error code");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
}

}  // namespace
}  // namespace ferry::sim::runtime
