// SPDX-License-Identifier: Apache-2.0
// What nodes tell of themselves, also those that a capture made.
#include <array>
#include <cstring>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

constexpr const char* kPtx =
    ".version 7.0\n.target sm_50\n.visible .entry add_number() { ret; }\n"
    ".visible .entry never_registered() { ret; }\n";
constexpr std::size_t kSizes[] = {8, 4};

std::size_t one_word(const ferry_sim_launch*, const void* const* arguments, ferry_sim_range* out,
                     std::size_t) {
  std::uint64_t address = 0;
  std::memcpy(&address, arguments[0], sizeof address);
  out[0] = {address, 4, 1};
  return 1;
}

void add_number(const ferry_sim_launch*, const void* const* arguments, void* const* memory) {
  std::uint32_t number = 0;
  std::memcpy(&number, arguments[1], sizeof number);
  *static_cast<std::uint32_t*>(memory[0]) += number;
}

class ExportsGraphNodeTest : public SimTest {
 protected:
  void SetUp() override {
    SimTest::SetUp();
    const ferry_sim_kernel kernel{"add_number", 2, kSizes, one_word, add_number, nullptr};
    ASSERT_EQ(ferry_sim_register_kernel(&kernel), 0);
    CUmodule module = nullptr;
    FERRY_OK(cuModuleLoadData(&module, kPtx));
    FERRY_OK(cuModuleGetFunction(&function, module, "add_number"));
    FERRY_OK(cuModuleGetFunction(&unknown, module, "never_registered"));
    word = allocate(4);
    FERRY_OK(cuMemsetD32_v2(word, 0, 1));
    FERRY_OK(cuCtxSynchronize());
    FERRY_OK(cuGraphCreate(&graph, 0));
  }
  // `arguments` must live until the call that takes the parameters.
  CUDA_KERNEL_NODE_PARAMS_v2 launch_of(void** arguments) const {
    CUDA_KERNEL_NODE_PARAMS_v2 params{};
    params.func = function;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
    return params;
  }
  void run(CUgraphExec executable) {
    FERRY_OK(cuGraphLaunch(executable, nullptr));
    FERRY_OK(cuCtxSynchronize());
  }
  CUgraphExec instantiate() {
    CUgraphExec executable = nullptr;
    EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
    return executable;
  }

  CUfunction function = nullptr;
  CUfunction unknown = nullptr;
  CUdeviceptr word = 0;
  CUgraph graph = nullptr;
};

TEST_F(ExportsGraphNodeTest, AKernelsArgumentsAreCopiedAndTold) {
  std::uint32_t number = 5;
  void* arguments[] = {&word, &number};
  CUDA_KERNEL_NODE_PARAMS_v2 params = launch_of(arguments);
  CUgraphNode node = nullptr;
  FERRY_OK(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &params));
  number = 100;
  const CUgraphExec executable = instantiate();
  run(executable);
  run(executable);
  EXPECT_EQ(peek(word), 10U);
  CUDA_KERNEL_NODE_PARAMS_v2 told{};
  FERRY_OK(cuGraphKernelNodeGetParams_v2(node, &told));
  EXPECT_EQ(told.func, function);
  EXPECT_EQ(told.blockDimX, 1U);
  EXPECT_EQ(*static_cast<std::uint32_t*>(told.kernelParams[1]), 5U);
  number = 7;
  told.kernelParams = arguments;
  FERRY_OK(cuGraphKernelNodeSetParams_v2(node, &told));
  FERRY_OK(cuGraphExecKernelNodeSetParams_v2(executable, node, &told));
  run(executable);
  EXPECT_EQ(peek(word), 17U);
  CUDA_KERNEL_NODE_PARAMS_v1 first{};
  FERRY_OK(cuGraphKernelNodeGetParams(node, &first));
  EXPECT_EQ(*static_cast<std::uint32_t*>(first.kernelParams[1]), 7U);
}

TEST_F(ExportsGraphNodeTest, AKernelWithoutHostFunctionIsRefusedWhenItIsAdded) {
  CUDA_KERNEL_NODE_PARAMS_v2 params = launch_of(nullptr);
  params.func = unknown;
  CUgraphNode node = nullptr;
  EXPECT_EQ(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &params), CUDA_ERROR_NOT_SUPPORTED);
  params.func = nullptr;
  EXPECT_EQ(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &params), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ExportsGraphNodeTest, AFunctionHasItsContext) {
  std::uint32_t number = 5;
  void* arguments[] = {&word, &number};
  CUDA_KERNEL_NODE_PARAMS_v2 params = launch_of(arguments);
  params.ctx = reinterpret_cast<CUcontext>(16);  // ignored, as it is no kernel
  CUgraphNode node = nullptr;
  FERRY_OK(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &params));
  FERRY_OK(cuCtxPopCurrent_v2(nullptr));
  FERRY_OK(cuGraphAddKernelNode_v2(&node, graph, &node, 1, &params));
  FERRY_OK(cuCtxPushCurrent_v2(context));
  run(instantiate());
  EXPECT_EQ(peek(word), 10U);
}

TEST_F(ExportsGraphNodeTest, AKernelIsToldAsOne) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  FERRY_OK(cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  FERRY_OK(cuLibraryGetKernel(&kernel, library, "add_number"));
  std::uint32_t number = 5;
  void* arguments[] = {&word, &number};
  CUDA_KERNEL_NODE_PARAMS_v2 params = launch_of(arguments);
  params.func = nullptr;
  params.kern = kernel;
  params.ctx = context;
  CUgraphNode node = nullptr;
  FERRY_OK(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &params));
  CUDA_KERNEL_NODE_PARAMS_v2 told{};
  FERRY_OK(cuGraphKernelNodeGetParams_v2(node, &told));
  EXPECT_EQ(told.func, nullptr);
  EXPECT_EQ(told.kern, kernel);
  EXPECT_EQ(told.ctx, context);
  run(instantiate());
  EXPECT_EQ(peek(word), 5U);
}

TEST_F(ExportsGraphNodeTest, LaunchesAreCaptured) {
  const CUstream a_stream = stream();
  std::uint32_t number = 3;
  void* arguments[] = {&word, &number};
  FERRY_OK(cuStreamBeginCapture_v2(a_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  FERRY_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, a_stream, arguments, nullptr));
  FERRY_OK(cuStreamEndCapture(a_stream, &graph));
  number = 100;
  run(instantiate());
  EXPECT_EQ(peek(word), 3U);
}

TEST_F(ExportsGraphNodeTest, CapturedCopiesTellTheirShape) {
  const CUstream a_stream = stream();
  const CUdeviceptr device = allocate(4096);
  void* const host = allocate_host(4096);
  CUDA_MEMCPY2D rows{};
  rows.srcMemoryType = CU_MEMORYTYPE_HOST;
  rows.srcHost = host;
  rows.srcPitch = 64;
  rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  rows.dstDevice = device;
  rows.dstPitch = 128;
  rows.WidthInBytes = 32;
  rows.Height = 4;
  FERRY_OK(cuStreamBeginCapture_v2(a_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  FERRY_OK(cuMemcpyDtoHAsync_v2(host, device, 1000, a_stream));
  FERRY_OK(cuMemcpy2DAsync_v2(&rows, a_stream));
  FERRY_OK(cuMemsetD2D16Async(device, 128, 7, 16, 4, a_stream));
  FERRY_OK(cuStreamEndCapture(a_stream, &graph));
  std::array<CUgraphNode, 3> nodes{};
  std::size_t count = 3;
  FERRY_OK(cuGraphGetNodes(graph, nodes.data(), &count));
  ASSERT_EQ(count, 3U);
  CUDA_MEMCPY3D copy{};
  FERRY_OK(cuGraphMemcpyNodeGetParams(nodes[0], &copy));
  EXPECT_EQ(copy.srcMemoryType, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(copy.srcDevice, device);
  EXPECT_EQ(copy.dstMemoryType, CU_MEMORYTYPE_HOST);
  EXPECT_EQ(copy.dstHost, host);
  EXPECT_EQ(copy.WidthInBytes, 1000U);
  FERRY_OK(cuGraphMemcpyNodeGetParams(nodes[1], &copy));
  EXPECT_EQ(copy.srcPitch, 64U);
  EXPECT_EQ(copy.dstPitch, 128U);
  EXPECT_EQ(copy.Height, 4U);
  CUDA_MEMSET_NODE_PARAMS fill{};
  FERRY_OK(cuGraphMemsetNodeGetParams(nodes[2], &fill));
  EXPECT_EQ(fill.elementSize, 2U);
  EXPECT_EQ(fill.width, 16U);
  EXPECT_EQ(fill.pitch, 128U);
  // What is told can be given back.
  FERRY_OK(cuGraphMemcpyNodeSetParams(nodes[1], &copy));
  FERRY_OK(cuGraphMemsetNodeSetParams(nodes[2], &fill));
}

TEST_F(ExportsGraphNodeTest, HostAndEventNodesAreToldAndChanged) {
  int calls = 0;
  const CUhostFn count_up = [](void* data) { ++*static_cast<int*>(data); };
  CUDA_HOST_NODE_PARAMS params{};
  params.fn = count_up;
  params.userData = &calls;
  CUgraphNode host = nullptr;
  FERRY_OK(cuGraphAddHostNode(&host, graph, nullptr, 0, &params));
  CUDA_HOST_NODE_PARAMS told{};
  FERRY_OK(cuGraphHostNodeGetParams(host, &told));
  EXPECT_EQ(told.fn, count_up);
  EXPECT_EQ(told.userData, &calls);
  params.fn = nullptr;
  EXPECT_EQ(cuGraphHostNodeSetParams(host, &params), CUDA_ERROR_INVALID_VALUE);
  const CUevent first = event();
  const CUevent second = event();
  CUgraphNode wait = nullptr;
  CUevent waited = nullptr;
  FERRY_OK(cuGraphAddEventWaitNode(&wait, graph, nullptr, 0, first));
  FERRY_OK(cuGraphEventWaitNodeSetEvent(wait, second));
  FERRY_OK(cuGraphEventWaitNodeGetEvent(wait, &waited));
  EXPECT_EQ(waited, second);
  EXPECT_EQ(cuGraphEventRecordNodeGetEvent(wait, &waited), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddEventWaitNode(&wait, graph, nullptr, 0, nullptr), CUDA_ERROR_INVALID_HANDLE);
  run(instantiate());
  EXPECT_EQ(calls, 1);
}

TEST_F(ExportsGraphNodeTest, ANodeKeepsItsKind) {
  CUgraphNode node = nullptr;
  FERRY_OK(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_MEMSET;
  params.memset = {word, 0, 6, 1, 4, 1, context};
  EXPECT_EQ(cuGraphNodeSetParams(node, &params), CUDA_ERROR_INVALID_VALUE);
  params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  EXPECT_EQ(cuGraphAddNode(&node, graph, nullptr, 0, &params), CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace ferry::sim
