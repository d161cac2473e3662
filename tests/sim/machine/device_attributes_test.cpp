// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/device_attributes.hpp"

#include <gtest/gtest.h>

#include "sim/time/round_profile.hpp"

namespace ferry::sim {
namespace {

TEST(DeviceAttributes, DescribeAHopperWithVirtualMemory) {
  EXPECT_EQ(device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0), 9);
  EXPECT_EQ(device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0), 0);
  EXPECT_EQ(device_attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0), 1);
  EXPECT_EQ(device_attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0), 1);
  EXPECT_EQ(device_attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 0), -1);
}

TEST(DeviceAttributes, DenyWhatIsNotThere) {
  for (const CUdevice_attribute missing :
       {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED}) {
    EXPECT_EQ(device_attribute(missing, 0), 0) << missing;
  }
}

TEST(DeviceAttributes, TellDevicesApart) {
  EXPECT_NE(device_attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0),
            device_attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 1));
}

TEST(DeviceAttributes, UnknownOnesHaveNoValue) {
  EXPECT_EQ(device_attribute(static_cast<CUdevice_attribute>(0), 0), std::nullopt);
  EXPECT_EQ(device_attribute(CU_DEVICE_ATTRIBUTE_MAX, 0), std::nullopt);
  EXPECT_EQ(device_attribute(static_cast<CUdevice_attribute>(255), 0), std::nullopt);
}

TEST(DeviceAttributes, TheHostsNodesAreTheProfiles) {
  Profile profile = testing_time::round_profile();
  EXPECT_EQ(device_attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 0, &profile), 0);
  EXPECT_EQ(device_attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 1, &profile), 1);
  EXPECT_EQ(device_attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 2, &profile), 0);
  profile.host_nodes.value = 1;
  EXPECT_EQ(device_attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 1, &profile), 0);
}

TEST(DeviceAttributes, LimitsAreToldToWhoAsks) {
  constexpr auto kVmm = CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
  constexpr auto kRdma = CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED;
  constexpr auto kShare = CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED;
  MachineLimits limits;
  EXPECT_EQ(device_attribute(kShare, 0, nullptr, limits), 1);
  EXPECT_EQ(device_attribute(kRdma, 0, nullptr, limits), 0);
  limits.rdma = Rdma::refused;
  EXPECT_EQ(device_attribute(kRdma, 0, nullptr, limits), 1);
  limits.virtual_memory = false;
  EXPECT_EQ(device_attribute(kVmm, 0, nullptr, limits), 0);
  EXPECT_EQ(device_attribute(kShare, 0, nullptr, limits), 0);
  EXPECT_EQ(device_attribute(kRdma, 0, nullptr, limits), 0);
}

}  // namespace
}  // namespace ferry::sim
