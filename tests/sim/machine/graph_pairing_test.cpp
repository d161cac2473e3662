// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/graph_pairing.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

class GraphPairing : public testing::Test {
 protected:
  static void add(Graph& graph, std::uint64_t handle, std::vector<std::uint64_t> after) {
    GraphNode node;
    node.handle = handle;
    node.after = std::move(after);
    node.work.node = EmptyNode{};
    graph.add(std::move(node));
  }
  void expect_mismatch(std::uint64_t node, std::uint64_t from) {
    const auto mismatch = pair_nodes(old, fresh, pairs);
    ASSERT_TRUE(mismatch.has_value());
    EXPECT_EQ(mismatch->node, node);
    EXPECT_EQ(mismatch->from, from);
  }

  Graph old{100, Graph::Owner::program};
  Graph fresh{200, Graph::Owner::program};
  NodePairs pairs;
};

TEST_F(GraphPairing, NodesArePairedAlongTheEdgesWhicheverCameFirst) {
  add(old, 1, {});
  add(old, 2, {});
  add(old, 3, {1});
  add(old, 4, {3, 2});
  add(fresh, 11, {});
  add(fresh, 12, {});
  add(fresh, 13, {12});
  add(fresh, 14, {13, 11});
  EXPECT_FALSE(pair_nodes(old, fresh, pairs).has_value());
  EXPECT_EQ(pairs, (NodePairs{{11, 2}, {12, 1}, {13, 3}, {14, 4}}));
}

TEST_F(GraphPairing, ExitsArePairedInTheOrderOfAdding) {
  add(old, 1, {});
  add(old, 2, {});
  add(fresh, 11, {});
  add(fresh, 12, {});
  EXPECT_FALSE(pair_nodes(old, fresh, pairs).has_value());
  EXPECT_EQ(pairs, (NodePairs{{11, 1}, {12, 2}}));
}

TEST_F(GraphPairing, AnotherNumberOfNodesIsNobodysFault) {
  add(old, 1, {});
  expect_mismatch(0, 0);
}

TEST_F(GraphPairing, AnExitTooManyIsNamed) {
  add(old, 1, {});
  add(old, 2, {1});
  add(fresh, 11, {});
  add(fresh, 12, {});
  expect_mismatch(12, 0);
}

TEST_F(GraphPairing, AnExitTooFewIsAMismatch) {
  add(old, 1, {});
  add(old, 2, {});
  add(fresh, 11, {});
  add(fresh, 12, {11});
  expect_mismatch(0, 0);
}

TEST_F(GraphPairing, ANodeWithAnotherNumberOfEdgesIsNamed) {
  add(old, 1, {});
  add(old, 2, {1});
  add(old, 3, {2});
  add(fresh, 11, {});
  add(fresh, 12, {11});
  add(fresh, 13, {12, 11});
  expect_mismatch(13, 0);
}

TEST_F(GraphPairing, AnEdgeToAnothersPartnerIsNamed) {
  add(old, 1, {});
  add(old, 2, {});
  add(old, 3, {1, 2});
  add(old, 4, {1});
  add(fresh, 11, {});
  add(fresh, 12, {});
  add(fresh, 13, {11, 12});
  add(fresh, 14, {12});
  // 14 stands for 4 and is followed first: then 12 stands for 1, and 11 cannot.
  expect_mismatch(13, 11);
}

TEST_F(GraphPairing, TwoNodesCannotStandForOne) {
  add(old, 1, {});
  add(old, 2, {1});
  add(old, 3, {1});
  add(old, 4, {2, 3});
  add(fresh, 11, {});
  add(fresh, 12, {});
  add(fresh, 13, {11});
  add(fresh, 14, {12});
  const auto exits = pair_nodes(old, fresh, pairs);
  ASSERT_TRUE(exits.has_value());
  pairs.clear();
  Graph joined{300, Graph::Owner::program};
  add(joined, 21, {});
  add(joined, 22, {21});
  add(joined, 23, {22});
  add(joined, 24, {22, 23});
  EXPECT_TRUE(pair_nodes(old, joined, pairs).has_value());
}

TEST_F(GraphPairing, ACircleIsNeverPaired) {
  add(old, 1, {});
  add(old, 2, {1});
  add(old, 3, {});
  add(fresh, 11, {12});
  add(fresh, 12, {11});
  add(fresh, 13, {});
  EXPECT_TRUE(pair_nodes(old, fresh, pairs).has_value());
}

}  // namespace
}  // namespace ferry::sim
