// SPDX-License-Identifier: Apache-2.0
// Managed memory for a test, where the device and the host may use it at the same time.
#pragma once

#include "conformance/fixture.hpp"

namespace ferry::conformance {

class WithManagedMemory : public WithContext {
 protected:
  explicit WithManagedMemory(std::size_t size) : bytes_(size) {}

  void SetUp() override {
    WithContext::SetUp();
    int has = 0;
    FERRY_OK(
        cuda().cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, device));
    if (has == 0) GTEST_SKIP() << "the device has no concurrent managed access";
    FERRY_OK(cuda().cuMemAllocManaged(&memory, bytes_, CU_MEM_ATTACH_GLOBAL));
  }
  void TearDown() override {
    if (memory != 0) {
      EXPECT_EQ(cuda().cuMemFree_v2(memory), CUDA_SUCCESS);
    }
    WithContext::TearDown();
  }

  CUdeviceptr memory = 0;

 private:
  std::size_t bytes_;
};

}  // namespace ferry::conformance
