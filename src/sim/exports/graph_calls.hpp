// SPDX-License-Identifier: Apache-2.0
// What the exported functions on graphs share: the gate, and handles that are asked for.
#pragma once

#include <algorithm>

#include "sim/machine/library.hpp"

namespace ferry::sim {

// Edges carry no data here: nothing of what it could say is there.
[[nodiscard]] inline bool is_plain(const CUgraphEdgeData* edges, std::size_t count) {
  return edges == nullptr || std::all_of(edges, edges + count, [](const CUgraphEdgeData& edge) {
           return edge.from_port == 0 && edge.to_port == 0 && edge.type == 0;
         });
}

// Runs body(Call&, const std::shared_ptr<Graph>&) where the handle stands for a graph.
template <typename Body>
CUresult with_graph(Symbol symbol, CUgraph graph, Body&& body) {
  return Library::get().call(symbol, Need::initialised, [&](Call& call) {
    const std::shared_ptr<Graph> found = call.machine.graphs.find(value_of(graph));
    return found == nullptr ? CUDA_ERROR_INVALID_VALUE : body(call, found);
  });
}

// Runs body(Call&, Graph&, GraphNode&) where the handle stands for a node.
template <typename Body>
CUresult with_node(Symbol symbol, CUgraphNode node, Body&& body) {
  return Library::get().call(symbol, Need::initialised, [&](Call& call) {
    Graph* const graph = call.machine.graphs.graph_of(value_of(node));
    return graph == nullptr ? CUDA_ERROR_INVALID_VALUE
                            : body(call, *graph, *graph->find(value_of(node)));
  });
}

// Runs body(Call&, const std::shared_ptr<ExecutableGraph>&).
template <typename Body>
CUresult with_executable(Symbol symbol, CUgraphExec executable, Body&& body) {
  return Library::get().call(symbol, Need::initialised, [&](Call& call) {
    const auto* const found = call.machine.graphs.executables.find(value_of(executable));
    if (found == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::shared_ptr<ExecutableGraph> kept = *found;
    return body(call, kept);
  });
}

}  // namespace ferry::sim
