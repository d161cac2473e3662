// SPDX-License-Identifier: Apache-2.0
// Which device a thread works on, and the life of the contexts that the runtime keeps.
#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime_test {
namespace {

CUcontext current() {
  CUcontext context = nullptr;
  EXPECT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
  return context;
}

int device_of(const void* memory) {
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
  return attributes.device;
}

class PrimaryContextsTest : public RuntimeTest {
 protected:
  void SetUp() override { restart("devices=2"); }
};

TEST_F(PrimaryContextsTest, TheRuntimeWorksInThePrimaryContext) {
  CUcontext primary = nullptr;
  FERRY_RT_OK(cudaFree(nullptr));
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
  EXPECT_EQ(current(), primary);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  FERRY_RT_OK(cudaFree(nullptr));  // still held by the runtime
}

TEST_F(PrimaryContextsTest, TheChoiceIsTheThreadsOwn) {
  FERRY_RT_OK(cudaSetDevice(1));
  EXPECT_EQ(device_of(allocate(4)), 1);
  elsewhere([] {
    int device = -1;
    FERRY_RT_OK(cudaGetDevice(&device));
    EXPECT_EQ(device, 0);
    EXPECT_EQ(device_of(allocate(4)), 0);
  });
  EXPECT_EQ(device_of(allocate(4)), 1);
}

TEST_F(PrimaryContextsTest, TheChoiceHoldsWhereTheProgramTookTheContextAway) {
  FERRY_RT_OK(cudaSetDevice(1));
  ASSERT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  int device = -1;
  FERRY_RT_OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 1);
  EXPECT_EQ(device_of(allocate(4)), 1);
}

TEST_F(PrimaryContextsTest, AskingForTheDeviceMakesNoContext) {
  reset("devices=2");
  elsewhere([] {
    int device = -1;
    FERRY_RT_OK(cudaGetDevice(&device));
    EXPECT_EQ(current(), nullptr);
  });
  unsigned flags = 0;
  int active = 1;
  ASSERT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 0);
}

TEST_F(PrimaryContextsTest, AContextThatTheProgramMadeCurrentStays) {
  CUcontext own = nullptr;
  ASSERT_EQ(cuCtxCreate(&own, nullptr, 0, 1), CUDA_SUCCESS);
  void* const memory = allocate(4);
  EXPECT_EQ(current(), own);
  EXPECT_EQ(device_of(memory), 1);
  int device = -1;
  FERRY_RT_OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 1);
  FERRY_RT_OK(cudaSetDevice(0));
  EXPECT_NE(current(), own);
  EXPECT_EQ(device_of(allocate(4)), 0);
}

TEST_F(PrimaryContextsTest, AResetTakesWhatTheDeviceHeld) {
  allocate(2 * kMiB);
  FERRY_RT_OK(cudaSetDevice(1));
  void* const other = allocate(2 * kMiB);
  FERRY_RT_OK(cudaSetDevice(0));
  ASSERT_GT(memory_in_use(0), 0U);
  const std::uint64_t of_the_other = memory_in_use(1);
  FERRY_RT_OK(cudaDeviceReset());
  EXPECT_EQ(memory_in_use(0), 0U);
  EXPECT_EQ(memory_in_use(1), of_the_other);
  FERRY_RT_OK(cudaSetDevice(1));
  FERRY_RT_OK(cudaFree(other));
}

TEST_F(PrimaryContextsTest, TheNextCallAfterAResetBeginsAnew) {
  FERRY_RT_OK(cudaSetDevice(1));
  void* const before = allocate(4);
  FERRY_RT_OK(cudaDeviceReset());
  EXPECT_EQ(device_of(allocate(4)), 1);
  EXPECT_EQ(cudaFree(before), cudaErrorInvalidValue);
}

TEST_F(PrimaryContextsTest, AResetHoldsForThreadsThatHadTheDeviceBefore) {
  allocate(4);
  elsewhere([] {
    FERRY_RT_OK(cudaFree(nullptr));
    elsewhere([] {
      FERRY_RT_OK(cudaSetDevice(0));
      FERRY_RT_OK(cudaDeviceReset());
    });
    void* memory = nullptr;
    FERRY_RT_OK(cudaMalloc(&memory, 4));
    EXPECT_EQ(device_of(memory), 0);
  });
}

TEST_F(PrimaryContextsTest, AResetByTheDriverIsSeen) {
  allocate(4);
  ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  FERRY_RT_OK(cudaSetDevice(0));
  FERRY_RT_OK(cudaFree(allocate(4)));
}

TEST_F(PrimaryContextsTest, AResetLeavesTheProgramsOwnContextCurrent) {
  allocate(4);
  CUcontext own = nullptr;
  ASSERT_EQ(cuCtxCreate(&own, nullptr, 0, 0), CUDA_SUCCESS);
  FERRY_RT_OK(cudaDeviceReset());
  EXPECT_EQ(current(), own);
}

}  // namespace
}  // namespace ferry::sim::runtime_test
