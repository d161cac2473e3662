// SPDX-License-Identifier: Apache-2.0
// Memory of another device: refused, allowed, and refused again.
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsPeerTest : public SimTest {
 protected:
  void SetUp() override {
    restart("devices=2;schedule=lazy");
    FERRY_OK(cuDevicePrimaryCtxRetain(&other, 1));
    FERRY_OK(cuCtxPushCurrent_v2(other));
    theirs = allocate(4096);
    FERRY_OK(cuMemsetD32_v2(theirs, 4, 1024));
    FERRY_OK(cuCtxSynchronize());
    CUcontext popped = nullptr;
    FERRY_OK(cuCtxPopCurrent_v2(&popped));
    ours = allocate(4096);
  }
  CUcontext other = nullptr;
  CUdeviceptr theirs = 0;
  CUdeviceptr ours = 0;
};

TEST_F(ExportsPeerTest, WithoutAccessTheWorkFails) {
  FERRY_OK(cuMemcpyDtoD_v2(ours, theirs, 4096));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(ExportsPeerTest, AccessIsOneWay) {
  FERRY_OK(cuCtxEnablePeerAccess(other, 0));
  FERRY_OK(cuMemcpyDtoD_v2(ours, theirs, 4096));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(ours), 4U);
  FERRY_OK(cuCtxPushCurrent_v2(other));
  FERRY_OK(cuMemsetD32_v2(ours, 5, 1024));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(ExportsPeerTest, DisabledAccessIsGone) {
  FERRY_OK(cuCtxEnablePeerAccess(other, 0));
  FERRY_OK(cuCtxDisablePeerAccess(other));
  FERRY_OK(cuMemcpyDtoD_v2(ours, theirs, 4096));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(ExportsPeerTest, CopiesThatNameTheContextsNeedNone) {
  FERRY_OK(cuMemcpyPeer(ours, context, theirs, other, 4096));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(ours), 4U);
  CUDA_MEMCPY3D_PEER copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = ours;
  copy.srcContext = context;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = theirs + 256;
  copy.dstContext = other;
  copy.WidthInBytes = 128;
  copy.Height = 1;
  copy.Depth = 1;
  FERRY_OK(cuMemcpy3DPeer(&copy));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(theirs + 256), 4U);
  copy.dstContext = nullptr;
  EXPECT_EQ(cuMemcpy3DPeer(&copy), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuMemcpyPeer(ours, nullptr, theirs, other, 4096), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(ExportsPeerTest, ThePeersMemoryMustBeOfTheNamedContext) {
  FERRY_OK(cuMemcpyPeer(ours, context, theirs, context, 4096));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

}  // namespace
}  // namespace ferry::sim
