// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime {
namespace {

class RuntimeLaunchTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    register_fill();
    code.kernel(&host_side, "fill");
    device = allocate(64);
  }
  RegisteredCode code;
  char host_side = 0;
  char* device = nullptr;
};

TEST_F(RuntimeLaunchTest, ByTheHostSide) {
  FillArguments arguments{device, 64, 6};
  FERRY_OK(cudaLaunchKernel(&host_side, dim3(1), dim3(1), arguments.pointers, 0, nullptr));
  EXPECT_EQ(contents(device, 64), all(64, 6));
}

TEST_F(RuntimeLaunchTest, WithAttributes) {
  FillArguments arguments{device, 64, 7};
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributePriority;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.attrs = &attribute;
  config.numAttrs = 1;
  FERRY_OK(cudaLaunchKernelExC(&config, &host_side, arguments.pointers));
  EXPECT_EQ(contents(device, 64), all(64, 7));
  FERRY_OK(
      cudaLaunchCooperativeKernel(&host_side, dim3(1), dim3(1), arguments.pointers, 0, nullptr));
}

TEST_F(RuntimeLaunchTest, OnEachDevice) {
  FERRY_OK(cudaSetDevice(1));
  char* const there = allocate(64);
  FillArguments arguments{there, 64, 8};
  FERRY_OK(cudaLaunchKernel(&host_side, dim3(1), dim3(1), arguments.pointers, 0, nullptr));
  EXPECT_EQ(contents(there, 64), all(64, 8));
}

TEST_F(RuntimeLaunchTest, TheFirstMayBeInACapture) {
  cudaStream_t stream = nullptr;
  FERRY_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  FERRY_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  FillArguments arguments{device, 64, 9};
  FERRY_OK(cudaLaunchKernel(&host_side, dim3(1), dim3(1), arguments.pointers, 0, stream));
  cudaGraph_t graph = nullptr;
  FERRY_OK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec = nullptr;
  FERRY_OK(cudaGraphInstantiate(&exec, graph, 0));
  FERRY_OK(cudaGraphLaunch(exec, stream));
  FERRY_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(contents(device, 64), all(64, 9));
}

TEST_F(RuntimeLaunchTest, WhatAKernelNeeds) {
  cudaFuncAttributes attributes{};
  FERRY_OK(cudaFuncGetAttributes(&attributes, &host_side));
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  FERRY_OK(cudaFuncSetAttribute(&host_side, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
  FERRY_OK(cudaFuncGetAttributes(&attributes, &host_side));
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 60000);
  int blocks = 0;
  FERRY_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &host_side, 128, 0));
  EXPECT_GT(blocks, 0);
  const char* name = nullptr;
  FERRY_OK(cudaFuncGetName(&name, &host_side));
  EXPECT_STREQ(name, "fill");
}

TEST_F(RuntimeLaunchTest, WhatWasNeverRegistered) {
  char nothing = 0;
  FillArguments arguments{device, 64, 1};
  EXPECT_NE(cudaLaunchKernel(&nothing, dim3(1), dim3(1), arguments.pointers, 0, nullptr),
            cudaSuccess);
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(cudaGetKernel(&kernel, &nothing), cudaErrorInvalidDeviceFunction);
  void* address = nullptr;
  EXPECT_EQ(cudaGetSymbolAddress(&address, &nothing), cudaErrorInvalidSymbol);
}

TEST_F(RuntimeLaunchTest, VariablesByTheirHostSides) {
  char variable = 0;
  code.variable(&variable, "table", 16);
  void* address = nullptr;
  size_t bytes = 0;
  FERRY_OK(cudaGetSymbolAddress(&address, &variable));
  FERRY_OK(cudaGetSymbolSize(&bytes, &variable));
  EXPECT_EQ(bytes, 16U);
  FERRY_OK(cudaMemcpyToSymbol(&variable, "abcd", 4, 8, cudaMemcpyHostToDevice));
  char back[4] = {};
  FERRY_OK(cudaMemcpyFromSymbol(back, &variable, 4, 8, cudaMemcpyDeviceToHost));
  EXPECT_EQ(std::string(back, 4), "abcd");
  EXPECT_EQ(contents(static_cast<char*>(address) + 8, 4), std::vector<char>(back, back + 4));
  EXPECT_EQ(cudaMemcpyToSymbol(&variable, "abcd", 4, 13, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
}

}  // namespace
}  // namespace ferry::sim::runtime
