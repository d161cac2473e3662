// SPDX-License-Identifier: Apache-2.0
// Memory that is allocated and freed in the order of streams, and the pools that it comes from.
#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

constexpr std::size_t kBytes = 3 * kMiB;

CUmemPoolProps props_of(CUdevice device) {
  CUmemPoolProps props{};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  props.location.id = device;
  return props;
}

class MemoryPoolTest : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    int supported = 0;
    FERRY_OK(cuda().cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
                                         device));
    if (supported == 0) GTEST_SKIP() << "no memory pools";
    const CUmemPoolProps props = props_of(device);
    FERRY_OK(cuda().cuMemPoolCreate(&pool, &props));
  }
  void TearDown() override {
    if (pool != nullptr) {
      EXPECT_EQ(cuda().cuMemPoolDestroy(pool), CUDA_SUCCESS);
    }
    WithContext::TearDown();
  }

  [[nodiscard]] CUdeviceptr allocate(std::size_t bytes, CUstream stream) const {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuda().cuMemAllocFromPoolAsync(&address, bytes, pool, stream), CUDA_SUCCESS);
    return address;
  }
  [[nodiscard]] cuuint64_t bytes_of(CUmemPool_attribute attribute) const {
    cuuint64_t value = ~cuuint64_t{0};
    EXPECT_EQ(cuda().cuMemPoolGetAttribute(pool, attribute, &value), CUDA_SUCCESS);
    return value;
  }
  [[nodiscard]] int flag(CUmemPool_attribute attribute) const {
    int value = -1;
    EXPECT_EQ(cuda().cuMemPoolGetAttribute(pool, attribute, &value), CUDA_SUCCESS);
    return value;
  }
  void keep(cuuint64_t bytes) const {
    EXPECT_EQ(cuda().cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &bytes),
              CUDA_SUCCESS);
  }

  CUmemoryPool pool = nullptr;
};

TEST_F(MemoryPoolTest, WorkOfTheSameStreamUsesTheMemory) {
  const StreamOwner stream;
  PinnedBuffer to(kBytes);
  CUdeviceptr address = 0;
  FERRY_OK(cuda().cuMemAllocAsync(&address, kBytes, stream.handle));
  FERRY_OK(cuda().cuMemsetD8Async(address, 0x31, kBytes, stream.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, address, kBytes, stream.handle));
  FERRY_OK(cuda().cuMemFreeAsync(address, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(0x31));
}

TEST_F(MemoryPoolTest, MemoryFreedAndAllocatedAgainServesBothInTurn) {
  const StreamOwner stream;
  PinnedBuffer first(kBytes);
  PinnedBuffer second(kBytes);
  const CUdeviceptr a = allocate(kBytes, stream.handle);
  FERRY_OK(cuda().cuMemsetD8Async(a, 0x32, kBytes, stream.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(first.pointer, a, kBytes, stream.handle));
  FERRY_OK(cuda().cuMemFreeAsync(a, stream.handle));
  const CUdeviceptr b = allocate(kBytes, stream.handle);
  FERRY_OK(cuda().cuMemsetD8Async(b, 0x33, kBytes, stream.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(second.pointer, b, kBytes, stream.handle));
  FERRY_OK(cuda().cuMemFreeAsync(b, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(first.holds(0x32));
  EXPECT_TRUE(second.holds(0x33));
}

TEST_F(MemoryPoolTest, AnEventHandsTheMemoryToAnotherStream) {
  const StreamOwner stream;
  const StreamOwner other;
  const EventOwner ready;
  const EventOwner used;
  PinnedBuffer to(kBytes);
  const CUdeviceptr address = allocate(kBytes, stream.handle);
  FERRY_OK(cuda().cuEventRecord(ready.handle, stream.handle));
  FERRY_OK(cuda().cuStreamWaitEvent(other.handle, ready.handle, 0));
  FERRY_OK(cuda().cuMemsetD8Async(address, 0x34, kBytes, other.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, address, kBytes, other.handle));
  FERRY_OK(cuda().cuEventRecord(used.handle, other.handle));
  FERRY_OK(cuda().cuStreamWaitEvent(stream.handle, used.handle, 0));
  FERRY_OK(cuda().cuMemFreeAsync(address, stream.handle));
  FERRY_OK(cuda().cuCtxSynchronize());
  EXPECT_TRUE(to.holds(0x34));
}

TEST_F(MemoryPoolTest, TheLegacyAndThePerThreadStreamAllocateToo) {
  PinnedBuffer to(kBytes);
  CUdeviceptr legacy = 0;
  FERRY_OK(cuda().cuMemAllocAsync(&legacy, kBytes, nullptr));
  FERRY_OK(cuda().cuMemsetD8_v2(legacy, 0x35, kBytes));
  FERRY_OK(cuda().cuMemcpyDtoH_v2(to.pointer, legacy, kBytes));
  EXPECT_TRUE(to.holds(0x35));
  FERRY_OK(cuda().cuMemFreeAsync(legacy, nullptr));
  CUdeviceptr own = 0;
  FERRY_OK(cuda().cuMemAllocAsync_ptsz(&own, kBytes, nullptr));
  FERRY_OK(cuda().cuMemsetD8Async_ptsz(own, 0x36, kBytes, nullptr));
  FERRY_OK(cuda().cuMemcpyDtoH_v2_ptds(to.pointer, own, kBytes));
  EXPECT_TRUE(to.holds(0x36));
  FERRY_OK(cuda().cuMemFreeAsync_ptsz(own, nullptr));
  FERRY_OK(cuda().cuMemAllocFromPoolAsync_ptsz(&own, kBytes, pool, nullptr));
  FERRY_OK(cuda().cuMemFreeAsync_ptsz(own, nullptr));
  FERRY_OK(cuda().cuCtxSynchronize());
}

TEST_F(MemoryPoolTest, AfterASynchronisationThePlainFreeTakesIt) {
  const StreamOwner stream;
  const CUdeviceptr address = allocate(kBytes, stream.handle);
  FERRY_OK(cuda().cuMemsetD8Async(address, 1, kBytes, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  FERRY_OK(cuda().cuMemFree_v2(address));
  EXPECT_EQ(bytes_of(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0U);
}

TEST_F(MemoryPoolTest, WrongArgumentsAreRefused) {
  const StreamOwner stream;
  CUdeviceptr address = 0;
  EXPECT_EQ(cuda().cuMemAllocAsync(nullptr, 1, stream.handle), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemAllocAsync(&address, 0, stream.handle), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemAllocFromPoolAsync(&address, 1, nullptr, stream.handle),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemPoolCreate(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUmemPoolProps props = props_of(device);
  CUmemoryPool made = nullptr;
  props.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
  EXPECT_EQ(cuda().cuMemPoolCreate(&made, &props), CUDA_ERROR_INVALID_VALUE);
  int value = 0;
  EXPECT_EQ(cuda().cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(0), &value),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, nullptr),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryPoolTest, MoreThanTheDeviceHasIsOutOfMemoryAtTheCall) {
  const StreamOwner stream;
  std::size_t free = 0;
  std::size_t total = 0;
  FERRY_OK(cuda().cuMemGetInfo_v2(&free, &total));
  CUdeviceptr address = 0;
  EXPECT_EQ(cuda().cuMemAllocFromPoolAsync(&address, 2 * total, pool, stream.handle),
            CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(MemoryPoolTest, DefaultsOfTheAttributes) {
  EXPECT_EQ(flag(CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES), 1);
  EXPECT_EQ(flag(CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC), 1);
  EXPECT_EQ(flag(CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES), 1);
  EXPECT_EQ(bytes_of(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), 0U);
  EXPECT_EQ(bytes_of(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0U);
  EXPECT_EQ(bytes_of(CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0U);
}

TEST_F(MemoryPoolTest, AttributesKeepWhatWasSet) {
  int off = 0;
  for (const CUmemPool_attribute attribute :
       {CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
        CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES}) {
    FERRY_OK(cuda().cuMemPoolSetAttribute(pool, attribute, &off));
    EXPECT_EQ(flag(attribute), 0);
  }
  keep(5 * kMiB);
  EXPECT_EQ(bytes_of(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), 5 * kMiB);
  cuuint64_t one = 1;
  EXPECT_EQ(cuda().cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &one),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryPoolTest, WhatIsUsedIsCounted) {
  const StreamOwner stream;
  const CUdeviceptr a = allocate(kBytes, stream.handle);
  const CUdeviceptr b = allocate(kBytes, stream.handle);
  EXPECT_GE(bytes_of(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 2 * kBytes);
  EXPECT_GE(bytes_of(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT),
            bytes_of(CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
  FERRY_OK(cuda().cuMemFreeAsync(a, stream.handle));
  FERRY_OK(cuda().cuMemFreeAsync(b, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_EQ(bytes_of(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0U);
  EXPECT_GE(bytes_of(CU_MEMPOOL_ATTR_USED_MEM_HIGH), 2 * kBytes);
  EXPECT_GE(bytes_of(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 2 * kBytes);
  cuuint64_t zero = 0;
  FERRY_OK(cuda().cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero));
  EXPECT_EQ(bytes_of(CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0U);
}

TEST_F(MemoryPoolTest, ASynchronisationGivesUnusedMemoryBack) {
  const StreamOwner stream;
  FERRY_OK(cuda().cuMemFreeAsync(allocate(kBytes, stream.handle), stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_EQ(bytes_of(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0U);
}

TEST_F(MemoryPoolTest, TheThresholdIsHeldUntilATrim) {
  keep(~cuuint64_t{0});
  const StreamOwner stream;
  FERRY_OK(cuda().cuMemFreeAsync(allocate(kBytes, stream.handle), stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  const cuuint64_t held = bytes_of(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
  EXPECT_GE(held, kBytes);
  FERRY_OK(cuda().cuMemPoolTrimTo(pool, held));
  EXPECT_EQ(bytes_of(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), held);
  FERRY_OK(cuda().cuMemPoolTrimTo(pool, 0));
  EXPECT_EQ(bytes_of(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0U);
}

TEST_F(MemoryPoolTest, ATrimLeavesWhatIsAllocated) {
  const StreamOwner stream;
  PinnedBuffer to(kBytes);
  const CUdeviceptr address = allocate(kBytes, stream.handle);
  FERRY_OK(cuda().cuMemsetD8Async(address, 0x37, kBytes, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  FERRY_OK(cuda().cuMemPoolTrimTo(pool, 0));
  EXPECT_GE(bytes_of(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), kBytes);
  FERRY_OK(cuda().cuMemcpyDtoH_v2(to.pointer, address, kBytes));
  EXPECT_TRUE(to.holds(0x37));
  FERRY_OK(cuda().cuMemFreeAsync(address, stream.handle));
}

TEST_F(MemoryPoolTest, EveryDeviceHasADefaultPoolThatStays) {
  CUmemoryPool standard = nullptr;
  CUmemoryPool current = nullptr;
  FERRY_OK(cuda().cuDeviceGetDefaultMemPool(&standard, device));
  FERRY_OK(cuda().cuDeviceGetMemPool(&current, device));
  EXPECT_NE(standard, nullptr);
  EXPECT_EQ(current, standard);
  EXPECT_EQ(cuda().cuMemPoolDestroy(standard), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuDeviceGetDefaultMemPool(&standard, 1000), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(MemoryPoolTest, TheCurrentPoolGivesTheMemory) {
  const StreamOwner stream;
  CUmemoryPool current = nullptr;
  FERRY_OK(cuda().cuDeviceSetMemPool(device, pool));
  FERRY_OK(cuda().cuDeviceGetMemPool(&current, device));
  EXPECT_EQ(current, pool);
  CUdeviceptr address = 0;
  FERRY_OK(cuda().cuMemAllocAsync(&address, kBytes, stream.handle));
  EXPECT_GE(bytes_of(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), kBytes);
  FERRY_OK(cuda().cuMemFreeAsync(address, stream.handle));
  FERRY_OK(cuda().cuMemPoolDestroy(pool));
  pool = nullptr;
  CUmemoryPool standard = nullptr;
  FERRY_OK(cuda().cuDeviceGetDefaultMemPool(&standard, device));
  FERRY_OK(cuda().cuDeviceGetMemPool(&current, device));
  EXPECT_EQ(current, standard) << "the default pool takes the place of a destroyed one";
}

TEST_F(MemoryPoolTest, ADestroyedPoolKeepsWhatIsAllocated) {
  const StreamOwner stream;
  PinnedBuffer to(kBytes);
  const CUdeviceptr address = allocate(kBytes, stream.handle);
  FERRY_OK(cuda().cuMemPoolDestroy(pool));
  pool = nullptr;
  FERRY_OK(cuda().cuMemsetD8Async(address, 0x38, kBytes, stream.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, address, kBytes, stream.handle));
  FERRY_OK(cuda().cuMemFreeAsync(address, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(0x38));
}

TEST_F(MemoryPoolTest, APointerKnowsItsPool) {
  const StreamOwner stream;
  const CUdeviceptr address = allocate(kBytes, stream.handle);
  CUmemoryPool found = nullptr;
  FERRY_OK(cuda().cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
  EXPECT_EQ(found, pool);
  unsigned type = 0;
  FERRY_OK(cuda().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  int ordinal = -1;
  FERRY_OK(cuda().cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
  EXPECT_EQ(ordinal, device);
  FERRY_OK(cuda().cuMemFreeAsync(address, stream.handle));
  const DeviceBuffer plain(kBytes);
  FERRY_OK(
      cuda().cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, plain.address));
  EXPECT_EQ(found, nullptr);
}

TEST_F(MemoryPoolTest, OnlyTheDeviceOfThePoolHasAccessByDefault) {
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device;
  CUmemAccess_flags flags{};
  FERRY_OK(cuda().cuMemPoolGetAccess(&flags, pool, &location));
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  int count = 0;
  FERRY_OK(cuda().cuDeviceGetCount(&count));
  if (count < 2) return;
  location.id = 1;
  FERRY_OK(cuda().cuMemPoolGetAccess(&flags, pool, &location));
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  int can = 0;
  FERRY_OK(cuda().cuDeviceCanAccessPeer(&can, 1, device));
  if (can == 0) return;
  const CUmemAccessDesc peer = access_of(1);
  FERRY_OK(cuda().cuMemPoolSetAccess(pool, &peer, 1));
  FERRY_OK(cuda().cuMemPoolGetAccess(&flags, pool, &location));
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

TEST_F(MemoryPoolTest, ThePoolsOfALocationAreThoseOfItsDevice) {
  if (cuda().cuMemGetMemPool == nullptr) GTEST_SKIP() << "an older driver";
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device;
  CUmemoryPool standard = nullptr;
  CUmemoryPool found = nullptr;
  FERRY_OK(cuda().cuDeviceGetDefaultMemPool(&standard, device));
  const auto pinned = CU_MEM_ALLOCATION_TYPE_PINNED;
  FERRY_OK(cuda().cuMemGetDefaultMemPool(&found, &location, pinned));
  EXPECT_EQ(found, standard);
  FERRY_OK(cuda().cuMemSetMemPool(&location, pinned, pool));
  FERRY_OK(cuda().cuMemGetMemPool(&found, &location, pinned));
  EXPECT_EQ(found, pool);
  FERRY_OK(cuda().cuDeviceGetMemPool(&found, device));
  EXPECT_EQ(found, pool);
  FERRY_OK(cuda().cuDeviceSetMemPool(device, standard));
  location.type = CU_MEM_LOCATION_TYPE_NONE;
  EXPECT_EQ(cuda().cuMemGetMemPool(&found, &location, pinned), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace ferry::conformance
