// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/sharing.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/machine/no_descriptors.hpp"
#include "sim/memory/shared_memory.hpp"
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

constexpr auto kDescriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

void* in_a_pointer(int descriptor) {
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
}

CUresult import(CUmemGenericAllocationHandle& handle, int descriptor) {
  return cuMemImportFromShareableHandle(&handle, in_a_pointer(descriptor), kDescriptor);
}

class SharingTest : public SimTest {
 protected:
  static CUmemGenericAllocationHandle create(std::size_t bytes) {
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    prop.requestedHandleTypes = kDescriptor;
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(cuMemCreate(&handle, bytes, &prop, 0), CUDA_SUCCESS);
    return handle;
  }
  static CUdeviceptr map(CUmemGenericAllocationHandle handle, std::size_t bytes) {
    CUdeviceptr base = 0;
    const CUmemAccessDesc description{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                      CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    EXPECT_EQ(cuMemAddressReserve(&base, bytes, 0, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemMap(base, bytes, 0, handle, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemSetAccess(base, bytes, &description, 1), CUDA_SUCCESS);
    return base;
  }
  static int export_of(CUmemGenericAllocationHandle handle) {
    int descriptor = -1;
    EXPECT_EQ(cuMemExportToShareableHandle(&descriptor, handle, kDescriptor, 0), CUDA_SUCCESS);
    return descriptor;
  }
  static std::size_t free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_EQ(cuMemGetInfo_v2(&free, &total), CUDA_SUCCESS);
    return free;
  }
  // A descriptor as another process of the stand-in would send it.
  static std::shared_ptr<SharedMemory> foreign(const SharedDescription& described) {
    return SharedMemory::create(described);
  }
  static SharedDescription described() {
    SharedDescription described;
    described.with_data = 1;
    described.size = 2 * kMiB;
    return described;
  }
};

TEST_F(SharingTest, WhatWasWrittenBeforeTheExportGoesAlong) {
  const CUmemGenericAllocationHandle handle = create(4 * kMiB);
  const CUdeviceptr base = map(handle, 4 * kMiB);
  FERRY_OK(cuMemsetD32_v2(base + 3 * kMiB, 0x1234, 1));
  const int descriptor = export_of(handle);
  const auto memory = SharedMemory::open(SealedFile::open(descriptor, SharedKind::created));
  ASSERT_TRUE(memory);
  SharedRange range(memory, 0, memory->size());
  ASSERT_NE(range.peek(3 * kMiB), nullptr);
  EXPECT_EQ(*range.peek(3 * kMiB), std::byte{0x34});
  EXPECT_EQ(range.peek(0), nullptr);
  EXPECT_EQ(range.peek(3 * kMiB + 8192), nullptr) << "nor the pages beside it";
  FERRY_OK(cuMemsetD32_v2(base, 0x77, 1));
  ASSERT_NE(range.peek(0), nullptr);
  EXPECT_EQ(*range.peek(0), std::byte{0x77});
  EXPECT_EQ(peek(base + 3 * kMiB), 0x1234U);
  EXPECT_EQ(peek(base + kMiB), kUnwritten);
  close(descriptor);
}

TEST_F(SharingTest, MemoryOfAnotherProcessIsReadWrittenAndNotCounted) {
  const auto memory = foreign(described());
  const std::size_t before = free_bytes();
  CUmemGenericAllocationHandle handle = 0;
  FERRY_OK(import(handle, memory->file().descriptor()));
  EXPECT_EQ(free_bytes(), before);
  const CUdeviceptr base = map(handle, 2 * kMiB);
  EXPECT_EQ(peek(base), kUnwritten);
  SharedRange theirs(memory, 0, 2 * kMiB);
  *theirs.open_for_write(8, 1) = std::byte{9};
  EXPECT_EQ(peek(base + 8), 0xA5A5A509U);
  FERRY_OK(cuMemsetD8_v2(base + 9, 3, 1));
  EXPECT_EQ(theirs.peek(9)[0], std::byte{3});
  FERRY_OK(cuCtxSynchronize());
  FERRY_OK(cuMemRelease(handle));
  FERRY_OK(cuMemUnmap(base, 2 * kMiB));
  EXPECT_EQ(free_bytes(), before) << "nor when it goes";
}

TEST_F(SharingTest, OneFileIsOneMemoryHoweverItCameHere) {
  restart("schedule=lazy");
  const CUmemGenericAllocationHandle handle = create(2 * kMiB);
  const int descriptor = export_of(handle);
  CUmemGenericAllocationHandle same = 0;
  FERRY_OK(import(same, descriptor));
  const CUdeviceptr one = map(handle, 2 * kMiB);
  const CUdeviceptr other = map(same, 2 * kMiB);
  FERRY_OK(cuMemsetD32Async(one, 1, 16, stream()));
  FERRY_OK(cuMemsetD32Async(other + 4, 2, 16, stream()));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U) << "two views of the same bytes";
  FERRY_OK(cuCtxSynchronize());
  close(descriptor);
}

TEST_F(SharingTest, TheMemoryLivesAsLongAsSomeoneHoldsIt) {
  const std::size_t before = free_bytes();
  const CUmemGenericAllocationHandle handle = create(2 * kMiB);
  const CUdeviceptr base = map(handle, 2 * kMiB);
  FERRY_OK(cuMemsetD32_v2(base, 5, 1));
  const int descriptor = export_of(handle);
  FERRY_OK(cuCtxSynchronize());
  FERRY_OK(cuMemUnmap(base, 2 * kMiB));
  FERRY_OK(cuMemRelease(handle));
  EXPECT_EQ(free_bytes(), before) << "the exporter no longer has it";
  CUmemGenericAllocationHandle back = 0;
  FERRY_OK(import(back, descriptor));
  close(descriptor);
  EXPECT_EQ(peek(map(back, 2 * kMiB)), 5U);
  CUmemAllocationProp prop{};
  FERRY_OK(cuMemGetAllocationPropertiesFromHandle(&prop, back));
  EXPECT_EQ(prop.requestedHandleTypes, kDescriptor);
}

TEST_F(SharingTest, OfNoUseHereIsNotSupported) {
  CUmemGenericAllocationHandle handle = 0;
  SharedDescription other = described();
  other.device = 1;
  const int closed = foreign(other)->file().descriptor();
  EXPECT_EQ(import(handle, closed), CUDA_ERROR_INVALID_VALUE);
  const auto elsewhere = foreign(other);
  EXPECT_EQ(import(handle, elsewhere->file().descriptor()), CUDA_ERROR_NOT_SUPPORTED)
      << "on a device that is not visible";
  other = described();
  other.with_data = 0;
  const auto without_data = foreign(other);
  EXPECT_EQ(import(handle, without_data->file().descriptor()), CUDA_ERROR_NOT_SUPPORTED);
  other = described();
  other.size = kMiB;
  const auto odd = foreign(other);
  EXPECT_EQ(import(handle, odd->file().descriptor()), CUDA_ERROR_NOT_SUPPORTED)
      << "of another granularity";
}

TEST_F(SharingTest, DescriptorsOfAnythingElseAreRefused) {
  CUmemGenericAllocationHandle handle = 0;
  for (const int wrong : {-1, 0, 1 << 20}) {
    EXPECT_EQ(import(handle, wrong), CUDA_ERROR_INVALID_VALUE) << wrong;
  }
  EXPECT_EQ(cuMemImportFromShareableHandle(&handle, reinterpret_cast<void*>(~std::uintptr_t{0} / 2),
                                           kDescriptor),
            CUDA_ERROR_INVALID_VALUE);
  const auto right = foreign(described());
  for (const std::int64_t beside : {std::int64_t{1} << 32, -(std::int64_t{1} << 32)}) {
    const std::int64_t wrong = right->file().descriptor() + beside;
    EXPECT_EQ(cuMemImportFromShareableHandle(&handle, reinterpret_cast<void*>(wrong), kDescriptor),
              CUDA_ERROR_INVALID_VALUE)
        << "no descriptor, though its lower half is one";
  }
  SharedDescription other = described();
  other.kind = SharedKind::pool;
  const auto pool = foreign(other);
  EXPECT_EQ(import(handle, pool->file().descriptor()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(handle, 0U);
}

TEST_F(SharingTest, OtherTypesAndArguments) {
  const CUmemGenericAllocationHandle handle = create(2 * kMiB);
  int descriptor = -1;
  EXPECT_EQ(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_NONE, 0),
            CUDA_ERROR_INVALID_VALUE);
  CUmemGenericAllocationHandle imported = 0;
  EXPECT_EQ(cuMemImportFromShareableHandle(&imported, in_a_pointer(0), CU_MEM_HANDLE_TYPE_WIN32),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMemImportFromShareableHandle(nullptr, in_a_pointer(0), kDescriptor),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(descriptor, -1);
}

TEST_F(SharingTest, WithoutDescriptorsNothingIsExported) {
  const CUmemGenericAllocationHandle fresh = create(2 * kMiB);
  const CUmemGenericAllocationHandle shared = create(2 * kMiB);
  close(export_of(shared));
  int descriptor = -1;
  {
    const NoDescriptors used_up;
    EXPECT_EQ(cuMemExportToShareableHandle(&descriptor, fresh, kDescriptor, 0),
              CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(cuMemExportToShareableHandle(&descriptor, shared, kDescriptor, 0),
              CUDA_ERROR_OUT_OF_MEMORY);
    CUipcMemHandle handle{};
    EXPECT_EQ(cuIpcGetMemHandle(&handle, allocate(64)), CUDA_ERROR_OUT_OF_MEMORY);
  }
  EXPECT_EQ(descriptor, -1);
  close(export_of(fresh));
}

TEST_F(SharingTest, ThatOtherDevicesMayReachItGoesAlong) {
  restart("rdma=on");
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  prop.requestedHandleTypes = kDescriptor;
  prop.allocFlags.gpuDirectRDMACapable = 1;
  CUmemGenericAllocationHandle handle = 0;
  FERRY_OK(cuMemCreate(&handle, 2 * kMiB, &prop, 0));
  const int descriptor = export_of(handle);
  const auto outside = SharedMemory::open(SealedFile::open(descriptor, SharedKind::created));
  EXPECT_EQ(outside->description().rdma, 1U);
  close(descriptor);
  SharedDescription theirs = described();
  theirs.rdma = 1;
  const auto memory = foreign(theirs);
  FERRY_OK(import(handle, memory->file().descriptor()));
  FERRY_OK(cuMemGetAllocationPropertiesFromHandle(&prop, handle));
  EXPECT_EQ(prop.allocFlags.gpuDirectRDMACapable, 1);
}

TEST_F(SharingTest, WithoutDataOnlySizesAreShared) {
  restart("data=none;capacity=80GiB");
  const CUmemGenericAllocationHandle handle = create(std::size_t{60} << 30);
  const int descriptor = export_of(handle);
  CUmemGenericAllocationHandle same = 0;
  FERRY_OK(import(same, descriptor));
  const CUdeviceptr base = map(same, std::size_t{60} << 30);
  FERRY_OK(cuMemsetD8_v2(base, 1, std::size_t{60} << 30));
  close(descriptor);
}

}  // namespace
}  // namespace ferry::sim
