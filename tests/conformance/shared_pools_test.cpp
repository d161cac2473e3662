// SPDX-License-Identifier: Apache-2.0
// Pools of stream-ordered memory between two processes: the test makes them, a role imports them.
#include <unistd.h>

#include "conformance/between_processes.hpp"

namespace ferry::conformance {
namespace {

constexpr std::size_t kBytes = 3 * kMiB;

CUmemoryPool make_pool(CUmemAllocationHandleType types) {
  CUmemPoolProps props{};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.handleTypes = types;
  props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  props.location.id = 0;
  CUmemoryPool pool = nullptr;
  EXPECT_EQ(cuda().cuMemPoolCreate(&pool, &props), CUDA_SUCCESS);
  return pool;
}

// A pool and the descriptor by which others import it.
struct SharedPool {
  SharedPool() : pool(make_pool(kDescriptor)) {
    EXPECT_EQ(cuda().cuMemPoolExportToShareableHandle(&descriptor, pool, kDescriptor, 0),
              CUDA_SUCCESS);
  }
  ~SharedPool() {
    EXPECT_EQ(close(descriptor), 0);
    EXPECT_EQ(cuda().cuMemPoolDestroy(pool), CUDA_SUCCESS);
  }
  SharedPool(const SharedPool&) = delete;
  SharedPool& operator=(const SharedPool&) = delete;

  // Complete when it returns, as others may use it then only.
  [[nodiscard]] CUdeviceptr allocate(const StreamOwner& stream) const {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuda().cuMemAllocFromPoolAsync(&address, kBytes, pool, stream.handle), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuStreamSynchronize(stream.handle), CUDA_SUCCESS);
    return address;
  }

  CUmemoryPool pool = nullptr;
  int descriptor = -1;
};

CUmemPoolPtrExportData data_of(CUdeviceptr address) {
  CUmemPoolPtrExportData data{};
  EXPECT_EQ(cuda().cuMemPoolExportPointer(&data, address), CUDA_SUCCESS);
  return data;
}

void free_now(CUdeviceptr address, const StreamOwner& stream) {
  EXPECT_EQ(cuda().cuMemFreeAsync(address, stream.handle), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuStreamSynchronize(stream.handle), CUDA_SUCCESS);
}

// A pool of the test's process, in a role.
struct ImportedPool {
  explicit ImportedPool(const Channel& test) {
    const int descriptor = test.receive_descriptor();
    EXPECT_EQ(
        cuda().cuMemPoolImportFromShareableHandle(&pool, in_a_pointer(descriptor), kDescriptor, 0),
        CUDA_SUCCESS);
    EXPECT_EQ(close(descriptor), 0);
  }
  ~ImportedPool() { EXPECT_EQ(cuda().cuMemPoolDestroy(pool), CUDA_SUCCESS); }
  ImportedPool(const ImportedPool&) = delete;
  ImportedPool& operator=(const ImportedPool&) = delete;

  [[nodiscard]] CUdeviceptr import(CUmemPoolPtrExportData data) const {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuda().cuMemPoolImportPointer(&address, pool, &data), CUDA_SUCCESS);
    return address;
  }
  [[nodiscard]] CUresult try_import(CUmemPoolPtrExportData data) const {
    CUdeviceptr address = 0;
    return cuda().cuMemPoolImportPointer(&address, pool, &data);
  }

  CUmemoryPool pool = nullptr;
};

class SharedPools : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    int types = 0;
    int events = 0;
    FERRY_OK(cuda().cuDeviceGetAttribute(&types, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES,
                                         device));
    FERRY_OK(cuda().cuDeviceGetAttribute(&events, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, device));
    if ((types & kDescriptor) == 0 || events == 0) GTEST_SKIP() << "the device shares no pools";
  }
};

const RegisterRole g_answer("answer in memory of a pool", [](const Channel& test) {
  const RoleContext context;
  const ImportedPool pool(test);
  const CUdeviceptr early = pool.import(test.receive<CUmemPoolPtrExportData>());
  const CUdeviceptr late = pool.import(test.receive<CUmemPoolPtrExportData>());
  test.send(read_word(early));
  test.send(read_word(late + kBytes - 4));
  write_word(early + 4, 0xB0B);
  write_word(late, 0xB0C);
  EXPECT_EQ(cuda().cuMemFree_v2(early), CUDA_SUCCESS);
  free_now(late, StreamOwner());
});

TEST_F(SharedPools, BytesAreTheSameInBothProcesses) {
  const StreamOwner stream;
  const SharedPool shared;
  const CUdeviceptr early = shared.allocate(stream);
  write_word(early, 0xA11CE);
  const CUmemPoolPtrExportData data = data_of(early);
  CUdeviceptr late = 0;
  {
    const PeerProcess peer("answer in memory of a pool");
    peer.channel().send_descriptor(shared.descriptor);
    peer.channel().send(data);
    late = shared.allocate(stream);
    write_word(late + kBytes - 4, 0xA11CF);
    peer.channel().send(data_of(late));
    EXPECT_EQ(peer.channel().receive<unsigned>(), 0xA11CEU);
    EXPECT_EQ(peer.channel().receive<unsigned>(), 0xA11CFU) << "allocated after the export";
  }
  EXPECT_EQ(read_word(early + 4), 0xB0BU) << "a free of the importer ends nothing here";
  EXPECT_EQ(read_word(late), 0xB0CU);
  free_now(early, stream);
  free_now(late, stream);
}

TEST_F(SharedPools, WhatIsGivenOutAgainIsSharedAnew) {
  const StreamOwner stream;
  const SharedPool shared;
  free_now(shared.allocate(stream), stream);
  const CUdeviceptr early = shared.allocate(stream);
  const CUdeviceptr late = shared.allocate(stream);
  write_word(early, 1);
  write_word(late + kBytes - 4, 2);
  {
    const PeerProcess peer("answer in memory of a pool");
    peer.channel().send_descriptor(shared.descriptor);
    peer.channel().send(data_of(early));
    peer.channel().send(data_of(late));
    EXPECT_EQ(peer.channel().receive<unsigned>(), 1U);
    EXPECT_EQ(peer.channel().receive<unsigned>(), 2U);
  }
  free_now(early, stream);
  free_now(late, stream);
}

// By cuda.h the exporter's free may be queued before the importer's has run, where its stream waits
// for it.
const RegisterRole g_free("copy and free in the order of a stream", [](const Channel& test) {
  const RoleContext context;
  const ImportedPool pool(test);
  const CUdeviceptr address = pool.import(test.receive<CUmemPoolPtrExportData>());
  CUevent written = nullptr;
  EXPECT_EQ(cuda().cuIpcOpenEventHandle(&written, test.receive<CUipcEventHandle>()), CUDA_SUCCESS);
  const EventOwner freed(kShared);
  CUipcEventHandle passed{};
  EXPECT_EQ(cuda().cuIpcGetEventHandle(&passed, freed.handle), CUDA_SUCCESS);
  test.send(passed);
  EXPECT_TRUE(test.receive<bool>()) << "their record is made";
  const StreamOwner stream;
  PinnedBuffer out(kBytes);
  EXPECT_EQ(cuda().cuStreamWaitEvent(stream.handle, written, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuMemcpyDtoHAsync_v2(out.pointer, address, kBytes, stream.handle), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuMemFreeAsync(address, stream.handle), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuEventRecord(freed.handle, stream.handle), CUDA_SUCCESS);
  test.send(true);
  EXPECT_TRUE(test.receive<bool>()) << "they have queued what comes next";
  EXPECT_EQ(cuda().cuStreamSynchronize(stream.handle), CUDA_SUCCESS);
  EXPECT_TRUE(out.holds(0x5A));
  EXPECT_EQ(cuda().cuEventDestroy_v2(written), CUDA_SUCCESS);
});

TEST_F(SharedPools, FreesAreOrderedByEvents) {
  const StreamOwner stream;
  const SharedPool shared;
  const EventOwner written(kShared);
  CUipcEventHandle passed{};
  FERRY_OK(cuda().cuIpcGetEventHandle(&passed, written.handle));
  const CUdeviceptr first = shared.allocate(stream);
  CUdeviceptr second = 0;
  CUevent freed = nullptr;
  {
    const PeerProcess peer("copy and free in the order of a stream");
    peer.channel().send_descriptor(shared.descriptor);
    peer.channel().send(data_of(first));
    peer.channel().send(passed);
    FERRY_OK(cuda().cuIpcOpenEventHandle(&freed, peer.channel().receive<CUipcEventHandle>()));
    FERRY_OK(cuda().cuMemsetD8Async(first, 0x5A, kBytes, stream.handle));
    FERRY_OK(cuda().cuEventRecord(written.handle, stream.handle));
    peer.channel().send(true);
    EXPECT_TRUE(peer.channel().receive<bool>());
    FERRY_OK(cuda().cuStreamWaitEvent(stream.handle, freed, 0));
    FERRY_OK(cuda().cuMemFreeAsync(first, stream.handle));
    FERRY_OK(cuda().cuMemAllocFromPoolAsync(&second, kBytes, shared.pool, stream.handle));
    FERRY_OK(cuda().cuMemsetD8Async(second, 0x11, kBytes, stream.handle));
    FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
    peer.channel().send(true);
  }
  EXPECT_EQ(read_word(second + kBytes - 4), 0x11111111U);
  free_now(second, stream);
  FERRY_OK(cuda().cuEventDestroy_v2(freed));
}

const RegisterRole g_refuse("refuse what an imported pool is not for", [](const Channel& test) {
  const RoleContext context;
  const ImportedPool pool(test);
  const StreamOwner stream;
  CUdeviceptr none = 0;
  EXPECT_NE(cuda().cuMemAllocFromPoolAsync(&none, 16, pool.pool, stream.handle), CUDA_SUCCESS)
      << "imported pools make no allocations";
  EXPECT_NE(cuda().cuDeviceSetMemPool(0, pool.pool), CUDA_SUCCESS);
  EXPECT_NE(pool.try_import(test.receive<CUmemPoolPtrExportData>()), CUDA_SUCCESS)
      << "from another pool";
  EXPECT_NE(pool.try_import(CUmemPoolPtrExportData{}), CUDA_SUCCESS) << "nothing at all";
  const auto data = test.receive<CUmemPoolPtrExportData>();
  const CUdeviceptr address = pool.import(data);
  EXPECT_EQ(read_word(address), 7U);
  free_now(address, stream);
});

TEST_F(SharedPools, ImportedPoolsOnlyImportWhatIsTheirs) {
  const StreamOwner stream;
  const SharedPool shared;
  const SharedPool another;
  const CUdeviceptr own = shared.allocate(stream);
  const CUdeviceptr foreign = another.allocate(stream);
  write_word(own, 7);
  {
    const PeerProcess peer("refuse what an imported pool is not for");
    peer.channel().send_descriptor(shared.descriptor);
    peer.channel().send(data_of(foreign));
    peer.channel().send(data_of(own));
  }
  free_now(own, stream);
  free_now(foreign, stream);
}

TEST_F(SharedPools, OnlyPoolsThatWereMadeForItAreExported) {
  const CUmemoryPool closed = make_pool(CU_MEM_HANDLE_TYPE_NONE);
  int descriptor = -1;
  EXPECT_NE(cuda().cuMemPoolExportToShareableHandle(&descriptor, closed, kDescriptor, 0),
            CUDA_SUCCESS);
  CUmemoryPool standard = nullptr;
  FERRY_OK(cuda().cuDeviceGetDefaultMemPool(&standard, device));
  EXPECT_NE(cuda().cuMemPoolExportToShareableHandle(&descriptor, standard, kDescriptor, 0),
            CUDA_SUCCESS);
  const StreamOwner stream;
  CUdeviceptr address = 0;
  CUmemPoolPtrExportData data{};
  FERRY_OK(cuda().cuMemAllocFromPoolAsync(&address, kBytes, closed, stream.handle));
  EXPECT_NE(cuda().cuMemPoolExportPointer(&data, address), CUDA_SUCCESS);
  free_now(address, stream);
  FERRY_OK(cuda().cuMemPoolDestroy(closed));
  const SharedPool shared;
  EXPECT_EQ(cuda().cuMemPoolExportToShareableHandle(&descriptor, shared.pool, kDescriptor, 1),
            CUDA_ERROR_INVALID_VALUE)
      << "flags must be zero";
  const DeviceBuffer plain(kBytes);
  EXPECT_NE(cuda().cuMemPoolExportPointer(&data, plain.address), CUDA_SUCCESS);
}

TEST_F(SharedPools, ADescriptorOfSomethingElseIsNoPool) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  CUmemoryPool pool = nullptr;
  EXPECT_NE(cuda().cuMemPoolImportFromShareableHandle(&pool, in_a_pointer(ends[0]), kDescriptor, 0),
            CUDA_SUCCESS);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace ferry::conformance
