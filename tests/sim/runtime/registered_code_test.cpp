// SPDX-License-Identifier: Apache-2.0
// Where the code of a program is known, and how long.
#include "sim/runtime/registered_program.hpp"

namespace ferry::sim::runtime_test {
namespace {

class RegisteredCodeTest : public RuntimeTest {
 protected:
  void SetUp() override {
    restart("devices=2");
    FillWords::give_to_the_driver();
    unit.kernel(FillWords::host(), FillWords::kName);
    unit.variable(&shadow, "counter", sizeof shadow);
  }
  static cudaError_t fill(void* memory, std::uint32_t value) {
    FillArguments arguments(memory, 4, value);
    return cudaLaunchKernel(FillWords::host(), dim3(1), dim3(4), arguments.all, 0, nullptr);
  }
  void* address_of_variable() {
    void* address = nullptr;
    EXPECT_EQ(cudaGetSymbolAddress(&address, &shadow), cudaSuccess);
    return address;
  }

  RegisteredUnit unit;
  std::uint32_t shadow = 0;
};

TEST_F(RegisteredCodeTest, EveryDeviceHasItsOwn) {
  void* const here = address_of_variable();
  FERRY_RT_OK(cudaMemset(here, 1, 4));
  FERRY_RT_OK(cudaSetDevice(1));
  void* const there = address_of_variable();
  EXPECT_NE(here, there);
  FERRY_RT_OK(cudaMemset(there, 2, 4));
  EXPECT_EQ(word(there), 0x02020202U);
  void* const memory = allocate(16);
  FERRY_RT_OK(fill(memory, 5));
  EXPECT_EQ(word(memory), 5U);
  FERRY_RT_OK(cudaSetDevice(0));
  EXPECT_EQ(address_of_variable(), here);
  EXPECT_EQ(word(here), 0x01010101U);
}

TEST_F(RegisteredCodeTest, AnAttributeIsSetOnTheNamedDevice) {
  cudaKernel_t kernel = nullptr;
  FERRY_RT_OK(cudaGetKernel(&kernel, FillWords::host()));
  cudaFuncAttributes before{};
  FERRY_RT_OK(cudaFuncGetAttributes(&before, FillWords::host()));
  FERRY_RT_OK(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              60 * 1024, 1));
  int device = -1;
  FERRY_RT_OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 0);
  cudaFuncAttributes after{};
  FERRY_RT_OK(cudaFuncGetAttributes(&after, FillWords::host()));
  EXPECT_EQ(after.maxDynamicSharedSizeBytes, before.maxDynamicSharedSizeBytes);
  FERRY_RT_OK(cudaSetDevice(1));
  FERRY_RT_OK(cudaFuncGetAttributes(&after, FillWords::host()));
  EXPECT_EQ(after.maxDynamicSharedSizeBytes, 60 * 1024);
  EXPECT_EQ(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            60 * 1024, 2),
            cudaErrorInvalidDevice);
}

TEST_F(RegisteredCodeTest, AResetBringsItBackAnew) {
  void* memory = allocate(16);
  FERRY_RT_OK(fill(memory, 5));
  FERRY_RT_OK(cudaMemset(address_of_variable(), 1, 4));
  FERRY_RT_OK(cudaDeviceReset());
  memory = allocate(16);
  FERRY_RT_OK(fill(memory, 6));
  EXPECT_EQ(word(memory), 6U);
  EXPECT_EQ(word(address_of_variable()), 0U);
}

TEST_F(RegisteredCodeTest, WhatIsTakenBackIsUnknown) {
  void* const memory = allocate(16);
  FERRY_RT_OK(fill(memory, 5));
  cudaKernel_t kernel = nullptr;
  FERRY_RT_OK(cudaGetKernel(&kernel, FillWords::host()));
  unit.end();
  EXPECT_EQ(fill(memory, 6), cudaErrorInvalidDeviceFunction);
  FillArguments arguments(memory, 4, 7);
  EXPECT_EQ(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(4), arguments.all,
                             0, nullptr),
            cudaErrorInvalidDeviceFunction);
  void* address = nullptr;
  EXPECT_EQ(cudaGetSymbolAddress(&address, &shadow), cudaErrorInvalidSymbol);
  EXPECT_EQ(word(memory), 5U);
}

TEST_F(RegisteredCodeTest, UnitsEndOnTheirOwn) {
  std::uint32_t other_shadow = 0;
  void* address = nullptr;
  {
    RegisteredUnit other;
    other.variable(&other_shadow, "another_counter", sizeof other_shadow);
    FERRY_RT_OK(cudaGetSymbolAddress(&address, &other_shadow));
    EXPECT_NE(address, address_of_variable());
  }
  EXPECT_EQ(cudaGetSymbolAddress(&address, &other_shadow), cudaErrorInvalidSymbol);
  EXPECT_NE(address_of_variable(), nullptr);
}

TEST_F(RegisteredCodeTest, ThreadsMayUseAKernelFirstAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      void* const memory = allocate(16);
      EXPECT_EQ(fill(memory, 3), cudaSuccess);
      EXPECT_EQ(word(memory), 3U);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(RegisteredCodeTest, AnErrorOfTheDriverIsNotAMissingVariable) {
  fail_nth("cuModuleLoadData", 1, CUDA_ERROR_OUT_OF_MEMORY);
  void* address = nullptr;
  EXPECT_EQ(cudaGetSymbolAddress(&address, &shadow), cudaErrorMemoryAllocation);
  EXPECT_NE(address_of_variable(), nullptr);
}

}  // namespace
}  // namespace ferry::sim::runtime_test
