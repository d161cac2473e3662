// SPDX-License-Identifier: Apache-2.0
// Each property of a device is what the driver says of it.
#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime_test {
namespace {

class DevicePropertiesTest : public RuntimeTest {
 protected:
  void SetUp() override { restart("devices=2;profile=h200-pcie5"); }
  static int attribute(cudaDeviceAttr asked, int device = 0) {
    int value = -1;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, asked, device), cudaSuccess);
    return value;
  }
};

TEST_F(DevicePropertiesTest, NameMemoryAndIdentity) {
  cudaDeviceProp properties{};
  FERRY_RT_OK(cudaGetDeviceProperties(&properties, 1));
  char name[256] = "";
  ASSERT_EQ(cuDeviceGetName(name, sizeof name, 1), CUDA_SUCCESS);
  EXPECT_STREQ(properties.name, name);
  EXPECT_NE(std::string(properties.name).find("H200"), std::string::npos);
  std::size_t bytes = 0;
  ASSERT_EQ(cuDeviceTotalMem(&bytes, 1), CUDA_SUCCESS);
  EXPECT_EQ(properties.totalGlobalMem, bytes);
  CUuuid uuid{};
  ASSERT_EQ(cuDeviceGetUuid(&uuid, 1), CUDA_SUCCESS);
  EXPECT_EQ(std::string(properties.uuid.bytes, 16), std::string(uuid.bytes, 16));
}

TEST_F(DevicePropertiesTest, MembersAreTheirAttributes) {
  cudaDeviceProp of{};
  FERRY_RT_OK(cudaGetDeviceProperties(&of, 0));
  EXPECT_EQ(of.major, 9);
  EXPECT_EQ(of.minor, attribute(cudaDevAttrComputeCapabilityMinor));
  EXPECT_EQ(of.multiProcessorCount, 132);
  EXPECT_EQ(of.warpSize, 32);
  EXPECT_EQ(of.maxThreadsPerBlock, attribute(cudaDevAttrMaxThreadsPerBlock));
  EXPECT_EQ(of.maxThreadsPerMultiProcessor, attribute(cudaDevAttrMaxThreadsPerMultiProcessor));
  EXPECT_EQ(of.maxBlocksPerMultiProcessor, attribute(cudaDevAttrMaxBlocksPerMultiprocessor));
  EXPECT_EQ(of.regsPerBlock, attribute(cudaDevAttrMaxRegistersPerBlock));
  EXPECT_EQ(of.l2CacheSize, attribute(cudaDevAttrL2CacheSize));
  EXPECT_EQ(of.memoryBusWidth, attribute(cudaDevAttrGlobalMemoryBusWidth));
  EXPECT_EQ(of.asyncEngineCount, attribute(cudaDevAttrAsyncEngineCount));
  EXPECT_EQ(of.unifiedAddressing, 1);
  EXPECT_EQ(of.memoryPoolsSupported, 1);
  EXPECT_EQ(of.managedMemory, attribute(cudaDevAttrManagedMemory));
  EXPECT_EQ(of.pciBusID, attribute(cudaDevAttrPciBusId));
  EXPECT_EQ(of.canMapHostMemory, 1);
}

TEST_F(DevicePropertiesTest, WideMembersAndShapes) {
  cudaDeviceProp of{};
  FERRY_RT_OK(cudaGetDeviceProperties(&of, 0));
  const auto same = [](std::size_t member, cudaDeviceAttr asked) {
    EXPECT_EQ(member, static_cast<std::size_t>(attribute(asked)));
  };
  same(of.sharedMemPerBlock, cudaDevAttrMaxSharedMemoryPerBlock);
  same(of.sharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  same(of.sharedMemPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  same(of.totalConstMem, cudaDevAttrTotalConstantMemory);
  same(of.memPitch, cudaDevAttrMaxPitch);
  same(of.textureAlignment, cudaDevAttrTextureAlignment);
  EXPECT_EQ(of.maxThreadsDim[0], attribute(cudaDevAttrMaxBlockDimX));
  EXPECT_EQ(of.maxThreadsDim[2], attribute(cudaDevAttrMaxBlockDimZ));
  EXPECT_EQ(of.maxGridSize[0], attribute(cudaDevAttrMaxGridDimX));
  EXPECT_EQ(of.maxGridSize[1], attribute(cudaDevAttrMaxGridDimY));
}

TEST_F(DevicePropertiesTest, DevicesDiffer) {
  cudaDeviceProp first{};
  cudaDeviceProp second{};
  FERRY_RT_OK(cudaGetDeviceProperties(&first, 0));
  FERRY_RT_OK(cudaGetDeviceProperties(&second, 1));
  EXPECT_NE(std::string(first.uuid.bytes, 16), std::string(second.uuid.bytes, 16));
}

TEST_F(DevicePropertiesTest, WrongQuestions) {
  cudaDeviceProp properties{};
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetDeviceProperties(nullptr, 0), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace ferry::sim::runtime_test
