// SPDX-License-Identifier: Apache-2.0
// When copies of rows and layers run, and what they are taken to touch; which bytes they move is
// judged by the conformance suite.
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsBoxCopyTest : public SimTest {
 protected:
  void SetUp() override { restart("schedule=lazy"); }

  static CUDA_MEMCPY3D box(CUdeviceptr to, CUdeviceptr from) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = from;
    copy.srcPitch = 64;
    copy.srcHeight = 4;
    copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.dstDevice = to;
    copy.dstPitch = 64;
    copy.dstHeight = 4;
    copy.WidthInBytes = 32;
    copy.Height = 2;
    copy.Depth = 3;
    return copy;
  }
};

TEST_F(ExportsBoxCopyTest, WithAHostSideItIsDoneOnReturn) {
  auto* const host = static_cast<std::uint32_t*>(allocate_host(1024));
  host[0] = 77;
  const CUdeviceptr device = allocate(1024);
  const CUDA_MEMCPY3D copy = box(device, reinterpret_cast<CUdeviceptr>(host));
  FERRY_OK(cuMemcpy3D_v2(&copy));
  EXPECT_EQ(peek(device), 77U);
}

TEST_F(ExportsBoxCopyTest, BetweenDeviceMemoriesItIsQueued) {
  const CUdeviceptr from = allocate(1024);
  const CUdeviceptr to = allocate(1024);
  FERRY_OK(cuMemsetD32_v2(from, 6, 256));
  const CUDA_MEMCPY3D copy = box(to, from);
  FERRY_OK(cuMemcpy3D_v2(&copy));
  EXPECT_EQ(peek(to), kUnwritten);
  FERRY_OK(cuStreamSynchronize(nullptr));
  EXPECT_EQ(peek(to), 6U);
}

TEST_F(ExportsBoxCopyTest, OnlyTheBoxIsTouched) {
  const CUdeviceptr from = allocate(1024);
  const CUdeviceptr to = allocate(1024);
  const CUstream one = stream();
  const CUstream other = stream();
  FERRY_OK(cuMemsetD8_v2(from, 1, 1024));
  FERRY_OK(cuStreamSynchronize(nullptr));
  const CUDA_MEMCPY3D copy = box(to, from);
  FERRY_OK(cuMemcpy3DAsync_v2(&copy, one));
  FERRY_OK(cuMemsetD8Async(to + 32, 2, 32, other));       // beside the first row
  FERRY_OK(cuMemsetD8Async(to + 2 * 64, 2, 128, other));  // the rows below the first layer
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(ferry_sim_take_hazards(), 0U);
  FERRY_OK(cuMemcpy3DAsync_v2(&copy, one));
  FERRY_OK(cuMemsetD8Async(to + 2 * 256 + 64, 2, 1, other));  // the second row of the last layer
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_F(ExportsBoxCopyTest, ArraysAreNotSupported) {
  CUDA_MEMCPY3D copy = box(allocate(1024), allocate(1024));
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT_EQ(cuMemcpy3D_v2(&copy), CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace ferry::sim
