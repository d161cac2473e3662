// SPDX-License-Identifier: Apache-2.0
// Graphs that are built node by node: their order, and what may be changed once they are
// instantiated.
#include <array>
#include <utility>

#include "conformance/graph_fixture.hpp"

namespace ferry::conformance {
namespace {

constexpr std::size_t kBytes = 4096;

TEST_F(Graph, NodesRunInTheOrderOfTheirEdges) {
  const DeviceBuffer buffer(kBytes);
  const PinnedBuffer first(kBytes);
  const PinnedBuffer second(kBytes);
  const CUgraphNode one = add_fill(buffer, 1);
  const CUgraphNode read = add_fetch(first, buffer, {one});
  const CUgraphNode two = add_fill(buffer, 2, {read});
  add_fetch(second, buffer, {two});
  instantiate();
  for (int round = 0; round < 8; ++round) {
    run();
    ASSERT_TRUE(first.holds(1) && second.holds(2)) << "round " << round;
  }
}

TEST_F(Graph, AJoinComesAfterAllBranches) {
  const DeviceBuffer left(kBytes);
  const DeviceBuffer right(kBytes);
  const PinnedBuffer to_left(kBytes);
  const PinnedBuffer to_right(kBytes);
  const CUgraphNode fill_left = add_fill(left, 1);
  const CUgraphNode fill_right = add_fill(right, 2);
  CUgraphNode join = nullptr;
  const std::array<CUgraphNode, 2> both{fill_left, fill_right};
  FERRY_OK(cuda().cuGraphAddEmptyNode(&join, graph, both.data(), both.size()));
  add_fetch(to_left, left, {join});
  add_fetch(to_right, right, {join});
  instantiate();
  for (int round = 0; round < 8; ++round) {
    to_left.data()[0] = to_right.data()[0] = 0;
    run();
    ASSERT_TRUE(to_left.holds(1) && to_right.holds(2)) << "round " << round;
  }
}

TEST_F(Graph, ACircleCannotBeInstantiated) {
  const DeviceBuffer buffer(kBytes);
  const CUgraphNode one = add_fill(buffer, 1);
  const CUgraphNode two = add_fill(buffer, 2, {one});
  if (cuda().cuGraphAddDependencies(graph, &two, &one, 1) == CUDA_SUCCESS) {
    EXPECT_NE(cuda().cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
  }
  executable = nullptr;
}

TEST_F(Graph, WrongArgumentsAreRefused) {
  const DeviceBuffer buffer(kBytes);
  CUDA_MEMSET_NODE_PARAMS params = fill_of(buffer, 1);
  CUgraphNode node = nullptr;
  CUgraph other = nullptr;
  FERRY_OK(cuda().cuGraphCreate(&other, 0));
  CUgraphNode foreign = nullptr;
  FERRY_OK(cuda().cuGraphAddEmptyNode(&foreign, other, nullptr, 0));
  EXPECT_EQ(cuda().cuGraphAddMemsetNode(&node, graph, &foreign, 1, &params, context),
            CUDA_ERROR_INVALID_VALUE)
      << "a node of another graph";
  params.elementSize = 3;
  EXPECT_EQ(cuda().cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, context),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuGraphAddMemsetNode(&node, graph, nullptr, 0, nullptr, context),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuGraphCreate(&other, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(count_of(graph), 0U) << "nothing was added";
  FERRY_OK(cuda().cuGraphDestroy(other));
}

TEST_F(Graph, AnInstanceOutlivesItsGraph) {
  const DeviceBuffer buffer(kBytes);
  const PinnedBuffer to(kBytes);
  CUgraph short_lived = nullptr;
  FERRY_OK(cuda().cuGraphClone(&short_lived, graph));
  std::swap(short_lived, graph);
  add_fetch(to, buffer, {add_fill(buffer, 4)});
  instantiate();
  std::swap(short_lived, graph);
  FERRY_OK(cuda().cuGraphDestroy(short_lived));
  run();
  EXPECT_TRUE(to.holds(4));
}

TEST_F(Graph, AnInstanceDestroyedInFlightFinishes) {
  const DeviceBuffer buffer(kBytes);
  const PinnedBuffer to(kBytes);
  add_fetch(to, buffer, {add_fill(buffer, 4)});
  instantiate();
  FERRY_OK(cuda().cuGraphLaunch(executable, stream));
  FERRY_OK(cuda().cuGraphExecDestroy(executable));
  executable = nullptr;
  FERRY_OK(cuda().cuStreamSynchronize(stream));
  EXPECT_TRUE(to.holds(4));
}

TEST_F(Graph, ChangingTheGraphLeavesItsInstanceAlone) {
  const DeviceBuffer buffer(kBytes);
  const PinnedBuffer to(kBytes);
  const CUgraphNode fill = add_fill(buffer, 1);
  add_fetch(to, buffer, {fill});
  instantiate();
  const CUDA_MEMSET_NODE_PARAMS other = fill_of(buffer, 2);
  FERRY_OK(cuda().cuGraphMemsetNodeSetParams(fill, &other));
  run();
  EXPECT_TRUE(to.holds(1));
  FERRY_OK(cuda().cuGraphExecMemsetNodeSetParams(executable, fill, &other, context));
  run();
  EXPECT_TRUE(to.holds(2));
}

TEST_F(Graph, AnInstanceIsUpdatedFromAGraphOfTheSameShape) {
  const DeviceBuffer buffer(kBytes);
  const PinnedBuffer to(kBytes);
  const CUgraphNode fill = add_fill(buffer, 1);
  add_fetch(to, buffer, {fill});
  instantiate();
  const CUDA_MEMSET_NODE_PARAMS other = fill_of(buffer, 2);
  FERRY_OK(cuda().cuGraphMemsetNodeSetParams(fill, &other));
  CUgraphExecUpdateResultInfo info{};
  FERRY_OK(cuda().cuGraphExecUpdate_v2(executable, graph, &info));
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  run();
  EXPECT_TRUE(to.holds(2));
  add_fill(buffer, 3);
  EXPECT_EQ(cuda().cuGraphExecUpdate_v2(executable, graph, &info),
            CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  run();
  EXPECT_TRUE(to.holds(2)) << "as it was";
}

TEST_F(Graph, AnUpdateFollowsTheEdgesNotTheOrderOfAdding) {
  const DeviceBuffer left(kBytes);
  const DeviceBuffer right(kBytes);
  const PinnedBuffer to_left(kBytes);
  const PinnedBuffer to_right(kBytes);
  const CUgraphNode fill_left = add_fill(left, 1);
  const CUgraphNode fill_right = add_fill(right, 2);
  add_fetch(to_left, left, {fill_left});
  add_fetch(to_right, right, {fill_right});
  instantiate();
  CUgraph other = nullptr;
  FERRY_OK(cuda().cuGraphCreate(&other, 0));
  std::swap(graph, other);
  const CUgraphNode second = add_fill(right, 4);
  const CUgraphNode first = add_fill(left, 3);
  add_fetch(to_left, left, {first});
  add_fetch(to_right, right, {second});
  std::swap(graph, other);
  CUgraphExecUpdateResultInfo info{};
  FERRY_OK(cuda().cuGraphExecUpdate_v2(executable, other, &info));
  FERRY_OK(cuda().cuGraphDestroy(other));
  run();
  EXPECT_TRUE(to_left.holds(3) && to_right.holds(4));
  const CUDA_MEMSET_NODE_PARAMS later = fill_of(left, 5);
  FERRY_OK(cuda().cuGraphExecMemsetNodeSetParams(executable, fill_left, &later, context));
  run();
  EXPECT_TRUE(to_left.holds(5)) << "a node is still known by the handle of the first graph's";
}

TEST_F(Graph, AnUpdateSaysWhichEdgeIsAnother) {
  const DeviceBuffer buffer(kBytes);
  const PinnedBuffer to(kBytes);
  const CUgraphNode one = add_fill(buffer, 1);
  const CUgraphNode two = add_fill(buffer, 2, {one});
  const CUgraphNode fetch = add_fetch(to, buffer, {two});
  instantiate();
  FERRY_OK(cuda().cuGraphAddDependencies(graph, &one, &fetch, 1));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cuda().cuGraphExecUpdate_v2(executable, graph, &info),
            CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  EXPECT_EQ(info.errorNode, fetch);
}

TEST_F(Graph, DisabledNodesDoNothingAndKeepTheOrder) {
  const DeviceBuffer buffer(kBytes);
  const PinnedBuffer to(kBytes);
  const CUgraphNode one = add_fill(buffer, 1);
  const CUgraphNode two = add_fill(buffer, 2, {one});
  add_fetch(to, buffer, {two});
  instantiate();
  FERRY_OK(cuda().cuGraphNodeSetEnabled(executable, two, 0));
  unsigned enabled = 1;
  FERRY_OK(cuda().cuGraphNodeGetEnabled(executable, two, &enabled));
  EXPECT_EQ(enabled, 0U);
  run();
  EXPECT_TRUE(to.holds(1));
  FERRY_OK(cuda().cuGraphNodeSetEnabled(executable, two, 1));
  run();
  EXPECT_TRUE(to.holds(2));
}

TEST_F(Graph, AClonesNodesAreFoundByTheirOriginals) {
  const DeviceBuffer buffer(kBytes);
  const CUgraphNode fill = add_fill(buffer, 1);
  CUgraph clone = nullptr;
  FERRY_OK(cuda().cuGraphClone(&clone, graph));
  CUgraphNode found = nullptr;
  FERRY_OK(cuda().cuGraphNodeFindInClone(&found, fill, clone));
  EXPECT_NE(found, fill);
  FERRY_OK(cuda().cuGraphDestroyNode(found));
  EXPECT_EQ(count_of(clone), 0U);
  EXPECT_EQ(count_of(graph), 1U);
  EXPECT_EQ(cuda().cuGraphNodeFindInClone(&found, fill, clone), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuda().cuGraphDestroy(clone));
}

}  // namespace
}  // namespace ferry::conformance
