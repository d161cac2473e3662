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

TEST_F(ExportsGraphExecTest, AnUpdateTellsWhereTheGraphsDiffer) {
  const CUgraphNode second = add_fill(2);
  FERRY_OK(cuGraphAddDependencies(graph, &fill, &second, 1));
  FERRY_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  CUgraphExecUpdateResultInfo info{};
  FERRY_OK(cuGraphRemoveDependencies(graph, &fill, &second, 1));
  EXPECT_EQ(cuGraphExecUpdate_v2(executable, graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  EXPECT_EQ(info.errorNode, second);
  FERRY_OK(cuGraphDestroyNode(second));
  CUgraphNode empty = nullptr;
  FERRY_OK(cuGraphAddEmptyNode(&empty, graph, &fill, 1));
  CUgraphNode error = nullptr;
  CUgraphExecUpdateResult result{};
  EXPECT_EQ(cuGraphExecUpdate(executable, graph, &error, &result),
            CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
  EXPECT_EQ(error, empty);
}

TEST_F(ExportsGraphExecTest, AnUpdatedInstanceStillKnowsItsFirstGraphsNodes) {
  FERRY_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  FERRY_OK(cuGraphNodeSetEnabled(executable, fill, 0));
  CUgraph other = nullptr;
  FERRY_OK(cuGraphClone(&other, graph));
  CUgraphExecUpdateResultInfo info{};
  FERRY_OK(cuGraphExecUpdate_v2(executable, other, &info));
  unsigned enabled = 1;
  FERRY_OK(cuGraphNodeGetEnabled(executable, fill, &enabled));
  EXPECT_EQ(enabled, 0U) << "an update changes parameters alone";
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
