// SPDX-License-Identifier: Apache-2.0
// The limits of other machines, as a program meets them.
#include "base/bytes.hpp"
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsLimitsTest : public SimTest {
 protected:
  static int attribute(CUdevice_attribute which) {
    int value = -1;
    EXPECT_EQ(cuDeviceGetAttribute(&value, which, 0), CUDA_SUCCESS);
    return value;
  }
  static CUmemAllocationProp on_device_0(bool rdma = false) {
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.allocFlags.gpuDirectRDMACapable = rdma ? 1 : 0;
    return prop;
  }
  static CUresult create(CUmemGenericAllocationHandle& handle, std::size_t size,
                         bool rdma = false) {
    const CUmemAllocationProp prop = on_device_0(rdma);
    return cuMemCreate(&handle, size, &prop, 0);
  }
  static CUdeviceptr map_new(std::size_t size, bool rdma = false) {
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr address = 0;
    EXPECT_EQ(create(handle, size, rdma), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAddressReserve(&address, size, 0, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemMap(address, size, 0, handle, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
    return address;
  }
  static CUresult allow(CUdeviceptr address, std::size_t size) {
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return cuMemSetAccess(address, size, &access, 1);
  }
  static std::size_t free_memory() {
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_EQ(cuMemGetInfo_v2(&free, &total), CUDA_SUCCESS);
    return free;
  }
};

TEST_F(ExportsLimitsTest, WithoutVirtualMemoryTheAttributeAndEveryCallSayNo) {
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED), 1);
  restart("vmm=off");
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED), 0);
  const CUmemAllocationProp prop = on_device_0();
  std::size_t granularity = 0;
  EXPECT_EQ(cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
            CUDA_ERROR_NOT_SUPPORTED);
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(create(handle, 2 * kMiB), CUDA_ERROR_NOT_SUPPORTED);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAddressReserve(&address, 2 * kMiB, 0, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMemUnmap(address, 2 * kMiB), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_NE(allocate(3 * kMiB), 0U) << "plain memory is there";
}

TEST_F(ExportsLimitsTest, AnotherGranularityCountsForAnswersAndRules) {
  const CUmemAllocationProp prop = on_device_0();
  CUmemGenericAllocationHandle handle = 0;
  for (const std::size_t wanted : {64 * std::size_t{1024}, 16 * kMiB}) {
    restart("granularity=" + std::to_string(wanted));
    std::size_t granularity = 0;
    FERRY_OK(cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    EXPECT_EQ(granularity, wanted);
    EXPECT_EQ(create(handle, wanted / 2), CUDA_ERROR_INVALID_VALUE);
    const CUdeviceptr address = map_new(3 * wanted);
    EXPECT_EQ(address % wanted, 0U);
    EXPECT_EQ(ferry_sim_memory_in_use(0), 3 * wanted);
    EXPECT_EQ(cuMemUnmap(address, wanted), CUDA_ERROR_INVALID_VALUE);
    FERRY_OK(allow(address, 3 * wanted));
    FERRY_OK(cuMemsetD32_v2(address, 7, 3 * wanted / 4));
    FERRY_OK(cuCtxSynchronize());
    EXPECT_EQ(peek(address + 3 * wanted - 4), 7U);
    FERRY_OK(cuMemUnmap(address, 3 * wanted));
    FERRY_OK(cuMemAddressFree(address, 3 * wanted));
    EXPECT_EQ(ferry_sim_memory_in_use(0), 0U);
  }
}

TEST_F(ExportsLimitsTest, ReservationsAreCapped) {
  ASSERT_EQ(ferry_sim_configure("reserve_total=8MiB"), 0);
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  EXPECT_EQ(cuMemAddressReserve(&first, 10 * kMiB, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
  FERRY_OK(cuMemAddressReserve(&first, 6 * kMiB, 0, 0, 0));
  EXPECT_EQ(cuMemAddressReserve(&second, 4 * kMiB, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
  FERRY_OK(cuMemAddressFree(first, 6 * kMiB));
  FERRY_OK(cuMemAddressReserve(&second, 8 * kMiB, 0, 0, 0));
}

TEST_F(ExportsLimitsTest, RegistrationsAreCappedByCallAndInAll) {
  ASSERT_EQ(ferry_sim_configure("register_call=1MiB;register_total=1536KiB"), 0);
  std::vector<std::byte> buffer(4 * kMiB);
  EXPECT_EQ(cuMemHostRegister_v2(buffer.data(), 2 * kMiB, 0), CUDA_ERROR_OUT_OF_MEMORY);
  FERRY_OK(cuMemHostRegister_v2(buffer.data(), kMiB, 0));
  std::byte* const other = buffer.data() + 2 * kMiB;
  EXPECT_EQ(cuMemHostRegister_v2(other, kMiB, 0), CUDA_ERROR_OUT_OF_MEMORY);
  FERRY_OK(cuMemHostRegister_v2(other, kMiB / 2, 0));
  FERRY_OK(cuMemHostUnregister(buffer.data()));
  FERRY_OK(cuMemHostUnregister(other));
  FERRY_OK(cuMemHostRegister_v2(other, kMiB, 0));
  EXPECT_NE(allocate_host(8 * kMiB), nullptr) << "allocations are no registrations";
  FERRY_OK(cuMemHostUnregister(other));
}

TEST_F(ExportsLimitsTest, AnotherProcessMayComeAndGo) {
  restart("capacity=16MiB;taken=4MiB");
  EXPECT_EQ(free_memory(), 12 * kMiB);
  std::size_t total = 0;
  FERRY_OK(cuDeviceTotalMem_v2(&total, 0));
  EXPECT_EQ(total, 16 * kMiB) << "the device is as large as ever";
  allocate(8 * kMiB);
  ASSERT_EQ(ferry_sim_configure("taken=10MiB"), 0);
  EXPECT_EQ(free_memory(), 0U) << "and not less than nothing";
  EXPECT_EQ(ferry_sim_memory_in_use(0), 8 * kMiB) << "of this process";
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(create(handle, 2 * kMiB), CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_EQ(ferry_sim_configure("taken=none"), 0);
  FERRY_OK(create(handle, 8 * kMiB));
}

TEST_F(ExportsLimitsTest, FreeMemoryInPiecesServesOnlySmallRequests) {
  restart("capacity=64MiB;largest_piece=4MiB");
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
  EXPECT_EQ(free_memory(), 64 * kMiB);
  EXPECT_EQ(create(handle, 6 * kMiB), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc_v2(&address, 6 * kMiB), CUDA_ERROR_OUT_OF_MEMORY);
  for (int i = 0; i < 16; ++i) FERRY_OK(create(handle, 4 * kMiB));
  EXPECT_EQ(create(handle, 2 * kMiB), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(ExportsLimitsTest, MemoryForOtherDevicesMayBeDeniedGrantedOrUseless) {
  constexpr auto kRdma = CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED;
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(attribute(kRdma), 0);
  EXPECT_EQ(create(handle, 2 * kMiB, true), CUDA_ERROR_NOT_SUPPORTED);
  restart("rdma=on");
  EXPECT_EQ(attribute(kRdma), 1);
  FERRY_OK(allow(map_new(2 * kMiB, true), 2 * kMiB));
  restart("rdma=refused");
  EXPECT_EQ(attribute(kRdma), 1) << "nothing says so beforehand";
  const CUdeviceptr address = map_new(2 * kMiB, true);
  EXPECT_EQ(allow(address, 2 * kMiB), CUDA_ERROR_UNKNOWN);
  FERRY_OK(cuMemRetainAllocationHandle(&handle, reinterpret_cast<void*>(address)));
  CUmemAllocationProp prop{};
  FERRY_OK(cuMemGetAllocationPropertiesFromHandle(&prop, handle));
  EXPECT_EQ(prop.allocFlags.gpuDirectRDMACapable, 1);
  FERRY_OK(allow(map_new(2 * kMiB), 2 * kMiB)) << "the error does not stick; other memory is fine";
  restart("rdma=on;vmm=off");
  EXPECT_EQ(attribute(kRdma), 0);
}

TEST_F(ExportsLimitsTest, WhatIsBuiltInDoesNotChange) {
  allocate(1);
  for (const char* const fixed : {"vmm=off", "granularity=4MiB", "rdma=on"})
    EXPECT_EQ(ferry_sim_configure(fixed), -1) << fixed;
}

TEST_F(ExportsLimitsTest, AddressesComeBackLateUnlessAskedFor) {
  const auto again = [](std::size_t bytes) {
    const CUdeviceptr first = allocate(bytes);
    const CUdeviceptr other = allocate(bytes);
    EXPECT_EQ(cuMemFree_v2(first), CUDA_SUCCESS);
    const CUdeviceptr next = allocate(bytes);
    EXPECT_EQ(cuMemFree_v2(other), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree_v2(next), CUDA_SUCCESS);
    return next == first;
  };
  EXPECT_FALSE(again(4 * kMiB));
  EXPECT_FALSE(again(4096));
  restart("reuse=immediate");
  EXPECT_TRUE(again(4 * kMiB));
  EXPECT_TRUE(again(4096));
  CUdeviceptr reserved = 0;
  CUdeviceptr next = 0;
  FERRY_OK(cuMemAddressReserve(&reserved, 8 * kMiB, 0, 0, 0));
  FERRY_OK(cuMemAddressFree(reserved, 8 * kMiB));
  FERRY_OK(cuMemAddressReserve(&next, 6 * kMiB, 0, 0, 0));
  EXPECT_EQ(next, reserved);
}

TEST_F(ExportsLimitsTest, HandlesComeBackOnlyIfAskedFor) {
  const CUstream stale_stream = stream();
  FERRY_OK(cuStreamDestroy_v2(stale_stream));
  EXPECT_NE(stream(), stale_stream);
  restart("reuse=immediate");
  const CUstream old_stream = stream();
  const CUevent old_event = event();
  FERRY_OK(cuStreamDestroy_v2(old_stream));
  FERRY_OK(cuEventDestroy_v2(old_event));
  EXPECT_NE(cuStreamQuery(old_stream), CUDA_SUCCESS) << "gone as long as nobody has it";
  EXPECT_EQ(stream(), old_stream);
  EXPECT_EQ(event(), old_event);
  FERRY_OK(cuStreamQuery(old_stream));
}

}  // namespace
}  // namespace ferry::sim
