// SPDX-License-Identifier: Apache-2.0
// Variants of the update of an executable graph, what it refuses, and what it keeps.
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsGraphUpdateTest : public SimTest {
 protected:
  void SetUp() override {
    SimTest::SetUp();
    buffer = allocate(4096);
    FERRY_OK(cuGraphCreate(&graph, 0));
    fill = add_fill(graph, 1);
  }
  CUgraphNode add_fill(CUgraph to, unsigned value) const {
    CUgraphNode node = nullptr;
    const CUDA_MEMSET_NODE_PARAMS params{buffer, 0, value, 1, 4096, 1};
    EXPECT_EQ(cuGraphAddMemsetNode(&node, to, nullptr, 0, &params, context), CUDA_SUCCESS);
    return node;
  }

  CUdeviceptr buffer = 0;
  CUgraph graph = nullptr;
  CUgraphNode fill = nullptr;
  CUgraphExec executable = nullptr;
};

TEST_F(ExportsGraphUpdateTest, AnUpdateTellsWhereTheGraphsDiffer) {
  const CUgraphNode second = add_fill(graph, 2);
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

TEST_F(ExportsGraphUpdateTest, AnUpdatedInstanceStillKnowsItsFirstGraphsNodes) {
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

TEST_F(ExportsGraphUpdateTest, GraphsInsideAreComparedToo) {
  CUgraph outer = nullptr;
  CUgraphNode child = nullptr;
  FERRY_OK(cuGraphCreate(&outer, 0));
  FERRY_OK(cuGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
  FERRY_OK(cuGraphInstantiateWithFlags(&executable, outer, 0));
  CUgraph other = nullptr;
  FERRY_OK(cuGraphCreate(&other, 0));
  add_fill(graph, 2);
  FERRY_OK(cuGraphAddChildGraphNode(&child, other, nullptr, 0, graph));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cuGraphExecUpdate_v2(executable, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
}

TEST_F(ExportsGraphUpdateTest, HandlesOfNothingAreRefused) {
  FERRY_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cuGraphExecUpdate_v2(executable, nullptr, &info), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR);
  EXPECT_EQ(cuGraphExecUpdate_v2(nullptr, graph, &info), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphExecUpdate_v2(executable, graph, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace ferry::sim
