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
  FERRY_OK(cuMemsetD32_v2(theirs, 5, 1024));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(ExportsPeerTest, CopiesOfEveryKindNeedNoAccess) {
  FERRY_OK(cuMemcpyDtoD_v2(ours, theirs, 256));
  FERRY_OK(cuMemcpy(ours + 256, theirs, 256));
  CUDA_MEMCPY2D box{};
  box.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = theirs;
  box.srcPitch = 64;
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.dstDevice = ours + 512;
  box.dstPitch = 64;
  box.WidthInBytes = 64;
  box.Height = 4;
  FERRY_OK(cuMemcpy2D_v2(&box));
  CUdeviceptr to = ours + 768;
  CUdeviceptr from = theirs;
  std::size_t bytes = 256;
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  std::size_t first = 0;
  const CUstream a_stream = stream();
  FERRY_OK(cuMemcpyBatchAsync_v2(&to, &from, &bytes, 1, &attributes, &first, 1, a_stream));
  FERRY_OK(cuCtxSynchronize());
  for (const std::uint64_t offset : {0, 256, 512, 768}) EXPECT_EQ(peek(ours + offset), 4U);
}

TEST_F(ExportsPeerTest, ACopyBeyondTheMemoryOfAPeerFails) {
  FERRY_OK(cuMemcpyDtoD_v2(ours, theirs + 4000, 256));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(ExportsPeerTest, AccessIsOneWay) {
  FERRY_OK(cuCtxEnablePeerAccess(other, 0));
  FERRY_OK(cuMemsetD32_v2(theirs, 5, 1024));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(theirs), 5U);
  FERRY_OK(cuCtxPushCurrent_v2(other));
  FERRY_OK(cuMemsetD32_v2(ours, 5, 1024));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(ExportsPeerTest, DisabledAccessIsGone) {
  FERRY_OK(cuCtxEnablePeerAccess(other, 0));
  FERRY_OK(cuCtxDisablePeerAccess(other));
  FERRY_OK(cuMemsetD32_v2(theirs, 5, 1024));
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
