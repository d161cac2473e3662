// SPDX-License-Identifier: Apache-2.0
// Managed memory in the order of things; the conformance suite judges what it can do.
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsManagedTest : public SimTest {
 protected:
  void SetUp() override {
    restart("schedule=lazy");
    FERRY_OK(cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL));
  }
  CUdeviceptr memory = 0;
};

TEST_F(ExportsManagedTest, APrefetchTakesItsPlaceInTheStream) {
  const CUstream a_stream = stream();
  FERRY_OK(cuMemPrefetchAsync(memory, 4096, 0, a_stream));
  EXPECT_EQ(cuStreamQuery(a_stream), CUDA_ERROR_NOT_READY);
  FERRY_OK(cuStreamSynchronize(a_stream));
  FERRY_OK(cuStreamQuery(a_stream));
}

TEST_F(ExportsManagedTest, PlacesAreChecked) {
  EXPECT_EQ(cuMemPrefetchAsync(memory, 4096, 7, nullptr), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuMemPrefetchAsync(memory, 8192, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, 7), CUDA_ERROR_INVALID_DEVICE);
  FERRY_OK(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, CU_DEVICE_CPU));
  FERRY_OK(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, 7))
      << "this advice has no place";
  EXPECT_EQ(cuMemAdvise(memory, 4096, static_cast<CUmem_advise>(7), 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsManagedTest, FreeingInFlightIsAHazard) {
  const CUstream a_stream = stream();
  FERRY_OK(cuMemsetD8Async(memory, 1, 4096, a_stream));
  FERRY_OK(cuMemFree_v2(memory));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  EXPECT_EQ(cuMemFree_v2(memory), CUDA_ERROR_INVALID_VALUE);
}

// More than this machine has to give: pages are taken when they are touched.
TEST_F(ExportsManagedTest, AsMuchAsTheModelledDeviceHasIsThere) {
  restart("capacity=480GiB");
  constexpr std::size_t kBytes = std::size_t{400} << 30;
  FERRY_OK(cuMemAllocManaged(&memory, kBytes, CU_MEM_ATTACH_GLOBAL));
  auto* const bytes = reinterpret_cast<unsigned char*>(memory);
  bytes[0] = 1;
  FERRY_OK(cuMemsetD8_v2(memory + kBytes - 4096, 7, 4096));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(bytes[kBytes - 1], 7);
  FERRY_OK(cuMemFree_v2(memory));
}

}  // namespace
}  // namespace ferry::sim
