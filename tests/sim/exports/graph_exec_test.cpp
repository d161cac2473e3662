// SPDX-License-Identifier: Apache-2.0
// Variants of the calls on executable graphs, and what they refuse.
#include <array>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsGraphExecTest : public SimTest {
 protected:
  void SetUp() override {
    SimTest::SetUp();
    buffer = allocate(4096);
    FERRY_OK(cuGraphCreate(&graph, 0));
    fill = add_fill(1);
  }
  CUgraphNode add_fill(unsigned value) {
    CUgraphNode node = nullptr;
    const CUDA_MEMSET_NODE_PARAMS params = fill_of(value);
    EXPECT_EQ(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, context), CUDA_SUCCESS);
    return node;
  }
  CUDA_MEMSET_NODE_PARAMS fill_of(unsigned value) const { return {buffer, 0, value, 1, 4096, 1}; }

  CUdeviceptr buffer = 0;
  CUgraph graph = nullptr;
  CUgraphNode fill = nullptr;
  CUgraphExec executable = nullptr;
};

TEST_F(ExportsGraphExecTest, EveryVariantInstantiates) {
  std::array<char, 8> log{'x'};
  CUgraphNode error = fill;
  FERRY_OK(cuGraphInstantiate(&executable, graph, &error, log.data(), log.size()));
  EXPECT_EQ(error, nullptr);
  EXPECT_EQ(log[0], '\0');
  FERRY_OK(cuGraphExecDestroy(executable));
  FERRY_OK(cuGraphInstantiate_v2(&executable, graph, nullptr, nullptr, 0));
  FERRY_OK(cuGraphExecDestroy(executable));
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  FERRY_OK(cuGraphInstantiateWithParams(&executable, graph, &params));
  EXPECT_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
  cuuint64_t flags = 0;
  FERRY_OK(cuGraphExecGetFlags(executable, &flags));
  EXPECT_EQ(flags, cuuint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY});
  FERRY_OK(cuGraphUpload(executable, nullptr));
  FERRY_OK(cuGraphExecDestroy(executable));
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsGraphExecTest, LaunchesFromTheDeviceAreNotThere) {
  EXPECT_EQ(
      cuGraphInstantiateWithFlags(&executable, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH),
      CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 1ULL << 40), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsGraphExecTest, ACircleIsNoInstance) {
  const CUgraphNode other = add_fill(2);
  FERRY_OK(cuGraphAddDependencies(graph, &fill, &other, 1));
  FERRY_OK(cuGraphAddDependencies(graph, &other, &fill, 1));
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_ERROR_INVALID_VALUE);
  CUgraph outer = nullptr;
  CUgraphNode child = nullptr;
  FERRY_OK(cuGraphCreate(&outer, 0));
  FERRY_OK(cuGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, outer, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsGraphExecTest, ChangesAreForItsOwnNodesAndKinds) {
  FERRY_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  const CUgraphNode later = add_fill(2);
  const CUDA_MEMSET_NODE_PARAMS params = fill_of(3);
  EXPECT_EQ(cuGraphExecMemsetNodeSetParams(executable, later, &params, context),
            CUDA_ERROR_INVALID_VALUE)
      << "added after it was instantiated";
  EXPECT_EQ(cuGraphExecMemsetNodeSetParams(executable, nullptr, &params, context),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphExecEventWaitNodeSetEvent(executable, fill, event()), CUDA_ERROR_INVALID_VALUE);
  CUcontext other = nullptr;
  FERRY_OK(cuCtxCreate_v2(&other, 0, 0));
  FERRY_OK(cuCtxPopCurrent_v2(nullptr));
  EXPECT_EQ(cuGraphExecMemsetNodeSetParams(executable, fill, &params, other),
            CUDA_ERROR_INVALID_VALUE)
      << "the context cannot change";
  FERRY_OK(cuGraphExecMemsetNodeSetParams(executable, fill, &params, context));
  FERRY_OK(cuGraphLaunch(executable, nullptr));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(peek(buffer), 0x03030303U);
}

TEST_F(ExportsGraphExecTest, CapturedNodesOfEveryKindCanBeChanged) {
  const CUstream a_stream = stream();
  const CUevent first = event();
  const CUevent second = event();
  int calls = 0;
  const CUhostFn count_up = [](void* data) { ++*static_cast<int*>(data); };
  CUgraph captured = nullptr;
  FERRY_OK(cuStreamBeginCapture_v2(a_stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  FERRY_OK(cuLaunchHostFunc(a_stream, count_up, nullptr));
  FERRY_OK(cuEventRecordWithFlags(first, a_stream, CU_EVENT_RECORD_EXTERNAL));
  FERRY_OK(cuStreamWaitEvent(a_stream, first, CU_EVENT_WAIT_EXTERNAL));
  FERRY_OK(cuStreamEndCapture(a_stream, &captured));
  std::array<CUgraphNode, 3> nodes{};
  std::size_t count = nodes.size();
  FERRY_OK(cuGraphGetNodes(captured, nodes.data(), &count));
  FERRY_OK(cuGraphInstantiateWithFlags(&executable, captured, 0));
  CUDA_HOST_NODE_PARAMS host{};
  host.fn = count_up;
  host.userData = &calls;
  FERRY_OK(cuGraphExecHostNodeSetParams(executable, nodes[0], &host));
  FERRY_OK(cuGraphExecEventRecordNodeSetEvent(executable, nodes[1], second));
  FERRY_OK(cuGraphExecEventWaitNodeSetEvent(executable, nodes[2], second));
  FERRY_OK(cuGraphLaunch(executable, a_stream));
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(calls, 1);
}

TEST_F(ExportsGraphExecTest, OperandsStayWhereTheyWere) {
  const auto host = reinterpret_cast<CUdeviceptr>(allocate_host(4096));
  FERRY_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  CUDA_MEMSET_NODE_PARAMS params = fill_of(3);
  params.dst = host;
  EXPECT_EQ(cuGraphExecMemsetNodeSetParams(executable, fill, &params, context),
            CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuGraphMemsetNodeSetParams(fill, &params));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cuGraphExecUpdate_v2(executable, graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
  params = fill_of(3);
  params.width = 64;
  params.pitch = 128;
  params.height = 2;
  EXPECT_EQ(cuGraphExecMemsetNodeSetParams(executable, fill, &params, context),
            CUDA_ERROR_INVALID_VALUE)
      << "one row before, two now";
}

TEST_F(ExportsGraphExecTest, CopiesAreChangedWhileTheyAreOneRow) {
  CUgraphNode copy = nullptr;
  const CUdeviceptr other = allocate(4096);
  CUDA_MEMCPY3D params{};
  params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  params.srcDevice = buffer;
  params.dstDevice = other;
  params.WidthInBytes = 64;
  params.Height = params.Depth = 1;
  FERRY_OK(cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &params, context));
  FERRY_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  params.WidthInBytes = 32;
  FERRY_OK(cuGraphExecMemcpyNodeSetParams(executable, copy, &params, context));
  params.WidthInBytes = 0;
  EXPECT_EQ(cuGraphExecMemcpyNodeSetParams(executable, copy, &params, context),
            CUDA_ERROR_INVALID_VALUE);
  params.WidthInBytes = 16;
  params.Height = 2;
  params.srcPitch = params.dstPitch = 16;
  EXPECT_EQ(cuGraphExecMemcpyNodeSetParams(executable, copy, &params, context),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsGraphExecTest, AWrongStructureIsNamed) {
  const CUgraphNode other = add_fill(2);
  FERRY_OK(cuGraphAddDependencies(graph, &fill, &other, 1));
  FERRY_OK(cuGraphAddDependencies(graph, &other, &fill, 1));
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  EXPECT_EQ(cuGraphInstantiateWithParams(&executable, graph, &params), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
  EXPECT_TRUE(params.hErrNode_out == fill || params.hErrNode_out == other);
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cuGraphExecUpdate_v2(nullptr, graph, &info), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR);
}

TEST_F(ExportsGraphExecTest, OnlyWorkOfTheDeviceCanBeDisabled) {
  CUgraphNode empty = nullptr;
  FERRY_OK(cuGraphAddEmptyNode(&empty, graph, nullptr, 0));
  FERRY_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  EXPECT_EQ(cuGraphNodeSetEnabled(executable, empty, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphNodeGetEnabled(executable, fill, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace ferry::sim
