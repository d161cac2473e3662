// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/graph.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

class GraphOrder : public testing::Test {
 protected:
  void add(std::uint64_t handle, std::vector<std::uint64_t> after) {
    GraphNode node;
    node.handle = handle;
    node.after = std::move(after);
    node.work.node = EmptyNode{};
    graph.add(std::move(node));
  }
  [[nodiscard]] std::vector<std::uint64_t> sorted() const {
    std::vector<std::uint64_t> handles;
    const auto order = graph.sorted();
    EXPECT_TRUE(order.has_value());
    for (const GraphNode* const node : *order) handles.push_back(node->handle);
    return handles;
  }

  Graph graph{100, Graph::Owner::program};
};

TEST_F(GraphOrder, SortsByTheEdgesNotByTheHandles) {
  add(1, {3});
  add(2, {1});
  add(3, {});
  EXPECT_EQ(sorted(), (std::vector<std::uint64_t>{3, 1, 2}));
}

TEST_F(GraphOrder, ANodeWaitsForAllItsEdges) {
  add(1, {2, 3});
  add(2, {});
  add(3, {2});
  EXPECT_EQ(sorted(), (std::vector<std::uint64_t>{2, 3, 1}));
}

TEST_F(GraphOrder, ACircleHasNoOrder) {
  add(1, {2});
  add(2, {1});
  add(3, {});
  EXPECT_FALSE(graph.sorted().has_value());
}

TEST_F(GraphOrder, RemovingANodeTakesItsEdgesAway) {
  add(1, {});
  add(2, {1});
  add(3, {2});
  EXPECT_EQ(graph.edges().size(), 2U);
  EXPECT_EQ(graph.dependents_of(1), (std::vector<std::uint64_t>{2}));
  graph.remove(2);
  EXPECT_TRUE(graph.edges().empty());
  EXPECT_EQ(graph.find(2), nullptr);
  EXPECT_TRUE(graph.find(3)->after.empty());
}

TEST_F(GraphOrder, LeadsFromAllThatComesBefore) {
  add(1, {});
  add(2, {1});
  add(3, {2});
  add(4, {1});
  const std::vector<std::uint64_t> last{3};
  const std::vector<std::uint64_t> chain{1, 2, 3};
  const std::vector<std::uint64_t> with_branch{1, 4};
  EXPECT_TRUE(graph.lead_to(chain, last));
  EXPECT_FALSE(graph.lead_to(with_branch, last));
  EXPECT_TRUE(graph.lead_to({}, {}));
}

}  // namespace
}  // namespace ferry::sim
