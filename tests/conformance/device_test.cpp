// SPDX-License-Identifier: Apache-2.0
// Devices and what they say about themselves.
#include <array>
#include <set>
#include <string>

#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

TEST(Device, OrdinalsRunFromZeroToTheCount) {
  int count = 0;
  FERRY_OK(cuda().cuDeviceGetCount(&count));
  ASSERT_GE(count, 1);
  std::set<CUdevice> seen;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device = -1;
    FERRY_OK(cuda().cuDeviceGet(&device, ordinal));
    EXPECT_TRUE(seen.insert(device).second);
  }
  CUdevice device = -1;
  EXPECT_EQ(cuda().cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuda().cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
}

TEST(Device, NullOutputsAreRefused) {
  EXPECT_EQ(cuda().cuDeviceGetCount(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuDeviceGet(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuDeviceGetName(nullptr, 10, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuDeviceTotalMem_v2(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(Device, NamesAreCutToTheBuffer) {
  std::array<char, 256> whole{};
  FERRY_OK(cuda().cuDeviceGetName(whole.data(), static_cast<int>(whole.size()), 0));
  const std::string name(whole.data());
  ASSERT_GT(name.size(), 4U);
  std::array<char, 5> cut{};
  FERRY_OK(cuda().cuDeviceGetName(cut.data(), static_cast<int>(cut.size()), 0));
  EXPECT_EQ(std::string(cut.data()), name.substr(0, 4));
}

TEST(Device, AttributesMakeSense) {
  const auto attribute = [](CUdevice_attribute which) {
    int value = -1;
    EXPECT_EQ(cuda().cuDeviceGetAttribute(&value, which, 0), CUDA_SUCCESS);
    return value;
  };
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
  EXPECT_GE(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 7);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING), 1);
  EXPECT_GE(attribute(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT), 1);
  EXPECT_GE(attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID), -1);
}

TEST(Device, UnknownAttributesAndDevicesAreRefused) {
  int value = 0;
  EXPECT_EQ(cuda().cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(255), 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 4711),
            CUDA_ERROR_INVALID_DEVICE);
  std::size_t bytes = 0;
  EXPECT_EQ(cuda().cuDeviceTotalMem_v2(&bytes, 4711), CUDA_ERROR_INVALID_DEVICE);
}

TEST(Device, PciBusIdHasFourParts) {
  std::array<char, 32> text{};
  FERRY_OK(cuda().cuDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), 0));
  const std::string id(text.data());
  ASSERT_EQ(id.size(), 12U) << id;
  EXPECT_EQ(id[4], ':');
  EXPECT_EQ(id[7], ':');
  EXPECT_EQ(id[10], '.');
}

TEST(Device, UuidsTellDevicesApart) {
  int count = 0;
  FERRY_OK(cuda().cuDeviceGetCount(&count));
  std::set<std::string> seen;
  for (CUdevice device = 0; device < count; ++device) {
    CUuuid uuid{};
    FERRY_OK(cuda().cuDeviceGetUuid_v2(&uuid, device));
    EXPECT_TRUE(seen.insert(std::string(uuid.bytes, sizeof uuid.bytes)).second);
  }
}

}  // namespace
}  // namespace ferry::conformance
