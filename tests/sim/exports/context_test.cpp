// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsContextTest : public SimTest {};

TEST_F(ExportsContextTest, AContextDestroyedElsewhereIsNoticed) {
  CUcontext other = nullptr;
  FERRY_OK(cuCtxCreate_v2(&other, 0, 0));
  std::thread([&] { EXPECT_EQ(cuCtxDestroy_v2(other), CUDA_SUCCESS); }).join();
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc_v2(&address, 4096), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuCtxDestroy_v2(other), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxSetCurrent(other), CUDA_ERROR_INVALID_CONTEXT);
  FERRY_OK(cuCtxPopCurrent_v2(nullptr));
  EXPECT_EQ(cuMemAlloc_v2(&address, 4096), CUDA_SUCCESS) << "the one below still lives";
}

TEST_F(ExportsContextTest, ThePrimaryContextIsNotDestroyedByHandle) {
  EXPECT_EQ(cuCtxDestroy_v2(context), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(ExportsContextTest, LastReleaseTakesEverythingAndAReturnStartsClean) {
  const CUdeviceptr address = allocate(4096);
  const CUstream old_stream = stream();
  FERRY_OK(cuDevicePrimaryCtxRelease_v2(0));
  EXPECT_EQ(ferry_sim_memory_in_use(0), 0U);
  CUdeviceptr other = 0;
  EXPECT_EQ(cuMemAlloc_v2(&other, 4096), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CUcontext again = nullptr;
  FERRY_OK(cuDevicePrimaryCtxRetain(&again, 0));
  EXPECT_EQ(again, context);
  EXPECT_EQ(cuStreamSynchronize(old_stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsContextTest, AResetKeepsTheReferences) {
  allocate(4096);
  FERRY_OK(cuDevicePrimaryCtxReset_v2(0));
  EXPECT_EQ(ferry_sim_memory_in_use(0), 0U);
  EXPECT_NE(allocate(4096), 0U) << "the context goes on";
  FERRY_OK(cuDevicePrimaryCtxRelease_v2(0));
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
  FERRY_OK(cuDevicePrimaryCtxReset_v2(0));
}

TEST_F(ExportsContextTest, VirtualMemoryOutlivesContexts) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle handle = 0;
  FERRY_OK(cuMemCreate(&handle, 2 * kMiB, &prop, 0));
  FERRY_OK(cuDevicePrimaryCtxReset_v2(0));
  EXPECT_EQ(ferry_sim_memory_in_use(0), 2 * kMiB);
  FERRY_OK(cuMemRelease(handle));
}

TEST_F(ExportsContextTest, CreationParametersAreRefusedWhereUnsupported) {
  CUcontext other = nullptr;
  CUctxCreateParams params{};
  FERRY_OK(cuCtxCreate_v4(&other, &params, 0, 0));
  FERRY_OK(cuCtxDestroy_v2(other));
  FERRY_OK(cuCtxCreate_v4(&other, nullptr, CU_CTX_SCHED_SPIN, 0));
  FERRY_OK(cuCtxDestroy_v2(other));
  params.numExecAffinityParams = 1;
  EXPECT_EQ(cuCtxCreate_v4(&other, &params, 0, 0), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
  CUctxCigParam cig{};
  params.cigParams = &cig;
  EXPECT_EQ(cuCtxCreate_v4(&other, &params, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuCtxCreate_v2(&other, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD, 0),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsContextTest, AnEventOfTheContextNeedsBothFromIt) {
  const CUevent an_event = event();
  EXPECT_EQ(cuCtxRecordEvent(reinterpret_cast<CUcontext>(an_event), an_event),
            CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxRecordEvent(context, nullptr), CUDA_ERROR_INVALID_HANDLE);
  CUcontext other = nullptr;
  FERRY_OK(cuCtxCreate_v2(&other, 0, 0));
  EXPECT_EQ(cuCtxRecordEvent(other, an_event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuCtxRecordEvent(context, an_event), CUDA_SUCCESS);
}

TEST_F(ExportsContextTest, OnlyTheCurrentContextIsDetached) {
  CUcontext created = nullptr;
  FERRY_OK(cuCtxCreate_v2(&created, 0, 0));
  EXPECT_EQ(cuCtxDetach(context), CUDA_ERROR_INVALID_CONTEXT);
  FERRY_OK(cuCtxDetach(created));
  EXPECT_EQ(cuCtxDetach(created), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxDetach(context), CUDA_ERROR_INVALID_CONTEXT) << "a primary one is released";
  CUcontext attached = nullptr;
  FERRY_OK(cuCtxAttach(&attached, 0));
  EXPECT_EQ(attached, context);
  FERRY_OK(cuCtxDetach(context));
  EXPECT_EQ(cuCtxAttach(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace ferry::sim
