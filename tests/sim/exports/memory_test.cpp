// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsMemoryTest : public SimTest {};

TEST_F(ExportsMemoryTest, FreeMemoryMovesInSteps) {
  restart("capacity=64MiB");
  std::size_t free = 0;
  std::size_t total = 0;
  allocate(1);
  FERRY_OK(cuMemGetInfo_v2(&free, &total));
  EXPECT_EQ(total, 64 * kMiB);
  EXPECT_EQ(free, 62 * kMiB);
  allocate(1000);
  FERRY_OK(cuMemGetInfo_v2(&free, &total));
  EXPECT_EQ(free, 62 * kMiB) << "small allocations share a step";
  allocate(3 * kMiB);
  FERRY_OK(cuMemGetInfo_v2(&free, &total));
  EXPECT_EQ(free, 58 * kMiB);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc_v2(&address, 59 * kMiB), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(ExportsMemoryTest, FreeingFinishesTheWorkOfItsContext) {
  restart("schedule=lazy");
  const CUdeviceptr first = allocate(4096);
  const CUdeviceptr second = allocate(4096);
  const CUstream a_stream = stream();
  FERRY_OK(cuMemsetD32Async(first, 1, 1024, a_stream));
  FERRY_OK(cuMemsetD32Async(second, 2, 1024, a_stream));
  EXPECT_EQ(peek(second), kUnwritten);
  FERRY_OK(cuMemFree_v2(first));
  EXPECT_EQ(peek(second), 2U);
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_F(ExportsMemoryTest, FreeingHostMemoryFinishesAllWork) {
  restart("schedule=lazy");
  const CUdeviceptr address = allocate(4096);
  void* const host = allocate_host(4096);
  const CUstream a_stream = stream();
  static_cast<std::uint32_t*>(host)[0] = 77;
  FERRY_OK(cuMemcpyHtoDAsync_v2(address, host, 4096, a_stream));
  FERRY_OK(cuMemFreeHost(host));
  EXPECT_EQ(peek(address), 77U);
  std::vector<std::uint32_t> own(1024, 78);
  FERRY_OK(cuMemHostRegister_v2(own.data(), 4096, 0));
  FERRY_OK(cuMemcpyHtoDAsync_v2(address, own.data(), 4096, a_stream));
  FERRY_OK(cuMemHostUnregister(own.data()));
  EXPECT_EQ(peek(address), 78U);
  EXPECT_EQ(ferry_sim_take_hazards(), 2U);
}

TEST_F(ExportsMemoryTest, CopiesPastTheExactSizeFail) {
  const CUdeviceptr address = allocate(1000);
  std::vector<unsigned char> bytes(1001);
  EXPECT_EQ(cuMemcpyHtoD_v2(address, bytes.data(), 1000), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD_v2(address, bytes.data(), 1001), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(ExportsMemoryTest, DeviceAddressesCannotBeRegistered) {
  const CUdeviceptr address = allocate(8192);
  EXPECT_EQ(cuMemHostRegister_v2(reinterpret_cast<void*>(address), 4096, 0),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsMemoryTest, HostMemoryHasOneAddressForBothSides) {
  void* const host = allocate_host(8192);
  CUdeviceptr device = 0;
  FERRY_OK(cuMemHostGetDevicePointer_v2(&device, static_cast<char*>(host) + 5, 0));
  EXPECT_EQ(device, reinterpret_cast<CUdeviceptr>(host) + 5);
  int on_the_stack = 0;
  EXPECT_EQ(cuMemHostGetDevicePointer_v2(&device, &on_the_stack, 0), CUDA_ERROR_INVALID_VALUE);
  unsigned flags = 0;
  FERRY_OK(cuMemHostGetFlags(&flags, host));
  EXPECT_EQ(flags, unsigned{CU_MEMHOSTALLOC_DEVICEMAP});
}

TEST_F(ExportsMemoryTest, AddressRangesOfUnknownPointersAreNotFound) {
  int on_the_stack = 0;
  CUdeviceptr base = 0;
  std::size_t size = 0;
  EXPECT_EQ(cuMemGetAddressRange_v2(&base, &size, reinterpret_cast<CUdeviceptr>(&on_the_stack)),
            CUDA_ERROR_NOT_FOUND);
  void* const host = allocate_host(5000);
  FERRY_OK(cuMemGetAddressRange_v2(&base, &size, reinterpret_cast<CUdeviceptr>(host) + 9));
  EXPECT_EQ(base, reinterpret_cast<CUdeviceptr>(host));
  EXPECT_EQ(size, 5000U);
}

}  // namespace
}  // namespace ferry::sim
