// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime {
namespace {

// Another process is in the tests of the driver's functions; here only that the calls reach them.
TEST_F(RuntimeTest, HandlesOfMemoryAreThoseOfTheDriver) {
  cudaIpcMemHandle_t handle{};
  cudaIpcMemHandle_t again{};
  char* const device = allocate(2 << 20);
  FERRY_OK(cudaIpcGetMemHandle(&handle, device));
  FERRY_OK(cudaIpcGetMemHandle(&again, device));
  EXPECT_EQ(std::memcmp(&handle, &again, sizeof handle), 0);
  void* opened = nullptr;
  EXPECT_EQ(cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess),
            cudaErrorDeviceUninitialized)
      << "not in the process that made it";
  EXPECT_EQ(cudaIpcCloseMemHandle(device), cudaErrorInvalidValue);
}

TEST_F(RuntimeTest, OnlyEventsForItGoToOtherProcesses) {
  cudaEvent_t plain = nullptr;
  cudaEvent_t shared = nullptr;
  cudaIpcEventHandle_t handle{};
  FERRY_OK(cudaEventCreate(&plain));
  FERRY_OK(cudaEventCreateWithFlags(&shared, cudaEventInterprocess | cudaEventDisableTiming));
  EXPECT_NE(cudaIpcGetEventHandle(&handle, plain), cudaSuccess);
  FERRY_OK(cudaIpcGetEventHandle(&handle, shared));
}

}  // namespace
}  // namespace ferry::sim::runtime
