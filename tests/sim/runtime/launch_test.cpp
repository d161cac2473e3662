// SPDX-License-Identifier: Apache-2.0
// Launches of registered kernels, what is known of them, and variables by their host sides.
#include "sim/runtime/registered_program.hpp"

namespace ferry::sim::runtime_test {
namespace {

class RuntimeLaunchTest : public ScheduledRuntimeTest {
 protected:
  void SetUp() override { start(GetParam()); }
  void start(const std::string& settings) {
    restart(settings);
    FillWords::give_to_the_driver();
    unit.kernel(FillWords::host(), FillWords::kName);
    unit.kernel(&unknown, "nobody_runs_this");
    unit.variable(&shadow, "a_variable", sizeof shadow);
    memory = allocate(64);
    FERRY_RT_OK(cudaMemset(memory, 0, 64));
    FERRY_RT_OK(cudaDeviceSynchronize());
  }

  RegisteredUnit unit;
  char unknown = 0;
  std::uint32_t shadow[4] = {};
  void* memory = nullptr;
};

TEST_P(RuntimeLaunchTest, ByItsHostSide) {
  const cudaStream_t own = stream();
  FillArguments arguments(memory, 16, 7);
  FERRY_RT_OK(
      cudaLaunchKernel(FillWords::host(), dim3(2, 3, 4), dim3(8, 1, 2), arguments.all, 128, own));
  arguments.value = 99;  // the launch has its own copy
  FERRY_RT_OK(cudaStreamSynchronize(own));
  EXPECT_EQ(word(memory, 15), 7U);
  EXPECT_EQ(FillWords::newest.grid[1], 3U);
  EXPECT_EQ(FillWords::newest.grid[2], 4U);
  EXPECT_EQ(FillWords::newest.block[0], 8U);
  EXPECT_EQ(FillWords::newest.block[2], 2U);
  EXPECT_EQ(FillWords::newest.dynamic_shared_bytes, 128U);
}

TEST_P(RuntimeLaunchTest, ByItsHandles) {
  cudaKernel_t kernel = nullptr;
  FERRY_RT_OK(cudaGetKernel(&kernel, FillWords::host()));
  FillArguments arguments(memory, 16, 8);
  FERRY_RT_OK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(16),
                               arguments.all, 0, nullptr));
  EXPECT_EQ(word(memory), 8U);
  cudaFunction_t function = nullptr;
  FERRY_RT_OK(cudaGetFuncBySymbol(&function, FillWords::host()));
  arguments.value = 9;
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 16, 1, 1, 0, nullptr, arguments.all, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(word(memory), 9U);
}

TEST_P(RuntimeLaunchTest, CooperativeAndByAConfiguration) {
  FillArguments arguments(memory, 16, 3);
  FERRY_RT_OK(
      cudaLaunchCooperativeKernel(FillWords::host(), dim3(1), dim3(16), arguments.all, 0, nullptr));
  EXPECT_EQ(word(memory), 3U);
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(5);
  how.blockDim = dim3(6);
  how.stream = stream();
  arguments.value = 4;
  FERRY_RT_OK(cudaLaunchKernelExC(&how, FillWords::host(), arguments.all));
  FERRY_RT_OK(cudaStreamSynchronize(how.stream));
  EXPECT_EQ(word(memory), 4U);
  EXPECT_EQ(FillWords::newest.grid[0], 5U);
  EXPECT_EQ(FillWords::newest.block[0], 6U);
  EXPECT_EQ(cudaLaunchKernelExC(nullptr, FillWords::host(), arguments.all), cudaErrorInvalidValue);
}

TEST_P(RuntimeLaunchTest, TheFirstLaunchMayBeInsideACapture) {
  const cudaStream_t own = stream();
  FillArguments arguments(memory, 16, 5);
  FERRY_RT_OK(cudaStreamBeginCapture(own, cudaStreamCaptureModeGlobal));
  FERRY_RT_OK(cudaLaunchKernel(FillWords::host(), dim3(1), dim3(16), arguments.all, 0, own));
  cudaGraph_t graph = nullptr;
  FERRY_RT_OK(cudaStreamEndCapture(own, &graph));
  EXPECT_EQ(word(memory), 0U);
  cudaGraphExec_t exec = nullptr;
  FERRY_RT_OK(cudaGraphInstantiate(&exec, graph, 0));
  FERRY_RT_OK(cudaGraphLaunch(exec, own));
  FERRY_RT_OK(cudaStreamSynchronize(own));
  EXPECT_EQ(word(memory), 5U);
}

TEST_P(RuntimeLaunchTest, AKernelThatNobodyRunsIsRefusedOrSkipped) {
  FERRY_RT_OK(cudaSetDevice(0));
  EXPECT_EQ(cudaLaunchKernel(&unknown, dim3(1), dim3(1), nullptr, 0, nullptr),
            cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
  start(std::string("kernels=skipped;") + GetParam());
  FERRY_RT_OK(cudaLaunchKernel(&unknown, dim3(1), dim3(1), nullptr, 0, nullptr));
  FillArguments arguments(memory, 16, 6);
  FERRY_RT_OK(cudaLaunchKernel(FillWords::host(), dim3(1), dim3(16), arguments.all, 0, nullptr));
  EXPECT_EQ(word(memory), 6U);
}

TEST_P(RuntimeLaunchTest, WhatWasNeverRegisteredIsNoFunction) {
  int stranger = 0;
  FillArguments arguments(memory, 16, 1);
  EXPECT_EQ(cudaLaunchKernel(&stranger, dim3(1), dim3(1), arguments.all, 0, nullptr),
            cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernel(nullptr, dim3(1), dim3(1), arguments.all, 0, nullptr),
            cudaErrorInvalidDeviceFunction);
  cudaFuncAttributes attributes{};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, &stranger), cudaErrorInvalidDeviceFunction);
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(cudaGetKernel(&kernel, &stranger), cudaErrorInvalidDeviceFunction);
  cudaFunction_t function = nullptr;
  EXPECT_EQ(cudaGetFuncBySymbol(&function, &stranger), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(function, nullptr);
}

TEST_P(RuntimeLaunchTest, ADestroyedStreamIsNotTakenForAMissingFunction) {
  const cudaStream_t own = stream();
  FERRY_RT_OK(cudaStreamDestroy(own));
  FillArguments arguments(memory, 16, 1);
  const cudaError_t refused =
      cudaLaunchKernel(FillWords::host(), dim3(1), dim3(1), arguments.all, 0, own);
  EXPECT_NE(refused, cudaSuccess);
  EXPECT_NE(refused, cudaErrorInvalidDeviceFunction);
}

TEST_P(RuntimeLaunchTest, AShapeThatTheDeviceDoesNotHave) {
  FillArguments arguments(memory, 16, 1);
  const auto launch = [&](dim3 grid, dim3 block) {
    return cudaLaunchKernel(FillWords::host(), grid, block, arguments.all, 0, nullptr);
  };
  EXPECT_EQ(launch(dim3(1), dim3(1025)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1), dim3(64, 32)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1), dim3(1, 1, 65)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(0), dim3(1)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1), dim3(1, 0)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1, 65536), dim3(1)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(
      cudaLaunchCooperativeKernel(FillWords::host(), dim3(0), dim3(1), arguments.all, 0, nullptr),
      cudaErrorInvalidConfiguration);
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(1);
  how.blockDim = dim3(1025);
  EXPECT_EQ(cudaLaunchKernelExC(&how, FillWords::host(), arguments.all),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  // Too much shared memory is an invalid value.
  EXPECT_EQ(cudaLaunchKernel(FillWords::host(), dim3(1), dim3(1), arguments.all, 1 << 30, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(word(memory), 0U);
}

TEST_P(RuntimeLaunchTest, AttributesOfAKernel) {
  cudaFuncAttributes attributes{};
  FERRY_RT_OK(cudaFuncGetAttributes(&attributes, FillWords::host()));
  int most = 0;
  FERRY_RT_OK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerBlock, 0));
  EXPECT_EQ(attributes.maxThreadsPerBlock, most);
  EXPECT_GT(attributes.numRegs, 0);
  FERRY_RT_OK(cudaFuncSetAttribute(FillWords::host(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   64 * 1024));
  FERRY_RT_OK(cudaFuncGetAttributes(&attributes, FillWords::host()));
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 64 * 1024);
  FERRY_RT_OK(cudaFuncSetCacheConfig(FillWords::host(), cudaFuncCachePreferShared));
  EXPECT_EQ(cudaFuncGetAttributes(nullptr, FillWords::host()), cudaErrorInvalidValue);
  const char* name = nullptr;
  FERRY_RT_OK(cudaFuncGetName(&name, FillWords::host()));
  EXPECT_STREQ(name, FillWords::kName);
}

TEST_P(RuntimeLaunchTest, AnAttributeSetByItsHandle) {
  cudaKernel_t kernel = nullptr;
  FERRY_RT_OK(cudaGetKernel(&kernel, FillWords::host()));
  FERRY_RT_OK(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              60 * 1024, 0));
  cudaFuncAttributes attributes{};
  FERRY_RT_OK(cudaFuncGetAttributes(&attributes, FillWords::host()));
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 60 * 1024);
}

TEST_P(RuntimeLaunchTest, HowManyBlocksFit) {
  int blocks = 0;
  int with_flags = -1;
  int threads = 0;
  FERRY_RT_OK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
  FERRY_RT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, FillWords::host(), 1024, 0));
  EXPECT_EQ(blocks, threads / 1024);
  FERRY_RT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      &with_flags, FillWords::host(), 1024, 0, cudaOccupancyDefault));
  EXPECT_EQ(with_flags, blocks);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, FillWords::host(), 0, 0),
            cudaErrorInvalidValue);
}

TEST_P(RuntimeLaunchTest, AVariableHasAnAddressAndASize) {
  void* address = nullptr;
  std::size_t bytes = 0;
  FERRY_RT_OK(cudaGetSymbolAddress(&address, &shadow));
  FERRY_RT_OK(cudaGetSymbolSize(&bytes, &shadow));
  EXPECT_EQ(bytes, sizeof shadow);
  void* again = nullptr;
  FERRY_RT_OK(cudaGetSymbolAddress(&again, &shadow));
  EXPECT_EQ(again, address);
  cudaPointerAttributes attributes{};
  FERRY_RT_OK(cudaPointerGetAttributes(&attributes, address));
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  FillArguments arguments(address, 4, 77);
  FERRY_RT_OK(cudaLaunchKernel(FillWords::host(), dim3(1), dim3(4), arguments.all, 0, nullptr));
  std::uint32_t last = 0;
  FERRY_RT_OK(cudaMemcpyFromSymbol(&last, &shadow, 4, 12, cudaMemcpyDeviceToHost));
  EXPECT_EQ(last, 77U);
}

TEST_P(RuntimeLaunchTest, AVariableIsCopiedToAndFrom) {
  const std::uint32_t source[4] = {1, 2, 3, 4};
  std::uint32_t back[4] = {};
  FERRY_RT_OK(cudaMemcpyToSymbol(&shadow, source, sizeof source, 0, cudaMemcpyHostToDevice));
  FERRY_RT_OK(cudaMemcpyToSymbol(&shadow, source, 4, 8, cudaMemcpyDefault));
  FERRY_RT_OK(cudaMemcpyFromSymbol(back, &shadow, sizeof back, 0, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back[1], 2U);
  EXPECT_EQ(back[2], 1U);
  EXPECT_EQ(back[3], 4U);
  FERRY_RT_OK(cudaMemcpyFromSymbol(memory, &shadow, 8, 4, cudaMemcpyDeviceToDevice));
  EXPECT_EQ(word(memory), 2U);
}

TEST_P(RuntimeLaunchTest, BeyondTheEndOfAVariable) {
  std::uint32_t words[8] = {};
  EXPECT_EQ(cudaMemcpyToSymbol(&shadow, words, sizeof shadow + 1, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&shadow, words, 4, sizeof shadow - 3, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyFromSymbol(words, &shadow, 4, sizeof shadow, cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyFromSymbol(words, &shadow, 4, ~std::size_t{1}, cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue);
}

TEST_P(RuntimeLaunchTest, AVariableIsOnTheDevice) {
  std::uint32_t words[4] = {};
  EXPECT_EQ(cudaMemcpyToSymbol(&shadow, words, 4, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyFromSymbol(words, &shadow, 4, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidMemcpyDirection);
}

TEST_P(RuntimeLaunchTest, AVariableThatIsNone) {
  int stranger = 0;
  void* address = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(cudaGetSymbolAddress(&address, &stranger), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaGetSymbolSize(&bytes, &stranger), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaMemcpyToSymbol(&stranger, &bytes, 4, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidSymbol);
}

FERRY_EVERY_SCHEDULE(RuntimeLaunchTest);

}  // namespace
}  // namespace ferry::sim::runtime_test
