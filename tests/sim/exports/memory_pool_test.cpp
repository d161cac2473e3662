// SPDX-License-Identifier: Apache-2.0
// What the stand-in's pools refuse, and figures that only it has. What cuda.h promises is judged by
// the conformance suite.
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

CUmemPoolProps device_props() {
  CUmemPoolProps props{};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  return props;
}

class ExportsMemoryPoolTest : public SimTest {
 protected:
  static CUmemoryPool create(const CUmemPoolProps& props = device_props()) {
    CUmemoryPool pool = nullptr;
    EXPECT_EQ(cuMemPoolCreate(&pool, &props), CUDA_SUCCESS);
    return pool;
  }
  static CUresult try_create(const CUmemPoolProps& props) {
    CUmemoryPool pool = nullptr;
    return cuMemPoolCreate(&pool, &props);
  }
};

TEST_F(ExportsMemoryPoolTest, PropertiesThatCannotBeServedAreRefused) {
  CUmemPoolProps props = device_props();
  props.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  EXPECT_EQ(try_create(props), CUDA_ERROR_NOT_SUPPORTED);
  props.location.type = CU_MEM_LOCATION_TYPE_HOST;
  EXPECT_EQ(try_create(props), CUDA_ERROR_INVALID_VALUE) << "such pools have no handles";
  props.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
  EXPECT_EQ(try_create(props), CUDA_ERROR_NOT_SUPPORTED);
  props = device_props();
  props.location.id = 1;
  EXPECT_EQ(try_create(props), CUDA_ERROR_INVALID_VALUE);
  props = device_props();
  props.reserved[3] = 1;
  EXPECT_EQ(try_create(props), CUDA_ERROR_INVALID_VALUE);
  props = device_props();
  props.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
  EXPECT_EQ(try_create(props), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsMemoryPoolTest, TheDeviceShowsWhatPoolsReserve) {
  CUmemoryPool pool = nullptr;
  FERRY_OK(cuDeviceGetDefaultMemPool(&pool, 0));
  std::size_t before = 0;
  std::size_t now = 0;
  std::size_t total = 0;
  FERRY_OK(cuMemGetInfo_v2(&before, &total));
  CUdeviceptr address = 0;
  FERRY_OK(cuMemAllocAsync(&address, 100, nullptr));
  FERRY_OK(cuMemGetInfo_v2(&now, &total));
  cuuint64_t reserved = 0;
  FERRY_OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
  EXPECT_EQ(before - now, reserved);
  EXPECT_EQ(reserved, 32 * kMiB);
  FERRY_OK(cuMemFreeAsync(address, nullptr));
  FERRY_OK(cuStreamSynchronize(nullptr));
  FERRY_OK(cuMemGetInfo_v2(&now, &total));
  EXPECT_EQ(now, before);
}

TEST_F(ExportsMemoryPoolTest, EverySynchronisationLetsPoolsGiveBack) {
  const CUmemoryPool pool = create();
  const CUevent done = event();
  for (int way = 0; way < 3; ++way) {
    CUdeviceptr address = 0;
    FERRY_OK(cuMemAllocFromPoolAsync(&address, 100, pool, nullptr));
    FERRY_OK(cuMemFreeAsync(address, nullptr));
    FERRY_OK(cuEventRecord(done, nullptr));
    if (way == 0) {
      FERRY_OK(cuStreamSynchronize(nullptr));
    }
    if (way == 1) {
      FERRY_OK(cuEventSynchronize(done));
    }
    if (way == 2) {
      FERRY_OK(cuCtxSynchronize());
    }
    EXPECT_EQ(ferry_sim_memory_in_use(0), 0U) << way;
  }
}

TEST_F(ExportsMemoryPoolTest, AHandleIsGoodUntilThePoolIsDestroyed) {
  const CUmemoryPool pool = create();
  FERRY_OK(cuMemPoolDestroy(pool));
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolTrimTo(pool, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceSetMemPool(0, pool), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAllocFromPoolAsync(&address, 1, pool, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsMemoryPoolTest, ItsOwnDeviceKeepsAccess) {
  const CUmemoryPool pool = create();
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_NONE};
  EXPECT_EQ(cuMemPoolSetAccess(pool, &access, 1), CUDA_ERROR_INVALID_VALUE);
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  FERRY_OK(cuMemPoolSetAccess(pool, &access, 1));
  access.location.id = 7;
  EXPECT_EQ(cuMemPoolSetAccess(pool, &access, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolSetAccess(pool, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsMemoryPoolTest, AFailureOnRequestIsOutOfMemory) {
  ASSERT_EQ(ferry_sim_fail_nth("cuMemAllocAsync", 1, CUDA_ERROR_OUT_OF_MEMORY), 0);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAllocAsync(&address, 1, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
  FERRY_OK(cuMemAllocAsync(&address, 1, nullptr));
}

TEST_F(ExportsMemoryPoolTest, OnlyPinnedMemoryOfDevicesHasPools) {
  CUmemoryPool pool = nullptr;
  CUmemLocation location{CU_MEM_LOCATION_TYPE_HOST, 0};
  EXPECT_EQ(cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED),
            CUDA_ERROR_NOT_SUPPORTED);
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  EXPECT_EQ(cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_MANAGED),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_INVALID),
            CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace ferry::sim
