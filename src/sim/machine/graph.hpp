// SPDX-License-Identifier: Apache-2.0
// A graph: nodes that hold work, and the order among them. What it does when it is launched is
// graph_launch's. Owned by `Graphs`; requires the library's lock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sim/machine/submission.hpp"

namespace ferry::sim {

struct GraphNode {
  std::uint64_t handle = 0;
  std::uint64_t cloned_from = 0;     // the node of the graph that this one's is a clone of
  std::uint64_t context = 0;         // where it runs; 0: where the graph is launched
  std::vector<std::uint64_t> after;  // nodes of the same graph
  Submission work;                   // its `node` is always there
  bool enabled = true;
};

class Graph {
 public:
  // Whose it is: the program's, a capture's that goes on, or a node's of another graph.
  enum class Owner : std::uint8_t { program, capture, node };

  Graph(std::uint64_t its_handle, Owner its_owner) : handle(its_handle), owner(its_owner) {}

  const std::uint64_t handle;
  Owner owner;
  // While it is captured: nodes that the program itself took out of the order. Nobody asks whether
  // they were joined.
  std::vector<std::uint64_t> let_go;

  // Requires: `after` names nodes of this graph.
  GraphNode& add(GraphNode node);
  // With all that depends on it or it depends on.
  void remove(std::uint64_t node);
  [[nodiscard]] GraphNode* find(std::uint64_t node);
  [[nodiscard]] GraphNode* find_clone_of(std::uint64_t original);
  // In the order in which they were added.
  [[nodiscard]] std::map<std::uint64_t, GraphNode>& nodes() { return nodes_; }
  [[nodiscard]] const std::map<std::uint64_t, GraphNode>& nodes() const { return nodes_; }

  struct Edge {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
  };
  [[nodiscard]] std::vector<Edge> edges() const;
  [[nodiscard]] std::vector<std::uint64_t> dependents_of(std::uint64_t node) const;

  // Each after what it comes after; nothing where the order is a circle.
  [[nodiscard]] std::optional<std::vector<const GraphNode*>> sorted() const;
  // Whether each of `nodes` is one of `last`, or comes before one of them.
  [[nodiscard]] bool lead_to(std::span<const std::uint64_t> nodes,
                             std::span<const std::uint64_t> last) const;

 private:
  std::map<std::uint64_t, GraphNode> nodes_;
};

}  // namespace ferry::sim
