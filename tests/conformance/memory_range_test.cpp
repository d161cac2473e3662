// SPDX-License-Identifier: Apache-2.0
// What can be asked of ranges of managed memory, and the attribute of pointers that can be set.
#include "conformance/managed_fixture.hpp"

namespace ferry::conformance {
namespace {

class MemoryRanges : public WithManagedMemory {
 protected:
  MemoryRanges() : WithManagedMemory(kBytes) {}
  int get(CUmem_range_attribute attribute) {
    int value = -9;
    EXPECT_EQ(cuda().cuMemRangeGetAttribute(&value, sizeof value, attribute, memory, kBytes),
              CUDA_SUCCESS);
    return value;
  }

  static constexpr std::size_t kBytes = 4 * kMiB;
};

TEST_F(MemoryRanges, AreAsTheyWereAdvised) {
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), int{CU_DEVICE_INVALID});
  FERRY_OK(cuda().cuMemAdvise(memory, kBytes, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
  FERRY_OK(cuda().cuMemAdvise(memory, kBytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device));
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 1);
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), device);
  FERRY_OK(cuda().cuMemAdvise(memory, kBytes, CU_MEM_ADVISE_UNSET_READ_MOSTLY, device));
  FERRY_OK(cuda().cuMemAdvise(memory, kBytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU));
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), int{CU_DEVICE_CPU});
}

TEST_F(MemoryRanges, OnlyAllOfARangeCounts) {
  FERRY_OK(cuda().cuMemAdvise(memory, kBytes / 2, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
  int value = 0;
  FERRY_OK(cuda().cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                         memory, kBytes / 2));
  EXPECT_EQ(value, 1);
}

TEST_F(MemoryRanges, RememberTheirLastPrefetch) {
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), int{CU_DEVICE_INVALID});
  FERRY_OK(cuda().cuMemPrefetchAsync(memory, kBytes, device, nullptr));
  EXPECT_EQ(get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), device);
  FERRY_OK(cuda().cuCtxSynchronize());
}

TEST_F(MemoryRanges, ListWhoHasAccess) {
  FERRY_OK(cuda().cuMemAdvise(memory, kBytes, CU_MEM_ADVISE_SET_ACCESSED_BY, device));
  int devices[3] = {};
  FERRY_OK(cuda().cuMemRangeGetAttribute(devices, sizeof devices,
                                         CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, kBytes));
  EXPECT_EQ(devices[0], device);
  EXPECT_EQ(devices[1], int{CU_DEVICE_INVALID});
  EXPECT_EQ(devices[2], int{CU_DEVICE_INVALID});
}

TEST_F(MemoryRanges, SeveralAreAskedAtOnce) {
  int read_mostly = -9;
  int preferred = -9;
  void* data[] = {&read_mostly, &preferred};
  std::size_t sizes[] = {4, 4};
  CUmem_range_attribute attributes[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                        CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
  FERRY_OK(cuda().cuMemRangeGetAttributes(data, sizes, attributes, 2, memory, kBytes));
  EXPECT_EQ(read_mostly, 0);
  EXPECT_EQ(preferred, int{CU_DEVICE_INVALID});
}

TEST_F(MemoryRanges, BadRequestsAreRefused) {
  std::int64_t value = 0;
  EXPECT_EQ(
      cuda().cuMemRangeGetAttribute(&value, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, kBytes),
      CUDA_ERROR_INVALID_VALUE)
      << "of another size";
  EXPECT_EQ(
      cuda().cuMemRangeGetAttribute(&value, 0, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, kBytes),
      CUDA_ERROR_INVALID_VALUE);
  const DeviceBuffer plain(4096);
  EXPECT_EQ(cuda().cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                          plain.address, 4096),
            CUDA_ERROR_INVALID_VALUE);
}

class SyncMemops : public WithContext {};

TEST_F(SyncMemops, IsSetAndAsked) {
  const DeviceBuffer buffer(4096);
  bool on = true;
  FERRY_OK(cuda().cuPointerGetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, buffer.address));
  EXPECT_FALSE(on);
  const unsigned one = 1;
  FERRY_OK(cuda().cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, buffer.address));
  FERRY_OK(cuda().cuPointerGetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, buffer.address));
  EXPECT_TRUE(on);
  EXPECT_EQ(cuda().cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_CONTEXT, buffer.address),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuPointerSetAttribute(nullptr, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, buffer.address),
            CUDA_ERROR_INVALID_VALUE);
}

// A fill by its plain name has ended on return then: a stream that nothing orders with it may read.
TEST_F(SyncMemops, MakesPlainFillsWait) {
  const StreamOwner stream;
  const DeviceBuffer buffer(kMiB);
  const DeviceBuffer other(kMiB);
  PinnedBuffer to(kMiB);
  const unsigned one = 1;
  FERRY_OK(cuda().cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, buffer.address));
  FERRY_OK(cuda().cuMemsetD8_v2(buffer.address, 0x71, kMiB));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, buffer.address, kMiB, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(0x71));
  FERRY_OK(cuda().cuMemcpyDtoD_v2(other.address, buffer.address, kMiB));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, other.address, kMiB, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(0x71));
}

}  // namespace
}  // namespace ferry::conformance
