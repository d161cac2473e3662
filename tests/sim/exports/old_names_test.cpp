// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsOldNamesTest : public SimTest {};

TEST_F(ExportsOldNamesTest, ContextsGoOnTheStackAndAway) {
  CUcontext created = nullptr;
  CUcontext popped = nullptr;
  FERRY_OK(cuCtxCreate_v2(&created, 0, 0));
  FERRY_OK(cuCtxPopCurrent(&popped));
  EXPECT_EQ(popped, created);
  FERRY_OK(cuCtxPushCurrent(created));
  FERRY_OK(cuCtxDestroy(created));
  EXPECT_EQ(cuCtxPushCurrent(created), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(ExportsOldNamesTest, PrimaryContextsAreSetResetAndReleased) {
  FERRY_OK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD));
  const CUdeviceptr memory = allocate(4096);
  FERRY_OK(cuDevicePrimaryCtxReset(0));
  EXPECT_EQ(cuMemFree_v2(memory), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuDevicePrimaryCtxRelease(0));
  unsigned flags = 0;
  int active = 1;
  FERRY_OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(flags, unsigned{CU_CTX_SCHED_YIELD});
  EXPECT_EQ(active, 0);
}

TEST_F(ExportsOldNamesTest, HandlesAreGoneAfterwards) {
  const CUstream a_stream = stream();
  const CUevent an_event = event();
  FERRY_OK(cuStreamDestroy(a_stream));
  FERRY_OK(cuEventDestroy(an_event));
  EXPECT_EQ(cuStreamQuery(a_stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventQuery(an_event), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ExportsOldNamesTest, TheRestIsTheSameToo) {
  CUuuid one{};
  CUuuid other{};
  FERRY_OK(cuDeviceGetUuid(&one, 0));
  FERRY_OK(cuDeviceGetUuid_v2(&other, 0));
  EXPECT_EQ(std::string(one.bytes, sizeof one.bytes), std::string(other.bytes, sizeof other.bytes));
  std::vector<char> own(4096);
  FERRY_OK(cuMemHostRegister(own.data(), own.size(), 0));
  EXPECT_EQ(cuMemHostRegister_v2(own.data(), own.size(), 0),
            CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  FERRY_OK(cuMemHostUnregister(own.data()));
}

}  // namespace
}  // namespace ferry::sim
