// SPDX-License-Identifier: Apache-2.0
// What sharing a pool does not allow, and what it does not believe.
#include <unistd.h>

#include <cstring>
#include <vector>

#include "sim/machine/ipc_handle.hpp"
#include "sim/machine/no_descriptors.hpp"
#include "sim/machine/pool_sharing_fixture.hpp"

namespace ferry::sim {
namespace {

using PoolRefusalsTest = PoolSharingTest;

TEST_F(PoolRefusalsTest, ImportedPoolsGiveNothingOut) {
  const CUmemoryPool pool = create();
  const CUmemoryPool other = imported(pool);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAllocFromPoolAsync(&address, 16, other, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceSetMemPool(0, other), CUDA_ERROR_INVALID_VALUE);
  int descriptor = -1;
  EXPECT_EQ(cuMemPoolExportToShareableHandle(&descriptor, other, kDescriptor, 0),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(PoolRefusalsTest, WithoutDescriptorsNothingIsExported) {
  const CUmemoryPool fresh = create();
  const CUmemoryPool shared = create();
  close(export_of(shared));
  int descriptor = -1;
  {
    const NoDescriptors used_up;
    EXPECT_EQ(cuMemPoolExportToShareableHandle(&descriptor, fresh, kDescriptor, 0),
              CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(cuMemPoolExportToShareableHandle(&descriptor, shared, kDescriptor, 0),
              CUDA_ERROR_OUT_OF_MEMORY);
  }
  EXPECT_EQ(descriptor, -1);
  close(export_of(fresh));
}

TEST_F(PoolRefusalsTest, ExportsThatAreTooManyAreRefused) {
  const CUmemoryPool pool = create();
  static_cast<void>(imported(pool));
  std::vector<CUdeviceptr> all(SharedMemory::kMostOffers);
  for (CUdeviceptr& address : all) {
    address = take(pool, 512);
    static_cast<void>(data_of(address));
  }
  const CUdeviceptr one_more = take(pool, 512);
  CUmemPoolPtrExportData data{};
  EXPECT_EQ(cuMemPoolExportPointer(&data, one_more), CUDA_ERROR_OUT_OF_MEMORY);
  FERRY_OK(cuMemPoolExportPointer(&data, all[7])) << "it is exported already";
  FERRY_OK(cuMemFreeAsync(all[7], nullptr));
  FERRY_OK(cuMemPoolExportPointer(&data, one_more));
}

TEST_F(PoolRefusalsTest, DataThatWasCutShortOrMadeUpIsRefused) {
  const CUmemoryPool pool = create();
  const CUmemoryPool other = imported(pool);
  CUmemPoolPtrExportData right = data_of(take(pool, 16));
  CUdeviceptr seen = 0;
  for (const std::size_t kept : {0U, 4U, 16U, 24U, 32U, 40U}) {
    CUmemPoolPtrExportData cut{};
    std::memcpy(&cut, &right, kept);
    EXPECT_EQ(cuMemPoolImportPointer(&seen, other, &cut), CUDA_ERROR_INVALID_VALUE) << kept;
  }
  const auto said = read_ipc_handle(&right, SharedKind::pool);
  ASSERT_TRUE(said.has_value());
  for (const OfferId id : {OfferId{said->offer.place, said->offer.generation + 1},
                           OfferId{said->offer.place + 1, said->offer.generation},
                           OfferId{SharedMemory::kMostOffers, said->offer.generation}}) {
    IpcHandle handle = *said;
    handle.offer = id;
    CUmemPoolPtrExportData made{};
    write_ipc_handle(handle, &made);
    EXPECT_EQ(cuMemPoolImportPointer(&seen, other, &made), CUDA_ERROR_INVALID_VALUE);
  }
  EXPECT_EQ(cuMemPoolImportPointer(&seen, other, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolImportPointer(nullptr, other, &right), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(seen, 0U);
  FERRY_OK(cuMemPoolImportPointer(&seen, other, &right));
}

// In the part of a process that says what it likes in a file of its own.
TEST_F(PoolRefusalsTest, FilesOfOtherProcessesAreNotTrusted) {
  SharedDescription described;
  described.kind = SharedKind::pool;
  described.with_data = 1;
  described.size = 4 * kMiB;
  const auto file_of = [](const SharedDescription& description) {
    auto memory = SharedMemory::create(description);
    EXPECT_NE(memory, nullptr);
    return memory;
  };
  const auto sound = file_of(described);
  EXPECT_EQ(import_of(sound->file().descriptor()), CUDA_SUCCESS);
  CUmemoryPool pool = nullptr;
  FERRY_OK(cuMemPoolImportFromShareableHandle(&pool, in_a_pointer(sound->file().descriptor()),
                                              kDescriptor, 0));
  for (const Offer& offer : {Offer{2 * kMiB, 4 * kMiB, 0, 16}, Offer{0, 2 * kMiB, 2 * kMiB, 16},
                             Offer{0, 2 * kMiB, 0, 0}, Offer{100, 2 * kMiB, 0, 16}}) {
    const auto id = sound->offer(offer);
    CUmemPoolPtrExportData data{};
    write_ipc_handle({SharedKind::pool, 0, 0, sound->file().id(), *id}, &data);
    CUdeviceptr seen = 0;
    EXPECT_EQ(cuMemPoolImportPointer(&seen, pool, &data), CUDA_ERROR_INVALID_VALUE);
  }
  SharedDescription other = described;
  other.device = 7;
  EXPECT_EQ(import_of(file_of(other)->file().descriptor()), CUDA_ERROR_NOT_SUPPORTED);
  other = described;
  other.with_data = 0;
  EXPECT_EQ(import_of(file_of(other)->file().descriptor()), CUDA_ERROR_NOT_SUPPORTED);
  other = described;
  other.kind = SharedKind::created;
  EXPECT_EQ(import_of(file_of(other)->file().descriptor()), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(PoolRefusalsTest, DescriptorsOfNoPoolAreRefused) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(import_of(ends[0]), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(close(ends[0]), 0);
  EXPECT_EQ(import_of(ends[0]), CUDA_ERROR_INVALID_VALUE) << "closed";
  EXPECT_EQ(import_of(-1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(close(ends[1]), 0);
}

TEST_F(PoolRefusalsTest, ArgumentsThatCannotBeServedAreRefused) {
  const CUmemoryPool pool = create();
  const CUmemoryPool closed = create(CU_MEM_HANDLE_TYPE_NONE);
  const CUmemoryPool other = imported(pool);
  int descriptor = -1;
  EXPECT_EQ(cuMemPoolExportToShareableHandle(&descriptor, closed, kDescriptor, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolExportToShareableHandle(&descriptor, pool, CU_MEM_HANDLE_TYPE_FABRIC, 0),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMemPoolExportToShareableHandle(&descriptor, pool, kDescriptor, 1),
            CUDA_ERROR_INVALID_VALUE);
  CUmemPoolPtrExportData data{};
  EXPECT_EQ(cuMemPoolExportPointer(&data, take(closed, 16)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolExportPointer(&data, allocate(16)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolExportPointer(&data, take(pool, 16) + 1), CUDA_ERROR_INVALID_VALUE)
      << "not where it starts";
  CUdeviceptr seen = 0;
  EXPECT_EQ(cuMemPoolImportPointer(&seen, other, &data), CUDA_ERROR_INVALID_VALUE) << "nonsense";
  data = data_of(take(pool, 16));
  EXPECT_EQ(cuMemPoolImportPointer(&seen, pool, &data), CUDA_ERROR_INVALID_VALUE)
      << "not an imported pool";
  EXPECT_EQ(cuMemPoolImportPointer(&seen, imported(create()), &data), CUDA_ERROR_INVALID_VALUE)
      << "from another pool";
  CUmemoryPool none = nullptr;
  EXPECT_EQ(cuMemPoolImportFromShareableHandle(&none, in_a_pointer(0), kDescriptor, 0),
            CUDA_ERROR_INVALID_VALUE);
  const int right = export_of(pool);
  EXPECT_EQ(cuMemPoolImportFromShareableHandle(&none, in_a_pointer(right), kDescriptor, 1),
            CUDA_ERROR_INVALID_VALUE)
      << "flags must be zero";
  close(right);
  EXPECT_EQ(none, nullptr);
}

}  // namespace
}  // namespace ferry::sim
