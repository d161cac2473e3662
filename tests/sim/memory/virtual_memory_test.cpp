// SPDX-License-Identifier: Apache-2.0
// The rules themselves are judged by the conformance suite; here is what only the stand-in
// promises.
#include "sim/memory/virtual_memory.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

class VirtualMemoryTest : public testing::Test {
 protected:
  VirtualMemoryTest() {
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
  }
  CUmemGenericAllocationHandle create(std::uint64_t frames) {
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(memory.create(&handle, frames * kFrameBytes, &prop, 0), CUDA_SUCCESS);
    return handle;
  }

  AddressSpace addresses;
  PhysicalMemory physical{2, Bytes{8 * kFrameBytes}, true};
  PageTable pages;
  VirtualMemory memory{addresses, physical, pages, 2};
  CUmemAllocationProp prop{};
};

TEST_F(VirtualMemoryTest, GranularityIsTwoMebibytes) {
  std::size_t granularity = 0;
  EXPECT_EQ(memory.granularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
            CUDA_SUCCESS);
  EXPECT_EQ(granularity, std::size_t{2} << 20);
}

TEST_F(VirtualMemoryTest, CountsPhysicalMemoryOnceHoweverOftenItIsMapped) {
  CUdeviceptr base = 0;
  ASSERT_EQ(memory.reserve(&base, 8 * kFrameBytes, 0, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(physical.in_use(1).count, 0U) << "addresses cost nothing";
  const CUmemGenericAllocationHandle handle = create(2);
  ASSERT_EQ(memory.map(base, 2 * kFrameBytes, 0, handle, 0), CUDA_SUCCESS);
  ASSERT_EQ(memory.map(base + 4 * kFrameBytes, 2 * kFrameBytes, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(physical.in_use(1).count, 2 * kFrameBytes);
  ASSERT_EQ(memory.release(handle), CUDA_SUCCESS);
  ASSERT_EQ(memory.unmap(base, 2 * kFrameBytes), CUDA_SUCCESS);
  EXPECT_EQ(physical.in_use(1).count, 2 * kFrameBytes);
  ASSERT_EQ(memory.unmap(base + 4 * kFrameBytes, 2 * kFrameBytes), CUDA_SUCCESS);
  EXPECT_EQ(physical.in_use(1).count, 0U);
}

TEST_F(VirtualMemoryTest, StaleAndMadeUpHandlesAreRefused) {
  const CUmemGenericAllocationHandle handle = create(1);
  EXPECT_EQ(memory.release(handle), CUDA_SUCCESS);
  EXPECT_EQ(memory.release(handle), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(memory.release(1), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr base = 0;
  ASSERT_EQ(memory.reserve(&base, kFrameBytes, 0, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(memory.map(base, kFrameBytes, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  CUmemAllocationProp seen{};
  EXPECT_EQ(memory.properties(&seen, handle), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemoryTest, AReleasedHandleCanBeWonBackFromItsMapping) {
  CUdeviceptr base = 0;
  ASSERT_EQ(memory.reserve(&base, kFrameBytes, 0, 0, 0), CUDA_SUCCESS);
  const CUmemGenericAllocationHandle handle = create(1);
  ASSERT_EQ(memory.map(base, kFrameBytes, 0, handle, 0), CUDA_SUCCESS);
  ASSERT_EQ(memory.release(handle), CUDA_SUCCESS);
  CUmemGenericAllocationHandle again = 0;
  ASSERT_EQ(memory.retain(&again, base + 1), CUDA_SUCCESS);
  EXPECT_EQ(again, handle);
  ASSERT_EQ(memory.unmap(base, kFrameBytes), CUDA_SUCCESS);
  EXPECT_EQ(physical.in_use(1).count, kFrameBytes);
  EXPECT_EQ(memory.release(again), CUDA_SUCCESS);
  EXPECT_EQ(physical.in_use(1).count, 0U);
}

TEST_F(VirtualMemoryTest, CapacityIsPerDevice) {
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(memory.create(&handle, 9 * kFrameBytes, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY);
  const CUmemGenericAllocationHandle all = create(8);
  EXPECT_EQ(memory.create(&handle, kFrameBytes, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY);
  prop.location.id = 0;
  EXPECT_EQ(memory.create(&handle, kFrameBytes, &prop, 0), CUDA_SUCCESS);
  EXPECT_EQ(memory.release(all), CUDA_SUCCESS);
}

TEST_F(VirtualMemoryTest, FeaturesThatAreNotThereAreDenied) {
  CUmemGenericAllocationHandle handle = 0;
  CUmemAllocationProp other = prop;
  other.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  EXPECT_EQ(memory.create(&handle, kFrameBytes, &other, 0), CUDA_ERROR_NOT_SUPPORTED);
  other = prop;
  other.location.type = CU_MEM_LOCATION_TYPE_HOST;
  EXPECT_EQ(memory.create(&handle, kFrameBytes, &other, 0), CUDA_ERROR_NOT_SUPPORTED);
  other = prop;
  other.location.id = 2;
  EXPECT_EQ(memory.create(&handle, kFrameBytes, &other, 0), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(VirtualMemoryTest, RightsAreSetForTheDevicesNamed) {
  CUdeviceptr base = 0;
  ASSERT_EQ(memory.reserve(&base, 2 * kFrameBytes, 0, 0, 0), CUDA_SUCCESS);
  const CUmemGenericAllocationHandle handle = create(1);
  ASSERT_EQ(memory.map(base, kFrameBytes, 0, handle, 0), CUDA_SUCCESS);
  CUmemAccessDesc descriptions[2] = {};
  descriptions[0].location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  descriptions[0].flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
  descriptions[1].location = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
  descriptions[1].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  ASSERT_EQ(memory.set_access(base, kFrameBytes, descriptions, 2), CUDA_SUCCESS);
  EXPECT_TRUE(pages.allows(0, Access::read, base, 16));
  EXPECT_FALSE(pages.allows(0, Access::read_write, base, 16));
  EXPECT_TRUE(pages.allows(1, Access::read_write, base, 16));
  EXPECT_EQ(memory.set_access(base, kFrameBytes, descriptions, 0), CUDA_ERROR_INVALID_VALUE);
  descriptions[0].location.id = 7;
  EXPECT_EQ(memory.set_access(base, kFrameBytes, descriptions, 1), CUDA_ERROR_INVALID_DEVICE);
  descriptions[0].location.type = CU_MEM_LOCATION_TYPE_HOST;
  EXPECT_EQ(memory.set_access(base, kFrameBytes, descriptions, 1), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(VirtualMemoryTest, ReservationsAreFoundByAnyAddress) {
  CUdeviceptr base = 0;
  ASSERT_EQ(memory.reserve(&base, 3 * kFrameBytes, 0, 0, 0), CUDA_SUCCESS);
  ASSERT_NE(memory.reservation_of(base + kFrameBytes + 5), nullptr);
  EXPECT_EQ(memory.reservation_of(base + kFrameBytes + 5)->start, base);
  EXPECT_EQ(memory.reservation_of(base + 3 * kFrameBytes), nullptr);
  EXPECT_EQ(memory.reservation_of(base - 1), nullptr);
  ASSERT_EQ(memory.free_reservation(base, 3 * kFrameBytes), CUDA_SUCCESS);
  EXPECT_EQ(memory.reservation_of(base), nullptr);
}

TEST_F(VirtualMemoryTest, MoreAddressesThanThereAreIsOutOfMemory) {
  CUdeviceptr base = 0;
  EXPECT_EQ(memory.reserve(&base, std::uint64_t{1} << 46, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(VirtualMemoryTest, LimitsCountForLaterRequests) {
  MachineLimits limits;
  limits.granularity = Bytes{4 * kFrameBytes};
  limits.reserve_total = Bytes{8 * kFrameBytes};
  memory.set_limits(limits);
  std::size_t granularity = 0;
  EXPECT_EQ(memory.granularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
            CUDA_SUCCESS);
  EXPECT_EQ(granularity, 4 * kFrameBytes);
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(memory.create(&handle, 2 * kFrameBytes, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr base = 0;
  CUdeviceptr more = 0;
  ASSERT_EQ(memory.reserve(&base, 8 * kFrameBytes, 0, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(base % (4 * kFrameBytes), 0U);
  EXPECT_EQ(memory.reserve(&more, kFrameBytes, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_EQ(memory.free_reservation(base, 8 * kFrameBytes), CUDA_SUCCESS);
  EXPECT_EQ(memory.reserve(&more, 4 * kFrameBytes, 0, 0, 0), CUDA_SUCCESS);
}

}  // namespace
}  // namespace ferry::sim
