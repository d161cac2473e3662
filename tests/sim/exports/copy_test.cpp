// SPDX-License-Identifier: Apache-2.0
// When copies run, seen under the lazy schedule; what they do is judged by the conformance suite.
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsCopyTest : public SimTest {
 protected:
  void SetUp() override {
    restart("schedule=lazy");
    device = allocate(4096);
  }
  CUdeviceptr device = 0;
};

TEST_F(ExportsCopyTest, PageableAsynchronousCopiesReadTheirSourceLate) {
  const CUstream a_stream = stream();
  std::vector<std::uint32_t> from(1024, 1);
  FERRY_OK(cuMemcpyHtoDAsync_v2(device, from.data(), 4096, a_stream));
  std::fill(from.begin(), from.end(), 2);
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(peek(device), 2U) << "a program may not rely on an early read";
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_F(ExportsCopyTest, SynchronousCopiesWithAHostSideAreDoneOnReturn) {
  std::uint32_t word = 5;
  FERRY_OK(cuMemcpyHtoD_v2(device, &word, 4));
  EXPECT_EQ(peek(device), 5U);
  word = 0;
  FERRY_OK(cuMemcpyDtoH_v2(&word, device, 4));
  EXPECT_EQ(word, 5U);
  FERRY_OK(cuMemcpy(reinterpret_cast<CUdeviceptr>(&word), device, 4));
  EXPECT_EQ(word, 5U);
}

TEST_F(ExportsCopyTest, FillsAndDeviceCopiesAreQueuedByTheirPlainNames) {
  const CUdeviceptr other = allocate(4096);
  FERRY_OK(cuMemsetD32_v2(device, 6, 1024));
  FERRY_OK(cuMemcpyDtoD_v2(other, device, 4096));
  FERRY_OK(cuMemcpy(other, device, 4096));
  EXPECT_EQ(peek(device), kUnwritten);
  FERRY_OK(cuStreamSynchronize(nullptr));
  EXPECT_EQ(peek(other), 6U);
}

TEST_F(ExportsCopyTest, FillsOfHostMemoryAreDoneOnReturn) {
  auto* const host = static_cast<std::uint32_t*>(allocate_host(4096));
  FERRY_OK(cuMemsetD32_v2(reinterpret_cast<CUdeviceptr>(host), 9, 1024));
  EXPECT_EQ(host[0], 9U);
}

TEST_F(ExportsCopyTest, ASynchronousCopyFollowsTheLegacyStreamsRules) {
  CUstream blocking = nullptr;
  FERRY_OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  FERRY_OK(cuMemsetD32Async(device, 7, 1024, blocking));
  std::uint32_t word = 0;
  FERRY_OK(cuMemcpyDtoH_v2(&word, device, 4));
  EXPECT_EQ(word, 7U);
  FERRY_OK(cuMemsetD32Async(device, 8, 1024, stream()));
  FERRY_OK(cuMemcpyDtoH_v2(&word, device, 4));
  EXPECT_EQ(word, 7U) << "non-blocking streams are not waited for";
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_F(ExportsCopyTest, DrainRunsEverything) {
  FERRY_OK(cuMemsetD32Async(device, 10, 1024, stream()));
  EXPECT_EQ(peek(device), kUnwritten);
  ferry_sim_drain();
  EXPECT_EQ(peek(device), 10U);
}

TEST_F(ExportsCopyTest, AnIllegalAddressIsFoundWhenTheWorkRuns) {
  EXPECT_EQ(cuMemsetD8Async(device + 4000, 1, 97, stream()), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS) << "and stays";
}

TEST_F(ExportsCopyTest, AWrappingRangeIsRefused) {
  std::vector<unsigned char> bytes(16);
  EXPECT_EQ(cuMemcpyHtoD_v2(device, bytes.data(), ~std::size_t{0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32_v2(device, 1, ~std::size_t{0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD2D32Async(device, ~std::size_t{3}, 1, 1, ~std::size_t{0}, nullptr),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsCopyTest, ArraysAndUnknownKindsOfMemoryAreRefused) {
  CUDA_MEMCPY2D copy{};
  copy.WidthInBytes = 16;
  copy.Height = 1;
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = device;
  EXPECT_EQ(cuMemcpy2DAsync_v2(&copy, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  copy.srcMemoryType = static_cast<CUmemorytype>(7);
  EXPECT_EQ(cuMemcpy2DAsync_v2(&copy, nullptr), CUDA_ERROR_INVALID_VALUE);
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  EXPECT_EQ(cuMemcpy2DAsync_v2(&copy, nullptr), CUDA_ERROR_INVALID_VALUE) << "no host pointer";
  copy.WidthInBytes = 0;
  EXPECT_EQ(cuMemcpy2DAsync_v2(&copy, nullptr), CUDA_SUCCESS) << "nothing to copy";
}

TEST_F(ExportsCopyTest, PlainMemoryOfAPeerIsReached) {
  restart("devices=2");
  const CUdeviceptr on_first = allocate(4096);
  FERRY_OK(cuMemsetD32_v2(on_first, 11, 1024));
  FERRY_OK(cuCtxSynchronize());
  CUcontext second = nullptr;
  FERRY_OK(cuCtxCreate_v2(&second, 0, 1));
  const CUdeviceptr on_second = allocate(4096);
  FERRY_OK(cuCtxEnablePeerAccess(context, 0));
  FERRY_OK(cuMemcpyDtoD_v2(on_second, on_first, 4096));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(on_second), 11U);
  EXPECT_EQ(ferry_sim_memory_in_use(1), 2 * kMiB);
}

}  // namespace
}  // namespace ferry::sim
