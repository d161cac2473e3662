// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: what cuda.h allows, and what it forbids.
#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

// A reservation of `count` granules, and physical memory to put into it.
class VirtualMemory : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    prop = pinned_on(device);
    FERRY_OK(
        cuda().cuMemGetAllocationGranularity(&granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    FERRY_OK(cuda().cuMemAddressReserve(&base, kGranules * granule, 0, 0, 0));
  }
  void TearDown() override {
    EXPECT_EQ(cuda().cuMemAddressFree(base, kGranules * granule), CUDA_SUCCESS)
        << "the test left something mapped";
    WithContext::TearDown();
  }

  CUmemGenericAllocationHandle create(std::size_t granules) {
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(cuda().cuMemCreate(&handle, granules * granule, &prop, 0), CUDA_SUCCESS);
    return handle;
  }
  CUdeviceptr at(std::size_t index) const { return base + index * granule; }
  CUresult map(std::size_t index, std::size_t granules, CUmemGenericAllocationHandle handle) {
    return cuda().cuMemMap(at(index), granules * granule, 0, handle, 0);
  }
  CUresult unmap(std::size_t index, std::size_t granules) {
    return cuda().cuMemUnmap(at(index), granules * granule);
  }
  CUresult open(std::size_t index, std::size_t granules) {
    const CUmemAccessDesc description = access_of(device);
    return cuda().cuMemSetAccess(at(index), granules * granule, &description, 1);
  }
  // Memory of its own, mapped and open; gone when unmapped.
  void back(std::size_t index, std::size_t granules) {
    const CUmemGenericAllocationHandle handle = create(granules);
    ASSERT_EQ(map(index, granules, handle), CUDA_SUCCESS);
    ASSERT_EQ(cuda().cuMemRelease(handle), CUDA_SUCCESS);
    ASSERT_EQ(open(index, granules), CUDA_SUCCESS);
  }
  void write_word(CUdeviceptr address, unsigned word) {
    EXPECT_EQ(cuda().cuMemcpyHtoD_v2(address, &word, sizeof word), CUDA_SUCCESS);
  }

  static constexpr std::size_t kGranules = 8;
  CUmemAllocationProp prop{};
  std::size_t granule = 0;
  CUdeviceptr base = 0;
};

TEST_F(VirtualMemory, GranularityIsAPowerOfTwo) {
  std::size_t recommended = 0;
  FERRY_OK(cuda().cuMemGetAllocationGranularity(&recommended, &prop,
                                                CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  EXPECT_EQ(granule & (granule - 1), 0U);
  EXPECT_EQ(recommended % granule, 0U);
  EXPECT_EQ(base % granule, 0U);
  EXPECT_EQ(cuda().cuMemGetAllocationGranularity(nullptr, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuda().cuMemGetAllocationGranularity(&recommended, nullptr, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemory, MappedMemoryHoldsWhatIsWritten) {
  back(0, 2);
  write_word(at(0) + 16, 0xCAFE0001);
  write_word(at(2) - 4, 0xCAFE0002);
  EXPECT_EQ(read_word(at(0) + 16), 0xCAFE0001);
  EXPECT_EQ(read_word(at(2) - 4), 0xCAFE0002);
  FERRY_OK(unmap(0, 2));
}

TEST_F(VirtualMemory, ACopyRunsAcrossMappings) {
  back(0, 1);
  back(1, 1);
  const CUdeviceptr across = at(1) - 4;
  const std::uint64_t value = 0x1122334455667788;
  std::uint64_t seen = 0;
  FERRY_OK(cuda().cuMemcpyHtoD_v2(across, &value, sizeof value));
  FERRY_OK(cuda().cuMemcpyDtoH_v2(&seen, across, sizeof seen));
  EXPECT_EQ(seen, value);
  EXPECT_EQ(read_word(at(1)), 0x11223344U);
  FERRY_OK(unmap(0, 2));
}

TEST_F(VirtualMemory, OneHandleAtTwoAddressesIsOneMemory) {
  const CUmemGenericAllocationHandle handle = create(1);
  FERRY_OK(map(0, 1, handle));
  FERRY_OK(map(4, 1, handle));
  FERRY_OK(open(0, 1));
  FERRY_OK(open(4, 1));
  write_word(at(0) + 64, 0xAA55);
  FERRY_OK(cuda().cuCtxSynchronize());
  EXPECT_EQ(read_word(at(4) + 64), 0xAA55U);
  FERRY_OK(unmap(0, 1));
  EXPECT_EQ(read_word(at(4) + 64), 0xAA55U);
  FERRY_OK(unmap(4, 1));
  FERRY_OK(cuda().cuMemRelease(handle));
}

TEST_F(VirtualMemory, ContentsMoveWithTheHandle) {
  const CUmemGenericAllocationHandle handle = create(1);
  FERRY_OK(map(0, 1, handle));
  FERRY_OK(open(0, 1));
  write_word(at(0), 0x5EED);
  FERRY_OK(unmap(0, 1));
  FERRY_OK(map(5, 1, handle));
  FERRY_OK(open(5, 1));
  EXPECT_EQ(read_word(at(5)), 0x5EEDU);
  FERRY_OK(unmap(5, 1));
  FERRY_OK(cuda().cuMemRelease(handle));
}

TEST_F(VirtualMemory, ReleasedMemoryLivesUntilUnmapped) {
  std::size_t total = 0;
  std::size_t mapped = 0;
  std::size_t unmapped = 0;
  const std::size_t granules = 4;
  back(0, granules);
  FERRY_OK(cuda().cuMemGetInfo_v2(&mapped, &total));
  write_word(at(1), 77);
  EXPECT_EQ(read_word(at(1)), 77U);
  FERRY_OK(unmap(0, granules));
  FERRY_OK(cuda().cuMemGetInfo_v2(&unmapped, &total));
  EXPECT_GE(unmapped, mapped + granules * granule);
}

TEST_F(VirtualMemory, SizesMustBeGranular) {
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(cuda().cuMemCreate(&handle, granule + 4096, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemCreate(&handle, 0, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  handle = create(2);
  EXPECT_EQ(cuda().cuMemMap(at(0) + 4096, granule, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemMap(at(0), granule + 4096, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemMap(at(0), 0, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuda().cuMemRelease(handle));
}

TEST_F(VirtualMemory, CreateRefusesBadArguments) {
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(cuda().cuMemCreate(nullptr, granule, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemCreate(&handle, granule, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemCreate(&handle, granule, &prop, 1), CUDA_ERROR_INVALID_VALUE);
  CUmemAllocationProp bad = prop;
  bad.location.id = 4711;
  EXPECT_NE(cuda().cuMemCreate(&handle, granule, &bad, 0), CUDA_SUCCESS);
  bad = prop;
  bad.type = CU_MEM_ALLOCATION_TYPE_INVALID;
  EXPECT_NE(cuda().cuMemCreate(&handle, granule, &bad, 0), CUDA_SUCCESS);
}

TEST_F(VirtualMemory, MoreThanThereIsIsOutOfMemory) {
  std::size_t free = 0;
  std::size_t total = 0;
  FERRY_OK(cuda().cuMemGetInfo_v2(&free, &total));
  CUmemGenericAllocationHandle handle = 0;
  const std::size_t too_much = (total / granule + 64) * granule;
  EXPECT_EQ(cuda().cuMemCreate(&handle, too_much, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(VirtualMemory, MapOffsetsMustBeZero) {
  const CUmemGenericAllocationHandle handle = create(2);
  EXPECT_EQ(cuda().cuMemMap(at(0), granule, granule, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemMap(at(0), granule, 0, handle, 1), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuda().cuMemRelease(handle));
}

TEST_F(VirtualMemory, MappingsStayInsideTheirReservationAndHandle) {
  const CUmemGenericAllocationHandle handle = create(2);
  EXPECT_EQ(map(kGranules - 1, 2, handle), CUDA_ERROR_INVALID_VALUE) << "past the reservation";
  EXPECT_EQ(map(0, 3, handle), CUDA_ERROR_INVALID_VALUE) << "past the handle";
  FERRY_OK(cuda().cuMemRelease(handle));
  CUmemGenericAllocationHandle unreserved = create(1);
  const DeviceBuffer plain(4 * granule);
  EXPECT_EQ(
      cuda().cuMemMap((plain.address + granule - 1) / granule * granule, granule, 0, unreserved, 0),
      CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuda().cuMemRelease(unreserved));
}

TEST_F(VirtualMemory, WhatIsMappedCannotBeMappedOver) {
  back(1, 2);
  const CUmemGenericAllocationHandle handle = create(4);
  EXPECT_EQ(map(1, 2, handle), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(map(0, 2, handle), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(map(2, 2, handle), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(map(0, 4, handle), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuda().cuMemRelease(handle));
  FERRY_OK(unmap(1, 2));
}

TEST_F(VirtualMemory, UnmapTakesWholeMappingsOnly) {
  back(0, 2);
  EXPECT_EQ(unmap(0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(unmap(1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(unmap(4, 1), CUDA_ERROR_INVALID_VALUE) << "nothing is mapped there";
  write_word(at(1), 5);
  EXPECT_EQ(read_word(at(1)), 5U) << "a refused unmap changes nothing";
  FERRY_OK(unmap(0, 2));
  EXPECT_EQ(unmap(0, 2), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemory, UnmapMayTakeSeveralWholeMappings) {
  back(0, 1);
  back(1, 2);
  FERRY_OK(unmap(0, 3));
}

TEST_F(VirtualMemory, SetAccessCutsNoMapping) {
  const CUmemGenericAllocationHandle handle = create(2);
  FERRY_OK(map(0, 2, handle));
  FERRY_OK(map(2, 2, handle));
  EXPECT_NE(open(0, 1), CUDA_SUCCESS) << "half of a mapping";
  EXPECT_NE(open(1, 2), CUDA_SUCCESS) << "halves of two mappings";
  EXPECT_NE(open(0, 3), CUDA_SUCCESS) << "one and a half";
  FERRY_OK(open(0, 4)) << "several whole mappings at once";
  EXPECT_NE(open(0, 5), CUDA_SUCCESS) << "the last granule is not mapped";
  EXPECT_EQ(cuda().cuMemSetAccess(at(0), 4 * granule, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(unmap(0, 4));
  FERRY_OK(cuda().cuMemRelease(handle));
}

TEST_F(VirtualMemory, AccessIsReportedAndStartsWithNone) {
  const CUmemGenericAllocationHandle handle = create(1);
  FERRY_OK(map(0, 1, handle));
  unsigned long long flags = 99;
  const CUmemLocation here = prop.location;
  FERRY_OK(cuda().cuMemGetAccess(&flags, &here, at(0)));
  EXPECT_EQ(flags, static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_NONE));
  FERRY_OK(open(0, 1));
  FERRY_OK(cuda().cuMemGetAccess(&flags, &here, at(0)));
  EXPECT_EQ(flags, static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  FERRY_OK(unmap(0, 1));
  FERRY_OK(map(0, 1, handle));
  FERRY_OK(cuda().cuMemGetAccess(&flags, &here, at(0)));
  EXPECT_EQ(flags, static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_NONE))
      << "a new mapping starts closed";
  FERRY_OK(unmap(0, 1));
  FERRY_OK(cuda().cuMemRelease(handle));
}

TEST_F(VirtualMemory, ReservationsAreFreedWholeAndEmpty) {
  CUdeviceptr other = 0;
  FERRY_OK(cuda().cuMemAddressReserve(&other, 4 * granule, 0, 0, 0));
  EXPECT_EQ(cuda().cuMemAddressFree(other, 2 * granule), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemAddressFree(other + granule, 3 * granule), CUDA_ERROR_INVALID_VALUE);
  const CUmemGenericAllocationHandle handle = create(1);
  FERRY_OK(cuda().cuMemMap(other + granule, granule, 0, handle, 0));
  EXPECT_NE(cuda().cuMemAddressFree(other, 4 * granule), CUDA_SUCCESS) << "something is mapped";
  FERRY_OK(cuda().cuMemUnmap(other + granule, granule));
  FERRY_OK(cuda().cuMemRelease(handle));
  FERRY_OK(cuda().cuMemAddressFree(other, 4 * granule));
  EXPECT_EQ(cuda().cuMemAddressFree(other, 4 * granule), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemory, ReserveRefusesBadArguments) {
  CUdeviceptr other = 0;
  EXPECT_EQ(cuda().cuMemAddressReserve(nullptr, granule, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemAddressReserve(&other, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemAddressReserve(&other, granule + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemAddressReserve(&other, granule, 3 * granule, 0, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemAddressReserve(&other, granule, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemory, ReserveHonoursAlignment) {
  CUdeviceptr other = 0;
  const std::size_t alignment = 64 * granule;
  FERRY_OK(cuda().cuMemAddressReserve(&other, granule, alignment, 0, 0));
  EXPECT_EQ(other % alignment, 0U);
  FERRY_OK(cuda().cuMemAddressFree(other, granule));
}

TEST_F(VirtualMemory, HandlesAreCounted) {
  const CUmemGenericAllocationHandle handle = create(1);
  FERRY_OK(map(0, 1, handle));
  CUmemGenericAllocationHandle again = 0;
  FERRY_OK(cuda().cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(at(0) + 1000)));
  EXPECT_EQ(again, handle);
  FERRY_OK(cuda().cuMemRelease(handle));
  CUmemAllocationProp seen{};
  FERRY_OK(cuda().cuMemGetAllocationPropertiesFromHandle(&seen, again)) << "one reference is left";
  EXPECT_EQ(seen.location.id, device);
  EXPECT_EQ(seen.type, CU_MEM_ALLOCATION_TYPE_PINNED);
  FERRY_OK(cuda().cuMemRelease(again));
  FERRY_OK(unmap(0, 1));
  EXPECT_NE(cuda().cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(at(0))),
            CUDA_SUCCESS);
}

TEST_F(VirtualMemory, PlainFreeDoesNotTakeMappedMemory) {
  back(0, 1);
  EXPECT_EQ(cuda().cuMemFree_v2(at(0)), CUDA_ERROR_INVALID_VALUE);
  write_word(at(0), 3);
  EXPECT_EQ(read_word(at(0)), 3U);
  FERRY_OK(unmap(0, 1));
}

TEST_F(VirtualMemory, PointerAttributesTellReservationAndMapping) {
  back(2, 1);
  CUdeviceptr start = 0;
  std::size_t size = 0;
  bool mapped = false;
  FERRY_OK(cuda().cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at(2) + 5));
  FERRY_OK(cuda().cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, at(2) + 5));
  FERRY_OK(cuda().cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, at(2) + 5));
  EXPECT_EQ(start, base);
  EXPECT_EQ(size, kGranules * granule);
  EXPECT_TRUE(mapped);
  FERRY_OK(unmap(2, 1));
}

// Unlike the attributes, so that a program can learn how far the memory goes.
TEST_F(VirtualMemory, AddressRangeIsThatOfTheMapping) {
  back(2, 1);
  CUdeviceptr start = 0;
  std::size_t size = 0;
  FERRY_OK(cuda().cuMemGetAddressRange_v2(&start, &size, at(2) + 5));
  EXPECT_EQ(start, at(2));
  EXPECT_EQ(size, granule);
  EXPECT_NE(cuda().cuMemGetAddressRange_v2(&start, &size, at(1) + 5), CUDA_SUCCESS);
  FERRY_OK(unmap(2, 1));
}

}  // namespace
}  // namespace ferry::conformance
