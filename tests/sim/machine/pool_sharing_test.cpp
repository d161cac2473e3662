// SPDX-License-Identifier: Apache-2.0
// What is particular to two processes is in the conformance suite, what is refused in
// pool_refusals_test.cpp.
#include "sim/machine/pool_sharing.hpp"

#include <array>

#include "sim/machine/ipc_handle.hpp"
#include "sim/machine/pool_sharing_fixture.hpp"

namespace ferry::sim {
namespace {

TEST_F(PoolSharingTest, BytesAreTheSameOnBothSides) {
  const CUmemoryPool pool = create();
  const CUdeviceptr early = take(pool, 1000);
  FERRY_OK(cuMemsetD32_v2(early, 7, 1));
  const CUmemoryPool other = imported(pool);
  const CUdeviceptr late = take(pool, 64 * kMiB);
  FERRY_OK(cuMemsetD32_v2(late + 63 * kMiB, 8, 1));
  FERRY_OK(cuCtxSynchronize());
  CUmemPoolPtrExportData data = data_of(early);
  CUdeviceptr seen = 0;
  FERRY_OK(cuMemPoolImportPointer(&seen, other, &data));
  EXPECT_NE(seen, early);
  EXPECT_EQ(peek(seen), 7U) << "from before the export";
  EXPECT_EQ(peek(seen + 4), kUnwritten);
  data = data_of(late);
  CUdeviceptr grown = 0;
  FERRY_OK(cuMemPoolImportPointer(&grown, other, &data));
  EXPECT_EQ(peek(grown + 63 * kMiB), 8U) << "from a block that came after the export";
  FERRY_OK(cuMemsetD32_v2(grown, 9, 1));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(late), 9U);
  CUmemoryPool from = nullptr;
  FERRY_OK(cuPointerGetAttribute(&from, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, seen));
  EXPECT_EQ(from, other);
}

TEST_F(PoolSharingTest, BlocksHaveTheirBytesForThemselves) {
  const CUmemoryPool pool = create();
  const std::array blocks{take(pool, 32 * kMiB), take(pool, 64 * kMiB)};
  const CUmemoryPool other = imported(pool);
  const CUdeviceptr late = take(pool, 64 * kMiB);
  FERRY_OK(cuMemsetD32_v2(blocks[0], 1, 1));
  FERRY_OK(cuMemsetD32_v2(blocks[1], 2, 1));
  FERRY_OK(cuMemsetD32_v2(late, 3, 1));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(import_from(other, data_of(blocks[0]))), 1U);
  EXPECT_EQ(peek(import_from(other, data_of(blocks[1]))), 2U);
  EXPECT_EQ(peek(import_from(other, data_of(late))), 3U);
}

TEST_F(PoolSharingTest, AFreeOfTheImporterLeavesTheBytes) {
  const CUmemoryPool pool = create();
  const CUmemoryPool other = imported(pool);
  const CUdeviceptr address = take(pool, 1000);
  FERRY_OK(cuMemsetD32_v2(address, 7, 1));
  FERRY_OK(cuCtxSynchronize());
  CUmemPoolPtrExportData data = data_of(address);
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  FERRY_OK(cuMemPoolImportPointer(&first, other, &data));
  FERRY_OK(cuMemPoolImportPointer(&second, other, &data));
  EXPECT_EQ(attribute(other, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 2000U);
  FERRY_OK(cuMemFree_v2(first));
  FERRY_OK(cuMemFreeAsync(second, nullptr));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(attribute(other, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0U);
  EXPECT_EQ(attribute(other, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 2000U);
  cuuint64_t none = 0;
  FERRY_OK(cuMemPoolSetAttribute(other, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &none));
  EXPECT_EQ(attribute(other, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0U);
  EXPECT_EQ(attribute(other, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 2000U);
  EXPECT_EQ(peek(address), 7U);
  EXPECT_EQ(cuMemFree_v2(first), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuMemPoolDestroy(other));
}

TEST_F(PoolSharingTest, WhatWasFreedIsNotImported) {
  const CUmemoryPool pool = create();
  const CUmemoryPool other = imported(pool);
  const CUdeviceptr address = take(pool, 1000);
  CUmemPoolPtrExportData data = data_of(address);
  FERRY_OK(cuMemFreeAsync(address, nullptr));
  CUdeviceptr seen = 0;
  EXPECT_EQ(cuMemPoolImportPointer(&seen, other, &data), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolExportPointer(&data, address), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(PoolSharingTest, ADestroyedPoolWaitsForItsImports) {
  const CUmemoryPool pool = create();
  const CUmemoryPool other = imported(pool);
  const CUdeviceptr address = take(pool, 1000);
  FERRY_OK(cuMemsetD32_v2(address, 7, 1));
  FERRY_OK(cuCtxSynchronize());
  CUmemPoolPtrExportData data = data_of(address);
  CUdeviceptr seen = 0;
  FERRY_OK(cuMemPoolImportPointer(&seen, other, &data));
  FERRY_OK(cuMemPoolDestroy(other));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(seen), 7U);
  FERRY_OK(cuMemFree_v2(seen));
  FERRY_OK(cuCtxSynchronize());
}

TEST_F(PoolSharingTest, MemoryStaysUntilThePoolEnds) {
  const CUmemoryPool pool = create();
  const CUdeviceptr address = take(pool, 1000);
  FERRY_OK(cuMemFreeAsync(address, nullptr));
  FERRY_OK(cuCtxSynchronize());
  FERRY_OK(cuMemPoolTrimTo(pool, 0));
  EXPECT_GT(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0U);
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  FERRY_OK(cuMemGetInfo_v2(&before, &total));
  FERRY_OK(cuMemPoolDestroy(pool));
  FERRY_OK(cuMemGetInfo_v2(&after, &total));
  EXPECT_GT(after, before);
}

TEST_F(PoolSharingTest, AFreeOfTheExporterWhileAnImporterUsesItIsAHazard) {
  restart("schedule=lazy");
  const CUmemoryPool pool = create();
  const CUmemoryPool other = imported(pool);
  const CUstream ours = stream();
  const CUstream theirs = stream();
  const CUdeviceptr address = take(pool, 1000, ours);
  FERRY_OK(cuStreamSynchronize(ours));
  const CUdeviceptr seen = import_from(other, data_of(address));
  FERRY_OK(cuMemsetD8Async(seen, 1, 1000, theirs));
  FERRY_OK(cuMemFreeAsync(address, ours));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(seen), 0x01010101U) << "by chance it came last";
  FERRY_OK(cuMemFreeAsync(seen, theirs));
  FERRY_OK(cuCtxSynchronize());
}

TEST_F(PoolSharingTest, AFreeOfTheExporterAfterTheImportersIsNone) {
  restart("schedule=lazy");
  const CUmemoryPool pool = create();
  const CUmemoryPool other = imported(pool);
  const CUstream ours = stream();
  const CUstream theirs = stream();
  const CUdeviceptr address = take(pool, 1000, ours);
  FERRY_OK(cuStreamSynchronize(ours));
  const CUdeviceptr seen = import_from(other, data_of(address));
  FERRY_OK(cuMemsetD8Async(seen, 1, 1000, theirs));
  FERRY_OK(cuMemFreeAsync(seen, theirs));
  const CUevent freed = event();
  FERRY_OK(cuEventRecord(freed, theirs));
  FERRY_OK(cuStreamWaitEvent(ours, freed, 0));
  FERRY_OK(cuMemFreeAsync(address, ours));
  FERRY_OK(cuCtxSynchronize());
}

TEST_F(PoolSharingTest, AfterTheExportersFreeTheBytesAreGone) {
  const CUmemoryPool pool = create();
  const CUmemoryPool other = imported(pool);
  const CUdeviceptr address = take(pool, 1000);
  FERRY_OK(cuMemsetD32_v2(address, 7, 1));
  FERRY_OK(cuCtxSynchronize());
  const CUdeviceptr seen = import_from(other, data_of(address));
  EXPECT_EQ(peek(seen), 7U);
  FERRY_OK(cuMemFreeAsync(address, nullptr));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(seen), kUnwritten);
  const CUdeviceptr next = take(pool, 1000);
  FERRY_OK(cuMemsetD32_v2(next, 8, 1));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(seen), 8U) << "the bytes are another's now";
}

TEST_F(PoolSharingTest, TheImportersFreeEndsNoBytes) {
  restart("schedule=lazy");
  const CUmemoryPool pool = create();
  const CUmemoryPool other = imported(pool);
  const CUstream first = stream();
  const CUdeviceptr address = take(pool, 1000, first);
  FERRY_OK(cuStreamSynchronize(first));
  const CUdeviceptr seen = import_from(other, data_of(address));
  FERRY_OK(cuMemsetD8Async(address, 1, 1000, first));
  FERRY_OK(cuMemFree_v2(seen));
  FERRY_OK(cuMemsetD8Async(address, 2, 1000, stream()));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U) << "the exporter's two writes";
  FERRY_OK(cuCtxSynchronize());
}

TEST_F(PoolSharingTest, OtherDevicesNeedTheImportersLeave) {
  restart("devices=2");
  const CUmemoryPool pool = create();
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 1},
                               CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  FERRY_OK(cuMemPoolSetAccess(pool, &access, 1));
  const CUmemoryPool other = imported(pool);
  const CUdeviceptr address = take(pool, 1000);
  FERRY_OK(cuCtxSynchronize());
  const CUdeviceptr seen = import_from(other, data_of(address));
  CUcontext second = nullptr;
  FERRY_OK(cuCtxCreate_v2(&second, 0, 1));
  FERRY_OK(cuMemsetD8Async(address, 1, 1000, nullptr));
  FERRY_OK(cuCtxSynchronize());
  FERRY_OK(cuMemPoolSetAccess(other, &access, 1));
  FERRY_OK(cuMemsetD8Async(seen, 2, 1000, nullptr));
  FERRY_OK(cuCtxSynchronize());
  const CUdeviceptr again = import_from(other, data_of(address));
  FERRY_OK(cuMemsetD8Async(again, 3, 1000, nullptr));
  FERRY_OK(cuCtxSynchronize());
  const CUmemoryPool fresh = imported(pool);
  const CUdeviceptr closed = import_from(fresh, data_of(address));
  FERRY_OK(cuMemsetD8Async(closed, 4, 1000, nullptr));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(PoolSharingTest, PointersSayHowTheirPoolIsShared) {
  const auto types_of = [](CUdeviceptr address) {
    unsigned long long types = 0;
    EXPECT_EQ(cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, address),
              CUDA_SUCCESS);
    return types;
  };
  const CUmemoryPool pool = create();
  const CUdeviceptr address = take(pool, 16);
  EXPECT_EQ(types_of(address), kDescriptor) << "before anyone asks for a descriptor";
  const CUmemoryPool other = imported(pool);
  EXPECT_EQ(types_of(import_from(other, data_of(address))), kDescriptor);
  EXPECT_EQ(types_of(take(create(CU_MEM_HANDLE_TYPE_NONE), 16)), 0U);
  SharedDescription described;
  described.kind = SharedKind::pool;
  described.with_data = 1;
  described.size = 2 * kMiB;
  const auto theirs = SharedMemory::create(described);
  CUmemoryPool foreign = nullptr;
  FERRY_OK(cuMemPoolImportFromShareableHandle(&foreign, in_a_pointer(theirs->file().descriptor()),
                                              kDescriptor, 0));
  CUmemPoolPtrExportData data{};
  write_ipc_handle(
      {SharedKind::pool, 0, 0, theirs->file().id(), *theirs->offer({0, 2 * kMiB, 0, 16})}, &data);
  EXPECT_EQ(types_of(import_from(foreign, data)), kDescriptor) << "of another process";
}

TEST_F(PoolSharingTest, SizesAloneAreSharedToo) {
  restart("data=none");
  const CUmemoryPool pool = create();
  const CUdeviceptr address = take(pool, std::size_t{8} << 30);
  const CUmemoryPool other = imported(pool);
  const CUdeviceptr seen = import_from(other, data_of(address));
  std::size_t size = 0;
  FERRY_OK(cuMemGetAddressRange_v2(nullptr, &size, seen + kMiB));
  EXPECT_EQ(size, std::size_t{8} << 30);
}

TEST_F(PoolSharingTest, TheEndOfTheDevicesContextEndsTheImports) {
  const CUmemoryPool pool = create();
  const CUmemoryPool other = imported(pool);
  const CUdeviceptr seen = import_from(other, data_of(take(pool, 1000)));
  FERRY_OK(cuDevicePrimaryCtxReset_v2(0));
  FERRY_OK(cuDevicePrimaryCtxRetain(&context, 0));
  FERRY_OK(cuCtxSetCurrent(context));
  EXPECT_EQ(attribute(other, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0U);
  EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0U);
  EXPECT_EQ(cuMemFree_v2(seen), CUDA_ERROR_INVALID_VALUE);
  const CUdeviceptr address = take(pool, 1000);
  FERRY_OK(cuMemsetD32_v2(address, 5, 1));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(import_from(other, data_of(address))), 5U) << "the pools live on";
}

TEST_F(PoolSharingTest, TwoViewsOfTheSameBytesCollide) {
  restart("schedule=lazy");
  const CUmemoryPool pool = create();
  const CUmemoryPool other = imported(pool);
  const CUstream first = stream();
  const CUdeviceptr address = take(pool, 1000, first);
  FERRY_OK(cuStreamSynchronize(first));
  CUmemPoolPtrExportData data = data_of(address);
  CUdeviceptr seen = 0;
  FERRY_OK(cuMemPoolImportPointer(&seen, other, &data));
  FERRY_OK(cuMemsetD8Async(address, 1, 1000, first));
  FERRY_OK(cuMemsetD8Async(seen, 2, 1000, stream()));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  FERRY_OK(cuCtxSynchronize());
}

}  // namespace
}  // namespace ferry::sim
