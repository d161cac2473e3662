// SPDX-License-Identifier: Apache-2.0
// Devices: how many there are, which is chosen, what they say of themselves.
#include <cuda_profiler_api.h>

#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime_test {
namespace {

class RuntimeDeviceTest : public RuntimeTest {
 protected:
  void SetUp() override { restart("devices=2"); }
};

TEST_F(RuntimeDeviceTest, CountsThem) {
  int count = 0;
  FERRY_RT_OK(cudaGetDeviceCount(&count));
  EXPECT_EQ(count, 2);
  EXPECT_EQ(cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
}

TEST_F(RuntimeDeviceTest, NoDeviceIsAnError) {
  reset("devices=0");
  int count = 7;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNoDevice);
  EXPECT_EQ(cudaFree(nullptr), cudaErrorNoDevice);
}

TEST_F(RuntimeDeviceTest, AWrongChoiceLeavesTheOldOne) {
  FERRY_RT_OK(cudaSetDevice(1));
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  int device = -1;
  FERRY_RT_OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 1);
}

TEST_F(RuntimeDeviceTest, PreparingADeviceDoesNotChooseIt) {
  FERRY_RT_OK(cudaInitDevice(1, 0, 0));
  EXPECT_EQ(cudaInitDevice(2, 0, 0), cudaErrorInvalidDevice);
  int device = -1;
  FERRY_RT_OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 0);
}

TEST_F(RuntimeDeviceTest, AttributesAreTheDrivers) {
  int ours = 0;
  int drivers = 0;
  FERRY_RT_OK(cudaDeviceGetAttribute(&ours, cudaDevAttrMultiProcessorCount, 1));
  ASSERT_EQ(cuDeviceGetAttribute(&drivers, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1),
            CUDA_SUCCESS);
  EXPECT_EQ(ours, drivers);
  EXPECT_GT(ours, 0);
  EXPECT_EQ(cudaDeviceGetAttribute(&ours, cudaDevAttrWarpSize, 2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0), cudaErrorInvalidValue);
}

TEST_F(RuntimeDeviceTest, ABusIdLeadsBackToItsDevice) {
  char text[32] = "";
  FERRY_RT_OK(cudaDeviceGetPCIBusId(text, sizeof text, 1));
  int device = -1;
  FERRY_RT_OK(cudaDeviceGetByPCIBusId(&device, text));
  EXPECT_EQ(device, 1);
}

TEST_F(RuntimeDeviceTest, GreaterPrioritiesAreSmallerNumbers) {
  int least = -1;
  int greatest = 1;
  FERRY_RT_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_LT(greatest, least);
}

TEST_F(RuntimeDeviceTest, LimitsAreKept) {
  std::size_t bytes = 0;
  FERRY_RT_OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 * kMiB));
  FERRY_RT_OK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  EXPECT_EQ(bytes, 64 * kMiB);
  EXPECT_EQ(cudaDeviceGetLimit(nullptr, cudaLimitMallocHeapSize), cudaErrorInvalidValue);
}

TEST_F(RuntimeDeviceTest, PeersAreSwitchedOnAndOff) {
  int can = 0;
  FERRY_RT_OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  ASSERT_EQ(can, 1);
  int value = 0;
  FERRY_RT_OK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
  EXPECT_EQ(value, 1);
  FERRY_RT_OK(cudaDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_EQ(can, 0);
  FERRY_RT_OK(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  int device = -1;
  FERRY_RT_OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 0);
  FERRY_RT_OK(cudaDeviceDisablePeerAccess(1));
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(7, 0), cudaErrorInvalidDevice);
  FERRY_RT_OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 0);
}

TEST_F(RuntimeDeviceTest, WaitingForTheDeviceRunsWhatIsQueued) {
  restart("schedule=lazy");
  void* const memory = allocate(4);
  auto* const host = allocate_host<std::uint32_t>(1);
  *host = 0;
  FERRY_RT_OK(cudaMemsetAsync(memory, 0x11, 4, nullptr));
  FERRY_RT_OK(cudaMemcpyAsync(host, memory, 4, cudaMemcpyDeviceToHost, nullptr));
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
  FERRY_RT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(*host, 0x11111111U);
}

TEST_F(RuntimeDeviceTest, VersionsAreToldWithoutADevice) {
  int driver = 0;
  int runtime = 0;
  int drivers = 0;
  FERRY_RT_OK(cudaDriverGetVersion(&driver));
  FERRY_RT_OK(cudaRuntimeGetVersion(&runtime));
  ASSERT_EQ(cuDriverGetVersion(&drivers), CUDA_SUCCESS);
  EXPECT_EQ(driver, drivers);
  EXPECT_EQ(runtime, CUDART_VERSION);
  EXPECT_GE(driver, runtime);
  EXPECT_EQ(cudaRuntimeGetVersion(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDriverGetVersion(nullptr), cudaErrorInvalidValue);
}

TEST_F(RuntimeDeviceTest, ProfilersMayBeSwitched) {
  EXPECT_EQ(cudaProfilerStart(), cudaSuccess);
  EXPECT_EQ(cudaProfilerStop(), cudaSuccess);
}

}  // namespace
}  // namespace ferry::sim::runtime_test
