// SPDX-License-Identifier: Apache-2.0
// The fatbin that nvcc built and the functions of the host have the same kernels.
#include "sim/machine/own_kernels.hpp"
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

struct DeviceCode : SimTest {
  void SetUp() override {
    SimTest::SetUp();
    FERRY_OK(cuModuleLoad(&module, FERRY_FATBIN));
  }
  CUmodule module = nullptr;
};

TEST_F(DeviceCode, HoldsEveryKernelThatTheHostHas) {
  ASSERT_FALSE(own_kernels().empty());
  for (const ferry_sim_kernel& kernel : own_kernels()) {
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&function, module, kernel.name), CUDA_SUCCESS) << kernel.name;
  }
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&function, module, "ferry_unfill"), CUDA_ERROR_NOT_FOUND);
}

}  // namespace
}  // namespace ferry::sim
