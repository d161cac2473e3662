// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsDeviceTest : public SimTest {};

TEST_F(ExportsDeviceTest, SaysThatItIsNoGpu) {
  char name[64] = {};
  FERRY_OK(cuDeviceGetName(name, sizeof name, 0));
  EXPECT_STREQ(name, "Ferry stand-in");
  EXPECT_EQ(cuDeviceGetName(name, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsDeviceTest, TotalMemoryIsTheCapacity) {
  restart("capacity=24GiB");
  std::size_t bytes = 0;
  FERRY_OK(cuDeviceTotalMem_v2(&bytes, 0));
  EXPECT_EQ(bytes, std::size_t{24} << 30);
}

TEST_F(ExportsDeviceTest, AsManyAsTheSettingsSay) {
  restart("devices=5");
  int count = 0;
  FERRY_OK(cuDeviceGetCount(&count));
  EXPECT_EQ(count, 5);
  CUuuid a{};
  CUuuid b{};
  FERRY_OK(cuDeviceGetUuid_v2(&a, 0));
  FERRY_OK(cuDeviceGetUuid_v2(&b, 4));
  EXPECT_NE(std::string(a.bytes, 16), std::string(b.bytes, 16));
  EXPECT_EQ(cuDeviceGetUuid_v2(&a, 5), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetUuid_v2(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsDeviceTest, PropertiesAreItsAttributes) {
  CUdevprop properties{};
  FERRY_OK(cuDeviceGetProperties(&properties, 0));
  EXPECT_EQ(properties.maxThreadsDim[2], 64);
  EXPECT_EQ(properties.maxGridSize[1], 65535);
  EXPECT_EQ(properties.sharedMemPerBlock, 49152);
  EXPECT_EQ(properties.textureAlign, 512);
  EXPECT_EQ(cuDeviceGetProperties(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetProperties(&properties, 1), CUDA_ERROR_INVALID_DEVICE);
  int major = 0;
  EXPECT_EQ(cuDeviceComputeCapability(&major, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace ferry::sim
