// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/graphs.hpp"

#include <map>
#include <utility>

namespace ferry::sim {

std::shared_ptr<Graph> Graphs::create(Graph::Owner owner) {
  const auto graph = std::make_shared<Graph>(graph_handles_.next(), owner);
  graphs_.emplace(graph->handle, graph);
  return graph;
}

std::shared_ptr<Graph> Graphs::find(std::uint64_t graph) {
  const auto found = graphs_.find(graph);
  return found == graphs_.end() ? nullptr : found->second;
}

void Graphs::erase(Graph& graph) {
  for (const auto& [handle, node] : graph.nodes()) forget(node);
  graphs_.erase(graph.handle);
}

void Graphs::forget(const GraphNode& node) {
  graph_of_.erase(node.handle);
  if (const auto* const child = std::get_if<ChildNode>(&*node.work.node)) erase(*child->graph);
}

GraphNode& Graphs::add_node(Graph& graph, Submission work, std::uint64_t context,
                            std::vector<std::uint64_t> after) {
  GraphNode node;
  node.handle = node_handles_.next();
  node.context = context;
  node.after = std::move(after);
  node.work = std::move(work);
  graph_of_.emplace(node.handle, &graph);
  return graph.add(std::move(node));
}

Graph* Graphs::graph_of(std::uint64_t node) {
  const auto found = graph_of_.find(node);
  return found == graph_of_.end() ? nullptr : found->second;
}

void Graphs::erase_node(std::uint64_t node) {
  Graph* const graph = graph_of(node);
  forget(*graph->find(node));
  graph->remove(node);
}

void Graphs::replace(GraphNode& node, Submission work, std::uint64_t context) {
  if (const auto* const child = std::get_if<ChildNode>(&*node.work.node)) erase(*child->graph);
  work.added_by = node.work.added_by;
  work.added_at = node.work.added_at;
  node.work = std::move(work);
  node.context = context;
}

std::shared_ptr<Graph> Graphs::clone(const Graph& original, Graph::Owner owner) {
  const std::shared_ptr<Graph> copy = create(owner);
  std::map<std::uint64_t, std::uint64_t> clones;  // by original
  for (const auto& [handle, node] : original.nodes()) {
    GraphNode& cloned = add_node(*copy, Submission(node.work), node.context, node.after);
    if (auto* const child = std::get_if<ChildNode>(&*cloned.work.node))
      child->graph = clone(*child->graph, Graph::Owner::node);
    cloned.cloned_from = handle;
    cloned.enabled = node.enabled;
    clones[handle] = cloned.handle;
  }
  for (auto& [handle, node] : copy->nodes()) {
    for (std::uint64_t& earlier : node.after) earlier = clones.at(earlier);
  }
  return copy;
}

}  // namespace ferry::sim
