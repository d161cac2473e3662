// SPDX-License-Identifier: Apache-2.0
// Exported: an executable graph takes over the work of another graph of its shape.
#include "sim/exports/graph_calls.hpp"
#include "sim/exports/graph_work.hpp"
#include "sim/machine/graph_pairing.hpp"

namespace ferry::sim {

namespace {

// Where two graphs differ in a way that an update cannot follow.
struct Difference {
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  std::uint64_t node = 0;
  std::uint64_t from = 0;

  [[nodiscard]] bool any() const { return result != CU_GRAPH_EXEC_UPDATE_SUCCESS; }
};

Difference compare_nodes(Machine& machine, const GraphNode& old, const GraphNode& fresh) {
  if (type_of(*old.work.node) != type_of(*fresh.work.node))
    return {CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, fresh.handle, 0};
  if (old.context != fresh.context || !same_places(machine, old.work, fresh.work))
    return {CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, fresh.handle, 0};
  return {};
}

// Pairs the nodes of both, and of the graphs inside them.
Difference compare(Machine& machine, const Graph& executable, const Graph& graph,
                   NodePairs& pairs) {
  if (const auto mismatch = pair_nodes(executable, graph, pairs))
    return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, mismatch->node, mismatch->from};
  for (const auto& [handle, node] : graph.nodes()) {
    const GraphNode& old = executable.nodes().at(pairs.at(handle));
    if (const Difference found = compare_nodes(machine, old, node); found.any()) return found;
    const auto* const child = std::get_if<ChildNode>(&*node.work.node);
    if (child == nullptr) continue;
    const Graph& old_child = *std::get<ChildNode>(*old.work.node).graph;
    if (const Difference found = compare(machine, old_child, *child->graph, pairs); found.any())
      return found;
  }
  return {};
}

// The nodes of the clone stand for those that the executable graph was made from, and what was
// switched off there stays so.
void take_over(Graph& fresh, const Graph& executable, const NodePairs& pairs) {
  for (auto& [handle, node] : fresh.nodes()) {
    const GraphNode& old = executable.nodes().at(pairs.at(node.cloned_from));
    node.enabled = old.enabled;
    node.cloned_from = old.cloned_from;
    if (auto* const child = std::get_if<ChildNode>(&*node.work.node))
      take_over(*child->graph, *std::get<ChildNode>(*old.work.node).graph, pairs);
  }
}

CUresult update(Symbol symbol, CUgraphExec hExec, CUgraph hGraph,
                CUgraphExecUpdateResultInfo* out) {
  *out = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
  return with_executable(
      symbol, hExec, [&](Call& call, const std::shared_ptr<ExecutableGraph>& executable) {
        const std::shared_ptr<Graph> graph = call.machine.graphs.find(value_of(hGraph));
        if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
        NodePairs pairs;
        const Difference found = compare(call.machine, *executable->graph, *graph, pairs);
        *out = {found.result, to_handle<CUgraphNode>(found.node),
                to_handle<CUgraphNode>(found.from)};
        if (found.any()) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
        const std::shared_ptr<Graph> fresh = call.machine.graphs.clone(*graph, Graph::Owner::node);
        take_over(*fresh, *executable->graph, pairs);
        call.machine.graphs.erase(*executable->graph);
        executable->graph = fresh;
        return CUDA_SUCCESS;
      });
}

}  // namespace

}  // namespace ferry::sim

using namespace ferry::sim;

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode* hErrorNode_out,
                           CUgraphExecUpdateResult* updateResult_out) {
  if (updateResult_out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = update(Symbol::cuGraphExecUpdate, hGraphExec, hGraph, &info);
  *updateResult_out = info.result;
  if (hErrorNode_out != nullptr) *hErrorNode_out = info.errorNode;
  return result;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                              CUgraphExecUpdateResultInfo* resultInfo) {
  if (resultInfo == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return update(Symbol::cuGraphExecUpdate_v2, hGraphExec, hGraph, resultInfo);
}
