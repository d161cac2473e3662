// SPDX-License-Identifier: Apache-2.0
// Contexts: the stack of each thread, the primary context, life and death.
#include <thread>

#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

class Context : public WithContext {};

CUcontext current() {
  CUcontext context = nullptr;
  EXPECT_EQ(cuda().cuCtxGetCurrent(&context), CUDA_SUCCESS);
  return context;
}

TEST_F(Context, PushAndPopMakeAStack) {
  CUcontext other = nullptr;
  FERRY_OK(cuda().cuCtxCreate_v2(&other, 0, device));
  EXPECT_EQ(current(), other) << "a new context becomes current";
  FERRY_OK(cuda().cuCtxPushCurrent_v2(context));
  EXPECT_EQ(current(), context);
  CUcontext popped = nullptr;
  FERRY_OK(cuda().cuCtxPopCurrent_v2(&popped));
  EXPECT_EQ(popped, context);
  EXPECT_EQ(current(), other);
  FERRY_OK(cuda().cuCtxDestroy_v2(other));
  EXPECT_EQ(current(), context) << "destroying the current context pops it";
}

TEST_F(Context, SetCurrentReplacesTheTop) {
  CUcontext other = nullptr;
  FERRY_OK(cuda().cuCtxCreate_v2(&other, 0, device));
  FERRY_OK(cuda().cuCtxPopCurrent_v2(nullptr));
  FERRY_OK(cuda().cuCtxSetCurrent(other));
  EXPECT_EQ(current(), other);
  FERRY_OK(cuda().cuCtxSetCurrent(nullptr));
  EXPECT_EQ(current(), nullptr);
  FERRY_OK(cuda().cuCtxDestroy_v2(other));
  FERRY_OK(cuda().cuCtxPushCurrent_v2(context));
}

TEST_F(Context, EachThreadHasItsOwn) {
  CUcontext seen = context;
  CUresult without_context = CUDA_SUCCESS;
  std::thread([&] {
    seen = current();
    CUdeviceptr address = 0;
    without_context = cuda().cuMemAlloc_v2(&address, 4096);
  }).join();
  EXPECT_EQ(seen, nullptr);
  EXPECT_EQ(without_context, CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Context, KnowsItsDevice) {
  CUdevice seen = -1;
  FERRY_OK(cuda().cuCtxGetDevice(&seen));
  EXPECT_EQ(seen, device);
}

TEST_F(Context, PrimaryIsOneAndCounted) {
  CUcontext again = nullptr;
  FERRY_OK(cuda().cuDevicePrimaryCtxRetain(&again, device));
  EXPECT_EQ(again, context);
  FERRY_OK(cuda().cuDevicePrimaryCtxRelease_v2(device));
  unsigned flags = 99;
  int active = 0;
  FERRY_OK(cuda().cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT_EQ(active, 1) << "still retained once";
}

TEST_F(Context, ReleasingWhatIsNotRetainedFails) {
  FERRY_OK(cuda().cuDevicePrimaryCtxRelease_v2(device));
  EXPECT_EQ(cuda().cuDevicePrimaryCtxRelease_v2(device), CUDA_ERROR_INVALID_CONTEXT);
  CUcontext again = nullptr;
  FERRY_OK(cuda().cuDevicePrimaryCtxRetain(&again, device));
  EXPECT_EQ(again, context);
}

TEST_F(Context, PrimaryFlagsAreOverwritten) {
  FERRY_OK(cuda().cuDevicePrimaryCtxSetFlags_v2(device, CU_CTX_SCHED_BLOCKING_SYNC));
  unsigned flags = 0;
  int active = 0;
  FERRY_OK(cuda().cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT_EQ(flags & CU_CTX_SCHED_MASK, unsigned{CU_CTX_SCHED_BLOCKING_SYNC});
  FERRY_OK(cuda().cuDevicePrimaryCtxSetFlags_v2(device, 0));
  EXPECT_EQ(cuda().cuDevicePrimaryCtxSetFlags_v2(device, 0x8000), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Context, DestroyedContextsAreGone) {
  CUcontext other = nullptr;
  FERRY_OK(cuda().cuCtxCreate_v2(&other, 0, device));
  CUdeviceptr address = 0;
  FERRY_OK(cuda().cuMemAlloc_v2(&address, kMiB));
  FERRY_OK(cuda().cuCtxDestroy_v2(other));
  CUdeviceptr base = 0;
  EXPECT_NE(cuda().cuMemGetAddressRange_v2(&base, nullptr, address), CUDA_SUCCESS)
      << "its memory went with it";
}

TEST_F(Context, BadArguments) {
  CUcontext other = nullptr;
  EXPECT_EQ(cuda().cuCtxCreate_v2(nullptr, 0, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuCtxCreate_v2(&other, 0, 4711), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuda().cuDevicePrimaryCtxRetain(&other, 4711), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuda().cuDevicePrimaryCtxRetain(nullptr, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuDevicePrimaryCtxRelease_v2(4711), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuda().cuCtxGetDevice(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuCtxDestroy_v2(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Context, WithoutOneMostCallsFail) {
  FERRY_OK(cuda().cuCtxPopCurrent_v2(nullptr));
  std::size_t free = 0;
  std::size_t total = 0;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  void* pointer = nullptr;
  EXPECT_EQ(cuda().cuMemGetInfo_v2(&free, &total), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuda().cuStreamCreate(&stream, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuda().cuEventCreate(&event, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuda().cuMemHostAlloc(&pointer, 4096, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuda().cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuda().cuCtxPopCurrent_v2(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  FERRY_OK(cuda().cuCtxPushCurrent_v2(context));
}

TEST_F(Context, PrioritiesAreARange) {
  int least = -100;
  int greatest = -100;
  FERRY_OK(cuda().cuCtxGetStreamPriorityRange(&least, &greatest));
  EXPECT_GE(least, greatest) << "lower numbers are greater priorities";
  FERRY_OK(cuda().cuCtxGetStreamPriorityRange(nullptr, nullptr));
}

}  // namespace
}  // namespace ferry::conformance
