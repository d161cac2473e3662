// SPDX-License-Identifier: Apache-2.0
// Memory in the order of streams.
#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime_test {
namespace {

class RuntimePoolTest : public ScheduledRuntimeTest {
 protected:
  static cudaMemPool_t own_pool() {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t pool = nullptr;
    EXPECT_EQ(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
    return pool;
  }
  static std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr asked) {
    std::uint64_t value = ~std::uint64_t{0};
    EXPECT_EQ(cudaMemPoolGetAttribute(pool, asked, &value), cudaSuccess);
    return value;
  }
};

TEST_P(RuntimePoolTest, MemoryLivesFromItsAllocationToItsFree) {
  const cudaStream_t own = stream();
  auto* const host = allocate_host<std::uint32_t>(1);
  void* memory = nullptr;
  FERRY_RT_OK(cudaMallocAsync(&memory, 4, own));
  FERRY_RT_OK(cudaMemsetAsync(memory, 6, 4, own));
  FERRY_RT_OK(cudaMemcpyAsync(host, memory, 4, cudaMemcpyDeviceToHost, own));
  FERRY_RT_OK(cudaFreeAsync(memory, own));
  FERRY_RT_OK(cudaStreamSynchronize(own));
  EXPECT_EQ(*host, 0x06060606U);
  EXPECT_NE(cudaFreeAsync(memory, own), cudaSuccess);
}

TEST_P(RuntimePoolTest, AnotherStreamHasToWait) {
  const cudaStream_t own = stream();
  void* memory = nullptr;
  FERRY_RT_OK(cudaMallocAsync(&memory, 4, own));
  FERRY_RT_OK(cudaMemsetAsync(memory, 1, 4, stream()));
  FERRY_RT_OK(cudaDeviceSynchronize());
  EXPECT_GE(take_hazards(), 1U);
}

TEST_P(RuntimePoolTest, ThePoolOfADevice) {
  cudaMemPool_t standard = nullptr;
  cudaMemPool_t used = nullptr;
  FERRY_RT_OK(cudaDeviceGetDefaultMemPool(&standard, 0));
  FERRY_RT_OK(cudaDeviceGetMemPool(&used, 0));
  EXPECT_EQ(used, standard);
  cudaMemPool_t const pool = own_pool();
  FERRY_RT_OK(cudaDeviceSetMemPool(0, pool));
  FERRY_RT_OK(cudaDeviceGetMemPool(&used, 0));
  EXPECT_EQ(used, pool);
  void* memory = nullptr;
  FERRY_RT_OK(cudaMallocAsync(&memory, kMiB, nullptr));
  EXPECT_GE(attribute(pool, cudaMemPoolAttrUsedMemCurrent), kMiB);
  EXPECT_EQ(attribute(standard, cudaMemPoolAttrUsedMemCurrent), 0U);
  FERRY_RT_OK(cudaFreeAsync(memory, nullptr));
  FERRY_RT_OK(cudaDeviceSynchronize());
  FERRY_RT_OK(cudaMemPoolDestroy(pool));
  FERRY_RT_OK(cudaDeviceGetMemPool(&used, 0));
  EXPECT_EQ(used, standard);
  EXPECT_EQ(cudaDeviceGetDefaultMemPool(&standard, 5), cudaErrorInvalidDevice);
}

TEST_P(RuntimePoolTest, ANamedPoolGivesTheMemory) {
  cudaMemPool_t const pool = own_pool();
  void* memory = nullptr;
  FERRY_RT_OK(cudaMallocFromPoolAsync(&memory, kMiB, pool, nullptr));
  EXPECT_GE(attribute(pool, cudaMemPoolAttrUsedMemCurrent), kMiB);
  FERRY_RT_OK(cudaFree(memory));
  EXPECT_EQ(attribute(pool, cudaMemPoolAttrUsedMemCurrent), 0U);
}

TEST_P(RuntimePoolTest, WhatIsKeptIsGivenBackByATrim) {
  cudaMemPool_t const pool = own_pool();
  std::uint64_t keep = ~std::uint64_t{0};
  FERRY_RT_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  EXPECT_EQ(attribute(pool, cudaMemPoolAttrReleaseThreshold), keep);
  void* memory = nullptr;
  FERRY_RT_OK(cudaMallocFromPoolAsync(&memory, kMiB, pool, nullptr));
  FERRY_RT_OK(cudaFreeAsync(memory, nullptr));
  FERRY_RT_OK(cudaDeviceSynchronize());
  EXPECT_GT(attribute(pool, cudaMemPoolAttrReservedMemCurrent), 0U);
  FERRY_RT_OK(cudaMemPoolTrimTo(pool, 0));
  EXPECT_EQ(attribute(pool, cudaMemPoolAttrReservedMemCurrent), 0U);
}

TEST_P(RuntimePoolTest, AnotherDeviceIsLetIn) {
  restart(std::string("devices=2;") + GetParam());
  cudaMemPool_t const pool = own_pool();
  void* memory = nullptr;
  FERRY_RT_OK(cudaMallocFromPoolAsync(&memory, 4, pool, nullptr));
  FERRY_RT_OK(cudaStreamSynchronize(nullptr));
  cudaMemAccessDesc access{{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite};
  FERRY_RT_OK(cudaMemPoolSetAccess(pool, &access, 1));
  FERRY_RT_OK(cudaSetDevice(1));
  FERRY_RT_OK(cudaMemset(memory, 4, 4));
  EXPECT_EQ(word(memory), 0x04040404U);
  access.location.id = 9;
  EXPECT_NE(cudaMemPoolSetAccess(pool, &access, 1), cudaSuccess);
}

FERRY_EVERY_SCHEDULE(RuntimePoolTest);

}  // namespace
}  // namespace ferry::sim::runtime_test
