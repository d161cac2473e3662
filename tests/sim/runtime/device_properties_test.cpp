// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime {
namespace {

TEST_F(RuntimeTest, PropertiesAreTheAttributesOfTheDevice) {
  restart("profile=h200-pcie5");
  cudaDeviceProp properties{};
  FERRY_OK(cudaGetDeviceProperties(&properties, 0));
  EXPECT_STREQ(properties.name, "NVIDIA H200");
  EXPECT_EQ(properties.major, 9);
  EXPECT_EQ(properties.minor, 0);
  EXPECT_EQ(properties.warpSize, 32);
  int value = 0;
  FERRY_OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  EXPECT_EQ(properties.multiProcessorCount, value);
  FERRY_OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT_EQ(properties.sharedMemPerBlockOptin, static_cast<size_t>(value));
  FERRY_OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxGridDimY, 0));
  EXPECT_EQ(properties.maxGridSize[1], value);
  size_t free = 0;
  size_t total = 0;
  FERRY_OK(cudaMemGetInfo(&free, &total));
  EXPECT_EQ(properties.totalGlobalMem, total);
}

TEST_F(RuntimeTest, PropertiesOfNoDevice) {
  cudaDeviceProp properties{};
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 7), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetDeviceProperties(nullptr, 0), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace ferry::sim::runtime
