// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime {
namespace {

TEST_F(RuntimeTest, AFaultOfTheDeviceStays) {
  FERRY_OK(cudaMemsetAsync(allocate(64), 1, 64, nullptr));
  void* const nowhere = allocate(64) + (size_t{1} << 30);
  static_cast<void>(cudaMemset(nowhere, 1, 64));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 64), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
}

}  // namespace
}  // namespace ferry::sim::runtime
