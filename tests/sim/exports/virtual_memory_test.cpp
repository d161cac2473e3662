// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsVirtualMemoryTest : public SimTest {
 protected:
  void SetUp() override {
    SimTest::SetUp();
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  }
  CUdeviceptr mapped(std::size_t bytes) {
    CUdeviceptr base = 0;
    CUmemGenericAllocationHandle handle = 0;
    const CUmemAccessDesc description{prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    EXPECT_EQ(cuMemAddressReserve(&base, bytes, 0, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemCreate(&handle, bytes, &prop, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemMap(base, bytes, 0, handle, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemSetAccess(base, bytes, &description, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
    return base;
  }

  CUmemAllocationProp prop{};
};

TEST_F(ExportsVirtualMemoryTest, NeedsNoContext) {
  FERRY_OK(cuCtxPopCurrent_v2(nullptr));
  const CUdeviceptr base = mapped(2 * kMiB);
  unsigned long long flags = 0;
  FERRY_OK(cuMemGetAccess(&flags, &prop.location, base));
  EXPECT_EQ(flags, 3U);
  CUmemGenericAllocationHandle handle = 0;
  FERRY_OK(cuMemRetainAllocationHandle(&handle, reinterpret_cast<void*>(base)));
  CUmemAllocationProp seen{};
  FERRY_OK(cuMemGetAllocationPropertiesFromHandle(&seen, handle));
  EXPECT_EQ(seen.location.id, 0);
  FERRY_OK(cuMemRelease(handle));
  FERRY_OK(cuMemUnmap(base, 2 * kMiB));
  FERRY_OK(cuMemAddressFree(base, 2 * kMiB));
}

TEST_F(ExportsVirtualMemoryTest, UnmapWaitsForNothingAndLateWorkFails) {
  restart("schedule=lazy");
  const CUdeviceptr base = mapped(2 * kMiB);
  FERRY_OK(cuMemsetD8Async(base, 1, 4096, stream()));
  FERRY_OK(cuMemUnmap(base, 2 * kMiB));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_F(ExportsVirtualMemoryTest, TheHostSeesOnlyWhatPeekShows) {
  const CUdeviceptr base = mapped(2 * kMiB);
  FERRY_OK(cuMemsetD32_v2(base, 0x12345678, 10));
  EXPECT_EQ(peek(base), 0x12345678U);
  EXPECT_EQ(peek(base + 40), kUnwritten);
  EXPECT_DEATH({ [[maybe_unused]] const int seen = *reinterpret_cast<volatile int*>(base); }, "");
}

TEST_F(ExportsVirtualMemoryTest, HugeReservationsAndSparseWritesAreCheap) {
  restart("capacity=1024GiB");
  const std::size_t bytes = std::size_t{22} << 30;
  const CUdeviceptr base = mapped(bytes);
  FERRY_OK(cuMemsetD2D32Async(base, 32 * kMiB, 42, 1, bytes / (32 * kMiB), nullptr));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(base + bytes - 32 * kMiB), 42U);
  EXPECT_EQ(ferry_sim_memory_in_use(0), bytes);
}

TEST_F(ExportsVirtualMemoryTest, WithoutDataTheRulesStillHold) {
  restart("data=none;capacity=80GiB");
  const CUdeviceptr base = mapped(2 * kMiB);
  EXPECT_EQ(cuMemsetD8_v2(base, 1, 2 * kMiB), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  std::uint32_t word = 0;
  EXPECT_EQ(ferry_sim_peek(base, &word, 4), -1) << "there is nothing to see";
  EXPECT_EQ(cuMemsetD8_v2(base, 1, 2 * kMiB + 1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

}  // namespace
}  // namespace ferry::sim
