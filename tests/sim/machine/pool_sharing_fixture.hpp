// SPDX-License-Identifier: Apache-2.0
// Both sides of a shared pool in one process.
#pragma once

#include <unistd.h>

#include "sim/machine/pool_sharing.hpp"
#include "sim/sim_fixture.hpp"

namespace ferry::sim {

inline constexpr auto kDescriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

inline void* in_a_pointer(int descriptor) {
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
}

class PoolSharingTest : public SimTest {
 protected:
  static CUmemoryPool create(CUmemAllocationHandleType types = kDescriptor) {
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.handleTypes = types;
    props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemoryPool pool = nullptr;
    EXPECT_EQ(cuMemPoolCreate(&pool, &props), CUDA_SUCCESS);
    return pool;
  }
  static int export_of(CUmemoryPool pool) {
    int descriptor = -1;
    EXPECT_EQ(cuMemPoolExportToShareableHandle(&descriptor, pool, kDescriptor, 0), CUDA_SUCCESS);
    return descriptor;
  }
  // The same pool as the other side has it.
  static CUmemoryPool imported(CUmemoryPool pool) {
    const int descriptor = export_of(pool);
    CUmemoryPool other = nullptr;
    EXPECT_EQ(cuMemPoolImportFromShareableHandle(&other, in_a_pointer(descriptor), kDescriptor, 0),
              CUDA_SUCCESS);
    EXPECT_EQ(close(descriptor), 0);
    return other;
  }
  static CUdeviceptr take(CUmemoryPool pool, std::size_t bytes, CUstream on = nullptr) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAllocFromPoolAsync(&address, bytes, pool, on), CUDA_SUCCESS);
    return address;
  }
  static CUmemPoolPtrExportData data_of(CUdeviceptr address) {
    CUmemPoolPtrExportData data{};
    EXPECT_EQ(cuMemPoolExportPointer(&data, address), CUDA_SUCCESS);
    return data;
  }
  static CUdeviceptr import_from(CUmemoryPool pool, CUmemPoolPtrExportData data) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemPoolImportPointer(&address, pool, &data), CUDA_SUCCESS);
    return address;
  }
  static CUresult import_of(int descriptor) {
    CUmemoryPool pool = nullptr;
    return cuMemPoolImportFromShareableHandle(&pool, in_a_pointer(descriptor), kDescriptor, 0);
  }
  static cuuint64_t attribute(CUmemoryPool pool, CUmemPool_attribute which) {
    cuuint64_t value = 0;
    EXPECT_EQ(cuMemPoolGetAttribute(pool, which, &value), CUDA_SUCCESS);
    return value;
  }
};

}  // namespace ferry::sim
