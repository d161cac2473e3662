// SPDX-License-Identifier: Apache-2.0
// Handles, arrays that are too short, and the picture of a graph.
#include <array>
#include <fstream>
#include <sstream>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsGraphTest : public SimTest {
 protected:
  void SetUp() override {
    SimTest::SetUp();
    FERRY_OK(cuGraphCreate(&graph, 0));
    FERRY_OK(cuGraphAddEmptyNode(&first, graph, nullptr, 0));
    FERRY_OK(cuGraphAddEmptyNode(&second, graph, &first, 1));
  }
  CUgraph graph = nullptr;
  CUgraphNode first = nullptr;
  CUgraphNode second = nullptr;
};

TEST_F(ExportsGraphTest, DeadHandlesAreRefused) {
  FERRY_OK(cuGraphDestroy(graph));
  std::size_t count = 0;
  CUgraphNodeType type{};
  CUgraphExec executable = nullptr;
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphNodeGetType(first, &type), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphLaunch(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsGraphTest, AShortArrayGetsAsMuchAsItHolds) {
  CUgraphNode node = nullptr;
  std::size_t count = 1;
  FERRY_OK(cuGraphGetNodes(graph, &node, &count));
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(node, first);
}

TEST_F(ExportsGraphTest, EdgesCarryNoData) {
  CUgraphNode from = nullptr;
  CUgraphNode to = nullptr;
  CUgraphEdgeData data{};
  data.type = 7;
  std::size_t count = 1;
  FERRY_OK(cuGraphGetEdges_v2(graph, &from, &to, &data, &count));
  EXPECT_EQ(from, first);
  EXPECT_EQ(to, second);
  EXPECT_EQ(data.type, 0);
  data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  CUgraphNode third = nullptr;
  FERRY_OK(cuGraphAddEmptyNode(&third, graph, nullptr, 0));
  EXPECT_EQ(cuGraphAddDependencies_v2(graph, &first, &third, &data, 1), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(ExportsGraphTest, EdgesChangeAllOrNone) {
  CUgraphNode third = nullptr;
  FERRY_OK(cuGraphAddEmptyNode(&third, graph, nullptr, 0));
  const std::array<CUgraphNode, 2> from{first, first};
  const std::array<CUgraphNode, 2> to{third, second};  // the second is there already
  EXPECT_EQ(cuGraphAddDependencies(graph, from.data(), to.data(), 2), CUDA_ERROR_INVALID_VALUE);
  std::size_t count = 0;
  FERRY_OK(cuGraphNodeGetDependencies(third, nullptr, &count));
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(cuGraphAddDependencies(graph, &first, &first, 1), CUDA_ERROR_INVALID_VALUE);
  const std::array<CUgraphNode, 2> twice{third, third};
  EXPECT_EQ(cuGraphAddDependencies(graph, from.data(), twice.data(), 2), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsGraphTest, IsDrawnAsADotFile) {
  const std::string path = testing::TempDir() + "/graph_of_test.dot";
  FERRY_OK(cuGraphDebugDotPrint(graph, path.c_str(), 0));
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find("digraph"), std::string::npos);
  EXPECT_NE(text.str().find("->"), std::string::npos);
  EXPECT_EQ(cuGraphDebugDotPrint(graph, "/nowhere/at/all.dot", 0), CUDA_ERROR_OPERATING_SYSTEM);
  EXPECT_EQ(cuGraphDebugDotPrint(graph, "/dev/full", 0), CUDA_ERROR_OPERATING_SYSTEM);
}

TEST_F(ExportsGraphTest, AChildsGraphBelongsToItsNode) {
  CUgraph outer = nullptr;
  CUgraph embedded = nullptr;
  CUgraphNode child = nullptr;
  FERRY_OK(cuGraphCreate(&outer, 0));
  FERRY_OK(cuGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
  FERRY_OK(cuGraphChildGraphNodeGetGraph(child, &embedded));
  EXPECT_NE(embedded, graph);
  EXPECT_EQ(cuGraphDestroy(embedded), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuGraphDestroyNode(child));
  std::size_t count = 0;
  EXPECT_EQ(cuGraphGetNodes(embedded, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace ferry::sim
