// SPDX-License-Identifier: Apache-2.0
// The graphs and executable graphs of a program, by handle. An executable graph is a clone of the
// one it was made from; what a program says of the original's nodes is said of their clones. Owned
// by the machine; requires the library's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/machine/graph.hpp"
#include "sim/machine/streams.hpp"

namespace ferry::sim {

struct ExecutableGraph {
  std::shared_ptr<Graph> graph;
  std::uint64_t flags = 0;
  Ticket last;                    // the end of the latest launch
  std::vector<LaneNumber> lanes;  // for the streams of its launches, which follow one another
};
using ExecutableGraphs = HandleTable<std::shared_ptr<ExecutableGraph>, HandleKind::executable>;

class Graphs {
 public:
  [[nodiscard]] std::shared_ptr<Graph> create(Graph::Owner owner);
  [[nodiscard]] std::shared_ptr<Graph> find(std::uint64_t graph);
  // With its nodes and the graphs of those.
  void erase(Graph& graph);

  // Requires: `after` names nodes of the graph.
  GraphNode& add_node(Graph& graph, Submission work, std::uint64_t context,
                      std::vector<std::uint64_t> after);
  // Null where there is no such node.
  [[nodiscard]] Graph* graph_of(std::uint64_t node);
  void erase_node(std::uint64_t node);
  // What a node holds from now on. It stays known by the call that added it.
  void replace(GraphNode& node, Submission work, std::uint64_t context);

  [[nodiscard]] std::shared_ptr<Graph> clone(const Graph& original, Graph::Owner owner);

  ExecutableGraphs executables;

 private:
  void forget(const GraphNode& node);

  HandleMaker graph_handles_{HandleKind::graph};
  HandleMaker node_handles_{HandleKind::node};
  std::unordered_map<std::uint64_t, std::shared_ptr<Graph>> graphs_;
  std::unordered_map<std::uint64_t, Graph*> graph_of_;  // by node
};

}  // namespace ferry::sim
