// SPDX-License-Identifier: Apache-2.0
// What functions and kernels are asked and set to, and clusters of blocks.
#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

constexpr const char* kPtx =
    ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry nothing()\n{\n  ret;\n}\n";
constexpr auto kShared = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;

class Kernels : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    FERRY_OK(cuda().cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    FERRY_OK(cuda().cuLibraryGetKernel(&kernel, library, "nothing"));
    FERRY_OK(cuda().cuKernelGetFunction(&function, kernel));
  }
  void TearDown() override {
    EXPECT_EQ(cuda().cuLibraryUnload(library), CUDA_SUCCESS);
    WithContext::TearDown();
  }
  int of_kernel(CUfunction_attribute attribute) {
    int value = -1;
    EXPECT_EQ(cuda().cuKernelGetAttribute(&value, attribute, kernel, device), CUDA_SUCCESS);
    return value;
  }
  int of_function(CUfunction_attribute attribute) {
    int value = -2;
    EXPECT_EQ(cuda().cuFuncGetAttribute(&value, attribute, function), CUDA_SUCCESS);
    return value;
  }

  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
};

TEST_F(Kernels, SayWhatTheirFunctionsSay) {
  for (const CUfunction_attribute attribute :
       {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
        CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_BINARY_VERSION, kShared}) {
    EXPECT_EQ(of_kernel(attribute), of_function(attribute)) << attribute;
  }
}

TEST_F(Kernels, AreSetForADevice) {
  FERRY_OK(cuda().cuKernelSetAttribute(kShared, 1024, kernel, device));
  EXPECT_EQ(of_kernel(kShared), 1024);
  FERRY_OK(cuda().cuFuncSetAttribute(function, kShared, 2048));
  EXPECT_EQ(of_function(kShared), 2048);
  EXPECT_EQ(of_kernel(kShared), 1024) << "that of the kernel stays";
  FERRY_OK(cuda().cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, device));
}

TEST_F(Kernels, BadRequestsAreRefused) {
  int value = 0;
  EXPECT_EQ(cuda().cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 8, kernel, device),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuKernelSetAttribute(kShared, 1 << 30, kernel, device),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuKernelGetAttribute(&value, kShared, kernel, 1000), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuda().cuKernelGetAttribute(nullptr, kShared, kernel, device),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Kernels, AreLoadedWhenAsked) {
  if (cuda().cuFuncLoad == nullptr) GTEST_SKIP();
  FERRY_OK(cuda().cuFuncLoad(function));
  CUfunctionLoadingState state = CU_FUNCTION_LOADING_STATE_UNLOADED;
  FERRY_OK(cuda().cuFuncIsLoaded(&state, function));
  EXPECT_EQ(state, CU_FUNCTION_LOADING_STATE_LOADED);
}

TEST_F(Kernels, ClustersFitTheDevice) {
  int has = 0;
  FERRY_OK(cuda().cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, device));
  if (has == 0) GTEST_SKIP() << "the device has no clusters";
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = 8;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128;
  config.blockDimY = config.blockDimZ = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int size = 0;
  FERRY_OK(cuda().cuOccupancyMaxPotentialClusterSize(&size, function, &config));
  EXPECT_GE(size, 8) << "what every such device can";
  int count = 0;
  FERRY_OK(cuda().cuOccupancyMaxActiveClusters(&count, function, &config));
  EXPECT_GT(count, 0);
  config.numAttrs = 0;
  EXPECT_NE(cuda().cuOccupancyMaxActiveClusters(&count, function, &config), CUDA_SUCCESS)
      << "of which size";
}

}  // namespace
}  // namespace ferry::conformance
