// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime {
namespace {

TEST_F(RuntimeTest, CodeGoesWithItsUnit) {
  register_fill();
  char host_side = 0;
  cudaKernel_t kernel = nullptr;
  {
    RegisteredCode code;
    code.kernel(&host_side, "fill");
    FERRY_OK(cudaGetKernel(&kernel, &host_side));
  }
  EXPECT_EQ(cudaGetKernel(&kernel, &host_side), cudaErrorInvalidDeviceFunction);
}

TEST_F(RuntimeTest, VariablesAreOfEachDevice) {
  RegisteredCode code;
  char variable = 0;
  code.variable(&variable, "table", 16);
  void* first = nullptr;
  void* second = nullptr;
  FERRY_OK(cudaGetSymbolAddress(&first, &variable));
  FERRY_OK(cudaSetDevice(1));
  FERRY_OK(cudaGetSymbolAddress(&second, &variable));
  EXPECT_NE(first, second);
  void* again = nullptr;
  FERRY_OK(cudaGetSymbolAddress(&again, &variable));
  EXPECT_EQ(second, again);
}

TEST_F(RuntimeTest, CodeLivesThroughAReset) {
  register_fill();
  RegisteredCode code;
  char host_side = 0;
  code.kernel(&host_side, "fill");
  for (int round = 1; round <= 2; ++round) {
    char* const device = allocate(64);
    FillArguments arguments{device, 64, round};
    FERRY_OK(cudaLaunchKernel(&host_side, dim3(1), dim3(1), arguments.pointers, 0, nullptr));
    EXPECT_EQ(contents(device, 64), all(64, static_cast<char>(round)));
    FERRY_OK(cudaDeviceReset());
  }
}

}  // namespace
}  // namespace ferry::sim::runtime
