// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/graphs.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

Submission empty() {
  Submission work;
  work.node = EmptyNode{};
  return work;
}

Submission child_of(std::shared_ptr<Graph> graph) {
  Submission work;
  work.node = ChildNode{std::move(graph)};
  return work;
}

TEST(Graphs, AreFoundByHandleUntilTheyAreErased) {
  Graphs graphs;
  const auto graph = graphs.create(Graph::Owner::program);
  EXPECT_EQ(graphs.find(graph->handle), graph);
  const std::uint64_t node = graphs.add_node(*graph, empty(), 7, {}).handle;
  EXPECT_EQ(graphs.graph_of(node), graph.get());
  EXPECT_EQ(graph->find(node)->context, 7U);
  graphs.erase(*graph);
  EXPECT_EQ(graphs.find(graph->handle), nullptr);
  EXPECT_EQ(graphs.graph_of(node), nullptr);
}

TEST(Graphs, HandlesAreNeverGivenAgain) {
  Graphs graphs;
  const auto first = graphs.create(Graph::Owner::program);
  const std::uint64_t node = graphs.add_node(*first, empty(), 0, {}).handle;
  graphs.erase(*first);
  const auto second = graphs.create(Graph::Owner::program);
  EXPECT_NE(second->handle, first->handle);
  EXPECT_NE(graphs.add_node(*second, empty(), 0, {}).handle, node);
}

TEST(Graphs, AClonesEdgesAreAmongItsOwnNodes) {
  Graphs graphs;
  const auto graph = graphs.create(Graph::Owner::program);
  const std::uint64_t one = graphs.add_node(*graph, empty(), 0, {}).handle;
  const std::uint64_t two = graphs.add_node(*graph, empty(), 0, {one}).handle;
  graph->find(one)->after = {};
  const auto clone = graphs.clone(*graph, Graph::Owner::program);
  const GraphNode* const clone_of_one = clone->find_clone_of(one);
  const GraphNode* const clone_of_two = clone->find_clone_of(two);
  ASSERT_NE(clone_of_one, nullptr);
  ASSERT_NE(clone_of_two, nullptr);
  EXPECT_NE(clone_of_one->handle, one);
  EXPECT_EQ(clone_of_two->after, (std::vector<std::uint64_t>{clone_of_one->handle}));
  EXPECT_EQ(graphs.graph_of(clone_of_two->handle), clone.get());
}

TEST(Graphs, EdgesToYoungerNodesAreClonedToo) {
  Graphs graphs;
  const auto graph = graphs.create(Graph::Owner::program);
  const std::uint64_t one = graphs.add_node(*graph, empty(), 0, {}).handle;
  const std::uint64_t two = graphs.add_node(*graph, empty(), 0, {}).handle;
  graph->find(one)->after = {two};
  const auto clone = graphs.clone(*graph, Graph::Owner::program);
  EXPECT_EQ(clone->find_clone_of(one)->after,
            (std::vector<std::uint64_t>{clone->find_clone_of(two)->handle}));
}

TEST(Graphs, AChildGraphIsClonedAndGoesWithItsNode) {
  Graphs graphs;
  const auto inner = graphs.create(Graph::Owner::node);
  const std::uint64_t inside = graphs.add_node(*inner, empty(), 0, {}).handle;
  const auto graph = graphs.create(Graph::Owner::program);
  const std::uint64_t node = graphs.add_node(*graph, child_of(inner), 0, {}).handle;
  const auto clone = graphs.clone(*graph, Graph::Owner::program);
  const GraphNode* const clone_inside = clone->find_clone_of(inside);
  ASSERT_NE(clone_inside, nullptr) << "also within child graphs";
  EXPECT_NE(clone_inside->handle, inside);
  graphs.erase_node(node);
  EXPECT_EQ(graphs.find(inner->handle), nullptr);
  EXPECT_EQ(graphs.graph_of(inside), nullptr);
  EXPECT_NE(graphs.graph_of(clone_inside->handle), nullptr);
  GraphNode& cloned_node = *clone->find_clone_of(node);
  const std::uint64_t cloned_handle = clone_inside->handle;
  graphs.replace(cloned_node, empty(), 0);
  EXPECT_EQ(graphs.graph_of(cloned_handle), nullptr);
}

}  // namespace
}  // namespace ferry::sim
