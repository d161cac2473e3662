// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime {
namespace {

TEST_F(RuntimeTest, KernelsOfALibraryAreLaunched) {
  register_fill();
  constexpr char kImage[] =
      ".version 8.0\n.target sm_52\n.address_size 64\n"
      ".visible .entry fill(.param .u64 a, .param .u64 b, .param .u32 c)\n{\n ret;\n}\n";
  cudaLibrary_t library = nullptr;
  FERRY_OK(cudaLibraryLoadData(&library, kImage, nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  FERRY_OK(cudaLibraryGetKernelCount(&count, library));
  EXPECT_EQ(count, 1U);
  cudaKernel_t kernel = nullptr;
  FERRY_OK(cudaLibraryGetKernel(&kernel, library, "fill"));
  EXPECT_EQ(cudaLibraryGetKernel(&kernel, library, "none"), cudaErrorSymbolNotFound);
  FERRY_OK(cudaLibraryGetKernel(&kernel, library, "fill"));
  char* const device = allocate(64);
  FillArguments arguments{device, 64, 3};
  FERRY_OK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1),
                            arguments.pointers, 0, nullptr));
  EXPECT_EQ(contents(device, 64), all(64, 3));
  FERRY_OK(cudaLibraryUnload(library));
}

TEST_F(RuntimeTest, TheDriversFunctionsByName) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointVersionNotSufficent;
  FERRY_OK(cudaGetDriverEntryPointByVersion("cuDriverGetVersion", &function, 12000,
                                            cudaEnableDefault, &found));
  EXPECT_EQ(found, cudaDriverEntryPointSuccess);
  int version = 0;
  EXPECT_EQ(reinterpret_cast<int (*)(int*)>(function)(&version), 0);
  EXPECT_GE(version, 13000);
  FERRY_OK(
      cudaGetDriverEntryPointByVersion("cuNothing", &function, 12000, cudaEnableDefault, &found));
  EXPECT_EQ(found, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(cudaGetDriverEntryPointByVersion(nullptr, &function, 12000, cudaEnableDefault, &found),
            cudaErrorInvalidValue);
}

}  // namespace
}  // namespace ferry::sim::runtime
