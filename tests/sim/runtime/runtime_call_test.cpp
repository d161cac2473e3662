// SPDX-License-Identifier: Apache-2.0
// The last error of a thread, and what every call does first.
#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime_test {
namespace {

using RuntimeCallTest = RuntimeTest;

TEST_F(RuntimeCallTest, TheLastErrorStaysUntilItIsTaken) {
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  FERRY_RT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(RuntimeCallTest, TheNewestErrorCounts) {
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetDevice(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST_F(RuntimeCallTest, EveryThreadHasItsOwn) {
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  elsewhere([] {
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
  });
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST_F(RuntimeCallTest, TheDriversErrorsAreTheRuntimes) {
  void* pointer = this;
  fail_nth("cuMemAlloc", 1, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  FERRY_RT_OK(cudaMalloc(&pointer, 4));
}

TEST_F(RuntimeCallTest, ADeadContextAnswersEveryCallWithTheSameError) {
  void* const memory = allocate(4);
  reset("fault=cuMemsetD8@1:CUDA_ERROR_ILLEGAL_ADDRESS,sticky");
  FERRY_RT_OK(cudaSetDevice(0));
  EXPECT_EQ(cudaMemset(memory, 0, 4), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
}

TEST_F(RuntimeCallTest, TheFirstCallMakesAContext) {
  reset("");
  elsewhere([] {
    CUcontext before = nullptr;
    CUcontext after = nullptr;
    ASSERT_EQ(cuCtxGetCurrent(&before), CUDA_SUCCESS);
    EXPECT_EQ(before, nullptr);
    FERRY_RT_OK(cudaFree(nullptr));
    ASSERT_EQ(cuCtxGetCurrent(&after), CUDA_SUCCESS);
    EXPECT_NE(after, nullptr);
  });
}

}  // namespace
}  // namespace ferry::sim::runtime_test
