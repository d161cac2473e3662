// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/graph.hpp"

#include <algorithm>
#include <set>

namespace ferry::sim {

GraphNode& Graph::add(GraphNode node) {
  const std::uint64_t its_handle = node.handle;
  return nodes_.emplace(its_handle, std::move(node)).first->second;
}

void Graph::remove(std::uint64_t node) {
  nodes_.erase(node);
  for (auto& [its_handle, other] : nodes_) std::erase(other.after, node);
}

GraphNode* Graph::find(std::uint64_t node) {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? nullptr : &found->second;
}

GraphNode* Graph::find_clone_of(std::uint64_t original) {
  for (auto& [its_handle, node] : nodes_) {
    if (node.cloned_from == original) return &node;
    if (const auto* const child = std::get_if<ChildNode>(&*node.work.node)) {
      if (GraphNode* const inside = child->graph->find_clone_of(original)) return inside;
    }
  }
  return nullptr;
}

std::vector<Graph::Edge> Graph::edges() const {
  std::vector<Edge> edges;
  for (const auto& [its_handle, node] : nodes_) {
    for (const std::uint64_t from : node.after) edges.push_back({from, its_handle});
  }
  return edges;
}

std::vector<std::uint64_t> Graph::dependents_of(std::uint64_t node) const {
  std::vector<std::uint64_t> dependents;
  for (const Edge& edge : edges()) {
    if (edge.from == node) dependents.push_back(edge.to);
  }
  return dependents;
}

std::optional<std::vector<const GraphNode*>> Graph::sorted() const {
  std::map<std::uint64_t, std::size_t> missing;  // how many each node still waits for
  std::map<std::uint64_t, std::vector<std::uint64_t>> dependents;
  std::vector<const GraphNode*> order;
  for (const auto& [its_handle, node] : nodes_) {
    missing[its_handle] = node.after.size();
    for (const std::uint64_t from : node.after) dependents[from].push_back(its_handle);
    if (node.after.empty()) order.push_back(&node);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::uint64_t next : dependents[order[i]->handle]) {
      if (--missing[next] == 0) order.push_back(&nodes_.at(next));
    }
  }
  if (order.size() < nodes_.size()) return std::nullopt;
  return order;
}

bool Graph::lead_to(std::span<const std::uint64_t> nodes,
                    std::span<const std::uint64_t> last) const {
  std::set<std::uint64_t> before(last.begin(), last.end());
  std::vector<std::uint64_t> open(last.begin(), last.end());
  while (!open.empty()) {
    const auto node = nodes_.find(open.back());
    open.pop_back();
    if (node == nodes_.end()) continue;
    for (const std::uint64_t earlier : node->second.after) {
      if (before.insert(earlier).second) open.push_back(earlier);
    }
  }
  return std::ranges::all_of(nodes, [&](std::uint64_t node) { return before.contains(node); });
}

}  // namespace ferry::sim
