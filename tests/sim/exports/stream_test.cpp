// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsStreamTest : public SimTest {
 protected:
  void SetUp() override { restart("schedule=lazy"); }
};

TEST_F(ExportsStreamTest, AQueryLetsALittleHappenAfterAWhile) {
  const CUdeviceptr address = allocate(4096);
  const CUstream a_stream = stream();
  FERRY_OK(cuMemsetD32Async(address, 1, 1024, a_stream));
  EXPECT_EQ(cuStreamQuery(a_stream), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(a_stream), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(a_stream), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(peek(address), kUnwritten);
  EXPECT_EQ(cuStreamQuery(a_stream), CUDA_SUCCESS);
  EXPECT_EQ(peek(address), 1U);
}

TEST_F(ExportsStreamTest, QueryingTheDefaultStreamLooksAtBlockingStreams) {
  const CUdeviceptr address = allocate(4096);
  CUstream blocking = nullptr;
  FERRY_OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_SUCCESS);
  FERRY_OK(cuMemsetD32Async(address, 1, 1024, blocking));
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  FERRY_OK(cuStreamSynchronize(nullptr));
  EXPECT_EQ(peek(address), 1U);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_SUCCESS);
}

TEST_F(ExportsStreamTest, DestroyedHandlesAreRefusedEverywhere) {
  const CUstream gone = stream();
  FERRY_OK(cuStreamDestroy_v2(gone));
  unsigned flags = 0;
  int priority = 0;
  CUcontext owner = nullptr;
  CUstreamCaptureStatus status{};
  EXPECT_EQ(cuStreamDestroy_v2(gone), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamQuery(gone), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamSynchronize(gone), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamWaitEvent(gone, event(), 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamGetFlags(gone, &flags), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamGetPriority(gone, &priority), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamGetCtx(gone, &owner), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamIsCapturing(gone, &status), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMemsetD8Async(allocate(16), 1, 16, gone), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(event(), gone), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ExportsStreamTest, NullOutputsAreRefused) {
  const CUstream a_stream = stream();
  EXPECT_EQ(cuStreamGetFlags(a_stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamGetPriority(a_stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamGetCtx(a_stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamIsCapturing(a_stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWaitEvent(a_stream, event(), 1), CUDA_ERROR_INVALID_VALUE)
      << "external waits are for captures";
}

TEST_F(ExportsStreamTest, DefaultStreamsHaveDefaultFlagsAndPriority) {
  unsigned flags = 99;
  int priority = 99;
  FERRY_OK(cuStreamGetFlags(nullptr, &flags));
  FERRY_OK(cuStreamGetPriority(CU_STREAM_PER_THREAD, &priority));
  EXPECT_EQ(flags, 0U);
  EXPECT_EQ(priority, 0);
}

TEST_F(ExportsStreamTest, AHostFunctionMayWaitForAnotherThreadsCall) {
  // As a callback that takes a lock does, which a thread holds that is about to call the driver.
  const CUstream a_stream = stream();
  struct Shared {
    std::mutex mutex;
    bool reached = false;
  } shared;
  shared.mutex.lock();
  FERRY_OK(cuLaunchHostFunc(
      a_stream,
      [](void* data) {
        Shared& both = *static_cast<Shared*>(data);
        const std::lock_guard held(both.mutex);
        both.reached = true;
      },
      &shared));
  std::thread waiting([&] {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(a_stream), CUDA_SUCCESS);
  });
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc_v2(&address, 4096), CUDA_SUCCESS) << "must not wait for the host function";
  shared.mutex.unlock();
  waiting.join();
  EXPECT_TRUE(shared.reached);
}

TEST_F(ExportsStreamTest, NoHostFunctionAfterAFault) {
  const CUstream a_stream = stream();
  bool called = false;
  FERRY_OK(cuMemsetD8Async(allocate(16), 1, 17, a_stream));
  FERRY_OK(cuLaunchHostFunc(
      a_stream, [](void* data) { *static_cast<bool*>(data) = true; }, &called));
  EXPECT_EQ(cuStreamSynchronize(a_stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_FALSE(called);
  EXPECT_EQ(cuStreamQuery(a_stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuStreamDestroy_v2(a_stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuStreamDestroy_v2(a_stream), CUDA_ERROR_INVALID_HANDLE)
      << "it was destroyed all the same";
}

}  // namespace
}  // namespace ferry::sim
