// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

struct ExportsFunctionTest : SimTest {
  void SetUp() override {
    SimTest::SetUp();
    CUmodule module = nullptr;
    FERRY_OK(cuModuleLoadData(&module, ".version 7.0\n.entry scale() { ret; }\n"));
    FERRY_OK(cuModuleGetFunction(&function, module, "scale"));
  }
  int attribute(CUfunction_attribute which) {
    int value = -7;
    EXPECT_EQ(cuFuncGetAttribute(&value, which, function), CUDA_SUCCESS);
    return value;
  }

  CUfunction function = nullptr;
};

constexpr std::size_t kScaleSizes[] = {1, 8};
std::size_t touch_nothing(const ferry_sim_launch*, const void* const*, ferry_sim_range*,
                          std::size_t) {
  return 0;
}
void run_nothing(const ferry_sim_launch*, const void* const*, void* const*) {}

TEST_F(ExportsFunctionTest, AttributesAreThoseOfTheDevice) {
  EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
  EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 0);
  int value = 0;
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, function), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, function),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsFunctionTest, SharedMemoryBeyondTheDefaultMustBeAskedFor) {
  constexpr auto kShared = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  EXPECT_EQ(attribute(kShared), 49152);
  FERRY_OK(cuFuncSetAttribute(function, kShared, 100'000));
  EXPECT_EQ(attribute(kShared), 100'000);
  EXPECT_EQ(cuFuncSetAttribute(function, kShared, 232'449), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 1), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100));
  EXPECT_EQ(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsFunctionTest, ParametersAreThoseOfTheRegisteredCode) {
  std::size_t offset = 9;
  std::size_t size = 9;
  EXPECT_EQ(cuFuncGetParamInfo(function, 0, &offset, &size), CUDA_ERROR_NOT_SUPPORTED);
  const ferry_sim_kernel kernel{"scale", 2, kScaleSizes, touch_nothing, run_nothing, nullptr};
  ASSERT_EQ(ferry_sim_register_kernel(&kernel), 0);
  FERRY_OK(cuFuncGetParamInfo(function, 1, &offset, &size));
  EXPECT_EQ(offset, 8U);
  EXPECT_EQ(size, 8U);
  FERRY_OK(cuFuncGetParamInfo(function, 0, &offset, nullptr));
  EXPECT_EQ(offset, 0U);
  EXPECT_EQ(cuFuncGetParamInfo(function, 2, &offset, &size), CUDA_ERROR_INVALID_VALUE);
  CUlibrary library = nullptr;
  CUkernel same = nullptr;
  FERRY_OK(cuLibraryLoadData(&library, ".version 7.0\n.entry scale() { ret; }\n", nullptr, nullptr,
                             0, nullptr, nullptr, 0));
  FERRY_OK(cuLibraryGetKernel(&same, library, "scale"));
  FERRY_OK(cuKernelGetParamInfo(same, 1, &offset, &size));
  EXPECT_EQ(offset, 8U);
}

class KernelSettings : public SimTest {
 protected:
  static constexpr auto kShared = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;

  void SetUp() override {
    restart("devices=2");
    FERRY_OK(cuLibraryLoadData(&library, ".version 7.0\n.entry scale() { ret; }\n", nullptr,
                               nullptr, 0, nullptr, nullptr, 0));
    FERRY_OK(cuLibraryGetKernel(&kernel, library, "scale"));
  }
  CUfunction function() {
    CUfunction found = nullptr;
    EXPECT_EQ(cuKernelGetFunction(&found, kernel), CUDA_SUCCESS);
    return found;
  }
  static int of(CUfunction function) {
    int value = -7;
    EXPECT_EQ(cuFuncGetAttribute(&value, kShared, function), CUDA_SUCCESS);
    return value;
  }
  int of_kernel(CUdevice device) {
    int value = -7;
    EXPECT_EQ(cuKernelGetAttribute(&value, kShared, kernel, device), CUDA_SUCCESS);
    return value;
  }

  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
};

TEST_F(KernelSettings, AreThoseOfItsFunctionsOnTheDevice) {
  const CUfunction before = function();
  FERRY_OK(cuKernelSetAttribute(kShared, 60'000, kernel, 0));
  EXPECT_EQ(of_kernel(0), 60'000);
  EXPECT_EQ(of_kernel(1), 49'152);
  EXPECT_EQ(of(before), 60'000);
  CUcontext other = nullptr;
  FERRY_OK(cuCtxCreate_v2(&other, 0, 0));
  EXPECT_EQ(of(function()), 60'000) << "one that comes later too";
  FERRY_OK(cuCtxDestroy_v2(other));
  FERRY_OK(cuCtxCreate_v2(&other, 0, 1));
  EXPECT_EQ(of(function()), 49'152);
  FERRY_OK(cuCtxDestroy_v2(other));
}

TEST_F(KernelSettings, WhatIsSetOnAFunctionItselfStays) {
  FERRY_OK(cuFuncSetAttribute(function(), kShared, 70'000));
  FERRY_OK(cuKernelSetAttribute(kShared, 60'000, kernel, 0));
  EXPECT_EQ(of(function()), 70'000);
  EXPECT_EQ(of_kernel(0), 60'000);
}

TEST_F(ExportsFunctionTest, ClusterSettingsAreKept) {
  FERRY_OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4));
  EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), 4);
  EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT), 0);
  EXPECT_EQ(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 2),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, 1),
            CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace ferry::sim
