// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime {
namespace {

TEST_F(RuntimeTest, EachThreadChoosesItsDevice) {
  FERRY_OK(cudaSetDevice(1));
  int here = -1;
  int there = -1;
  FERRY_OK(cudaGetDevice(&here));
  std::thread([&] { static_cast<void>(cudaGetDevice(&there)); }).join();
  EXPECT_EQ(here, 1);
  EXPECT_EQ(there, 0);
}

TEST_F(RuntimeTest, ADeviceThatIsNotThere) {
  int count = 0;
  FERRY_OK(cudaGetDeviceCount(&count));
  EXPECT_EQ(count, 2);
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  int device = -1;
  FERRY_OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaGetDevice(nullptr), cudaErrorInvalidValue);
}

TEST_F(RuntimeTest, NoDeviceAtAll) {
  ASSERT_EQ(control<ferry_sim_reset_fn>(FERRY_SIM_RESET)("devices=0"), 0);
  int count = -1;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  ASSERT_EQ(control<ferry_sim_reset_fn>(FERRY_SIM_RESET)(""), 0);
}

TEST_F(RuntimeTest, AResetGivesAllMemoryBack) {
  size_t before = 0;
  size_t total = 0;
  FERRY_OK(cudaMemGetInfo(&before, &total));
  char* const lost = allocate(64 << 20);
  FERRY_OK(cudaDeviceReset());
  size_t after = 0;
  FERRY_OK(cudaMemGetInfo(&after, &total));
  EXPECT_EQ(after, before);
  EXPECT_EQ(cudaFree(lost), cudaErrorInvalidValue);
}

TEST_F(RuntimeTest, PeersAreEnabledOnce) {
  int can = 0;
  FERRY_OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  FERRY_OK(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  int device = -1;
  FERRY_OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 0) << "the peer's context was current meanwhile";
  FERRY_OK(cudaDeviceDisablePeerAccess(1));
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
}

TEST_F(RuntimeTest, Versions) {
  int driver = 0;
  int runtime = 0;
  FERRY_OK(cudaDriverGetVersion(&driver));
  FERRY_OK(cudaRuntimeGetVersion(&runtime));
  EXPECT_EQ(runtime, CUDART_VERSION);
  EXPECT_GE(driver, 13000);
}

}  // namespace
}  // namespace ferry::sim::runtime
