// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>

#include <thread>

#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime {
namespace {

TEST_F(RuntimeTest, AThreadThatNeverChoseWorksOnTheFirstDevice) {
  cudaPointerAttributes attributes{};
  std::thread([&] {
    static_cast<void>(cudaPointerGetAttributes(&attributes, allocate(64)));
  }).join();
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
}

TEST_F(RuntimeTest, AContextThatTheProgramMadeCurrentStays) {
  CUcontext second = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&second, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(second), CUDA_SUCCESS);
  int device = -1;
  FERRY_OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 1);
  cudaPointerAttributes attributes{};
  FERRY_OK(cudaPointerGetAttributes(&attributes, allocate(64)));
  EXPECT_EQ(attributes.device, 1);
}

TEST_F(RuntimeTest, AContextResetByTheDriverIsRetainedAgain) {
  ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_NE(allocate(64), nullptr);
}

}  // namespace
}  // namespace ferry::sim::runtime
