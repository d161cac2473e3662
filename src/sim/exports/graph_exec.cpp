// SPDX-License-Identifier: Apache-2.0
// Exported: executable graphs: made, launched, changed.
#include <utility>

#include "sim/exports/graph_calls.hpp"
#include "sim/exports/graph_work.hpp"
#include "sim/machine/graph_launch.hpp"

namespace ferry::sim {

namespace {

// Neither it nor a graph inside it goes in a circle.
bool has_order(const Graph& graph) {
  if (!graph.sorted()) return false;
  for (const auto& [handle, node] : graph.nodes()) {
    const auto* const child = std::get_if<ChildNode>(&*node.work.node);
    if (child != nullptr && !has_order(*child->graph)) return false;
  }
  return true;
}

// A node that comes before itself; 0 where there is none.
std::uint64_t find_in_circle(const Graph& graph) {
  for (const auto& [handle, node] : graph.nodes()) {
    if (graph.lead_to(std::span(&handle, 1), node.after)) return handle;
  }
  return 0;
}

constexpr std::uint64_t kKnownFlags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                      CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                      CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

CUresult instantiate(Call& call, CUgraphExec* out, const Graph& graph, std::uint64_t flags) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  if ((flags & ~kKnownFlags) != 0 || graph.owner == Graph::Owner::capture || !has_order(graph))
    return CUDA_ERROR_INVALID_VALUE;
  const auto made = std::make_shared<ExecutableGraph>();
  made->graph = call.machine.graphs.clone(graph, Graph::Owner::node);
  made->flags = flags;
  *out = to_handle<CUgraphExec>(call.machine.graphs.executables.add(made));
  return CUDA_SUCCESS;
}

CUresult instantiate(Symbol symbol, CUgraphExec* out, CUgraph hGraph, std::uint64_t flags) {
  return with_graph(symbol, hGraph, [&](Call& call, const std::shared_ptr<Graph>& graph) {
    return instantiate(call, out, *graph, flags);
  });
}

// The older variants say where it failed; no node ever is the reason here.
CUresult instantiate_with_log(Symbol symbol, CUgraphExec* out, CUgraph graph, CUgraphNode* error,
                              char* log, std::size_t bytes) {
  if (error != nullptr) *error = nullptr;
  if (log != nullptr && bytes > 0) *log = '\0';
  return instantiate(symbol, out, graph, 0);
}

// Copies can be changed while they are of one row and not empty, fills while they have as many
// rows.
bool same_shape(const NodeParams& one, const NodeParams& other) {
  if (const auto* const copy = std::get_if<CopyNode>(&one)) {
    const auto is_line = [](const CUDA_MEMCPY3D& params) {
      return params.Height == 1 && params.Depth == 1 && params.WidthInBytes > 0;
    };
    return is_line(copy->params) && is_line(std::get<CopyNode>(other).params);
  }
  const auto* const fill = std::get_if<FillNode>(&one);
  return fill == nullptr || fill->params.height == std::get<FillNode>(other).params.height;
}

// Its node that was made from one of its graph's. Null where there is none.
GraphNode* find_node(const ExecutableGraph& executable, CUgraphNode original) {
  return original == nullptr ? nullptr : executable.graph->find_clone_of(value_of(original));
}

// Gives the node of an executable graph other parameters of the same kind. `make(Call&,
// NodeWork&)`.
template <typename Make>
CUresult change_node(Symbol symbol, CUgraphExec hExec, CUgraphNode hNode, CUgraphNodeType type,
                     Make&& make) {
  return with_executable(
      symbol, hExec, [&](Call& call, const std::shared_ptr<ExecutableGraph>& executable) {
        GraphNode* const node = find_node(*executable, hNode);
        if (node == nullptr || type_of(*node->work.node) != type) return CUDA_ERROR_INVALID_VALUE;
        NodeWork made;
        if (const CUresult result = make(call, made); result != CUDA_SUCCESS) return result;
        if (made.context != node->context || !same_shape(*node->work.node, *made.work.node) ||
            !same_places(call.machine, node->work, made.work)) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        call.machine.graphs.replace(*node, std::move(made.work), made.context);
        return CUDA_SUCCESS;
      });
}

bool can_be_disabled(const GraphNode& node) {
  const NodeParams& params = *node.work.node;
  return std::holds_alternative<KernelNode>(params) || std::holds_alternative<CopyNode>(params) ||
         std::holds_alternative<FillNode>(params);
}

// Runs body(GraphNode&) with the executable graph's node, where it can be disabled.
template <typename Body>
CUresult with_switch(Symbol symbol, CUgraphExec hExec, CUgraphNode hNode, Body&& body) {
  return with_executable(symbol, hExec,
                         [&](Call&, const std::shared_ptr<ExecutableGraph>& executable) {
                           GraphNode* const node = find_node(*executable, hNode);
                           if (node == nullptr || !can_be_disabled(*node))
                             return CUDA_ERROR_INVALID_VALUE;
                           return body(*node);
                         });
}

}  // namespace

}  // namespace ferry::sim

using namespace ferry::sim;

CUresult cuGraphInstantiate(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode* phErrorNode,
                            char* logBuffer, size_t bufferSize) {
  return instantiate_with_log(Symbol::cuGraphInstantiate, phGraphExec, hGraph, phErrorNode,
                              logBuffer, bufferSize);
}

CUresult cuGraphInstantiate_v2(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode* phErrorNode,
                               char* logBuffer, size_t bufferSize) {
  return instantiate_with_log(Symbol::cuGraphInstantiate_v2, phGraphExec, hGraph, phErrorNode,
                              logBuffer, bufferSize);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph,
                                     unsigned long long flags) {
  return instantiate(Symbol::cuGraphInstantiateWithFlags, phGraphExec, hGraph, flags);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) {
  if (instantiateParams == nullptr) return CUDA_ERROR_INVALID_VALUE;
  instantiateParams->hErrNode_out = nullptr;
  instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
  return with_graph(
      Symbol::cuGraphInstantiateWithParams, hGraph,
      [&](Call& call, const std::shared_ptr<Graph>& graph) {
        const CUresult result = instantiate(call, phGraphExec, *graph, instantiateParams->flags);
        const std::uint64_t wrong = result == CUDA_SUCCESS ? 0 : find_in_circle(*graph);
        instantiateParams->hErrNode_out = to_handle<CUgraphNode>(wrong);
        if (wrong != 0) instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        if (result == CUDA_SUCCESS) instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
        return result;
      });
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags) {
  return with_executable(Symbol::cuGraphExecGetFlags, hGraphExec,
                         [&](Call&, const std::shared_ptr<ExecutableGraph>& executable) {
                           if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
                           *flags = executable->flags;
                           return CUDA_SUCCESS;
                         });
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
  return with_executable(Symbol::cuGraphExecDestroy, hGraphExec,
                         [&](Call& call, const std::shared_ptr<ExecutableGraph>& executable) {
                           for (const LaneNumber lane : executable->lanes)
                             call.machine.engine.close_lane(lane);
                           call.machine.graphs.erase(*executable->graph);
                           call.machine.graphs.executables.erase(value_of(hGraphExec));
                           return CUDA_SUCCESS;
                         });
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
  return with_executable(Symbol::cuGraphLaunch, hGraphExec,
                         [&](Call& call, const std::shared_ptr<ExecutableGraph>& executable) {
                           return launch_graph(call, executable, hStream);
                         });
}

CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) {
  return with_executable(Symbol::cuGraphUpload, hGraphExec,
                         [&](Call& call, const std::shared_ptr<ExecutableGraph>&) {
                           StreamUse use;  // there is nothing to upload to
                           return find_stream(call, hStream, use);
                         });
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  if (nodeParams == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return change_node(
      Symbol::cuGraphExecKernelNodeSetParams, hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL,
      [&](Call& call, NodeWork& out) { return make_work(call, to_v2(*nodeParams), out); });
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS_v2* nodeParams) {
  if (nodeParams == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return change_node(Symbol::cuGraphExecKernelNodeSetParams_v2, hGraphExec, hNode,
                     CU_GRAPH_NODE_TYPE_KERNEL,
                     [&](Call& call, NodeWork& out) { return make_work(call, *nodeParams, out); });
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMCPY3D* copyParams, CUcontext ctx) {
  if (copyParams == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return change_node(
      Symbol::cuGraphExecMemcpyNodeSetParams, hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMCPY,
      [&](Call& call, NodeWork& out) { return make_work(call, *copyParams, ctx, out); });
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS* memsetParams,
                                        CUcontext ctx) {
  if (memsetParams == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return change_node(
      Symbol::cuGraphExecMemsetNodeSetParams, hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMSET,
      [&](Call& call, NodeWork& out) { return make_work(call, *memsetParams, ctx, out); });
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      const CUDA_HOST_NODE_PARAMS* nodeParams) {
  if (nodeParams == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return change_node(Symbol::cuGraphExecHostNodeSetParams, hGraphExec, hNode,
                     CU_GRAPH_NODE_TYPE_HOST,
                     [&](Call&, NodeWork& out) { return make_work(*nodeParams, out); });
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            CUevent event) {
  return change_node(Symbol::cuGraphExecEventRecordNodeSetEvent, hGraphExec, hNode,
                     CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                     [&](Call& call, NodeWork& out) { return make_record(call, event, out); });
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                          CUevent event) {
  return change_node(Symbol::cuGraphExecEventWaitNodeSetEvent, hGraphExec, hNode,
                     CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                     [&](Call& call, NodeWork& out) { return make_wait(call, event, out); });
}

CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                  CUgraphNodeParams* nodeParams) {
  if (nodeParams == nullptr || nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return nodeParams == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
  return change_node(Symbol::cuGraphExecNodeSetParams, hGraphExec, hNode, nodeParams->type,
                     [&](Call& call, NodeWork& out) { return make_work(call, *nodeParams, out); });
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled) {
  return with_switch(Symbol::cuGraphNodeSetEnabled, hGraphExec, hNode, [&](GraphNode& node) {
    node.enabled = isEnabled != 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int* isEnabled) {
  return with_switch(Symbol::cuGraphNodeGetEnabled, hGraphExec, hNode, [&](GraphNode& node) {
    if (isEnabled == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *isEnabled = node.enabled ? 1 : 0;
    return CUDA_SUCCESS;
  });
}
