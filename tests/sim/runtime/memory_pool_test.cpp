// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime {
namespace {

TEST_F(RuntimeTest, MemoryInTheOrderOfAStream) {
  cudaStream_t stream = nullptr;
  FERRY_OK(cudaStreamCreate(&stream));
  cudaMemPool_t pool = nullptr;
  FERRY_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  void* memory = nullptr;
  FERRY_OK(cudaMallocAsync(&memory, 1 << 20, stream));
  std::uint64_t used = 0;
  FERRY_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, std::uint64_t{1} << 20);
  FERRY_OK(cudaFreeAsync(memory, stream));
  FERRY_OK(cudaStreamSynchronize(stream));
  FERRY_OK(cudaMemPoolTrimTo(pool, 0));
  std::uint64_t reserved = 1;
  FERRY_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  EXPECT_EQ(reserved, 0U);
}

TEST_F(RuntimeTest, AProgramsOwnPool) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = 1;
  cudaMemPool_t pool = nullptr;
  FERRY_OK(cudaMemPoolCreate(&pool, &properties));
  FERRY_OK(cudaSetDevice(1));
  void* memory = nullptr;
  FERRY_OK(cudaMallocFromPoolAsync(&memory, 4096, pool, nullptr));
  cudaPointerAttributes attributes{};
  FERRY_OK(cudaPointerGetAttributes(&attributes, memory));
  EXPECT_EQ(attributes.device, 1);
  FERRY_OK(cudaFreeAsync(memory, nullptr));
  FERRY_OK(cudaDeviceSynchronize());
  FERRY_OK(cudaMemPoolDestroy(pool));
}

}  // namespace
}  // namespace ferry::sim::runtime
