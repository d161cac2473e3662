// SPDX-License-Identifier: Apache-2.0
// Exported: nodes of graphs: added, asked for their parameters, given others.
#include <algorithm>

#include "sim/exports/graph_calls.hpp"
#include "sim/exports/graph_work.hpp"

namespace ferry::sim {

namespace {

// Where a node is to be added.
struct Slot {
  CUgraphNode* out = nullptr;
  CUgraph graph = nullptr;
  const CUgraphNode* after = nullptr;
  std::size_t count = 0;
};

// What the node comes after, each of the same graph and none twice.
CUresult take_dependencies(Graph& graph, const Slot& slot, std::vector<std::uint64_t>& after) {
  if (slot.after == nullptr && slot.count > 0) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < slot.count; ++i) {
    const std::uint64_t handle = value_of(slot.after[i]);
    if (graph.find(handle) == nullptr || std::ranges::find(after, handle) != after.end())
      return CUDA_ERROR_INVALID_VALUE;
    after.push_back(handle);
  }
  return CUDA_SUCCESS;
}

// `make(Call&, NodeWork&)` gives what the node holds.
template <typename Make>
CUresult add_node(Symbol symbol, const Slot& slot, Make&& make) {
  return with_graph(symbol, slot.graph, [&](Call& call, const std::shared_ptr<Graph>& graph) {
    if (slot.out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::vector<std::uint64_t> after;
    if (const CUresult taken = take_dependencies(*graph, slot, after); taken != CUDA_SUCCESS)
      return taken;
    NodeWork made;
    if (const CUresult result = make(call, made); result != CUDA_SUCCESS) return result;
    made.work.added_by = symbol;
    made.work.added_at = call.site;
    const GraphNode& node =
        call.machine.graphs.add_node(*graph, std::move(made.work), made.context, std::move(after));
    *slot.out = to_handle<CUgraphNode>(node.handle);
    return CUDA_SUCCESS;
  });
}

// Gives a node of one kind other parameters of the same kind. `make(Call&, const GraphNode&,
// NodeWork&)`.
template <typename Kind, typename Make>
CUresult change_node(Symbol symbol, CUgraphNode hNode, Make&& make) {
  return with_node(symbol, hNode, [&](Call& call, Graph&, GraphNode& node) {
    if (!std::holds_alternative<Kind>(*node.work.node)) return CUDA_ERROR_INVALID_VALUE;
    NodeWork made;
    if (const CUresult result = make(call, node, made); result != CUDA_SUCCESS) return result;
    call.machine.graphs.replace(node, std::move(made.work), made.context);
    return CUDA_SUCCESS;
  });
}

// Runs tell(const Kind&) with the parameters of a node of that kind.
template <typename Kind, typename Tell>
CUresult ask_node(Symbol symbol, CUgraphNode hNode, const void* out, Tell&& tell) {
  return with_node(symbol, hNode, [&](Call&, Graph&, GraphNode& node) {
    const Kind* const params = std::get_if<Kind>(&*node.work.node);
    if (params == nullptr || out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    tell(*params);
    return CUDA_SUCCESS;
  });
}

CUcontext context_of(const GraphNode& node) {
  return to_handle<CUcontext>(node.context);
}

CUDA_KERNEL_NODE_PARAMS_v2 told(const KernelNode& node) {
  CUDA_KERNEL_NODE_PARAMS_v2 params = node.params;
  params.kernelParams = node.pointers.empty() ? nullptr : const_cast<void**>(node.pointers.data());
  return params;
}

}  // namespace

}  // namespace ferry::sim

using namespace ferry::sim;

CUresult cuGraphAddKernelNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return add_node(Symbol::cuGraphAddKernelNode,
                  {phGraphNode, hGraph, dependencies, numDependencies},
                  [&](Call& call, NodeWork& out) {
                    return nodeParams == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                 : make_work(call, to_v2(*nodeParams), out);
                  });
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph,
                                 const CUgraphNode* dependencies, size_t numDependencies,
                                 const CUDA_KERNEL_NODE_PARAMS_v2* nodeParams) {
  return add_node(
      Symbol::cuGraphAddKernelNode_v2, {phGraphNode, hGraph, dependencies, numDependencies},
      [&](Call& call, NodeWork& out) {
        return nodeParams == nullptr ? CUDA_ERROR_INVALID_VALUE : make_work(call, *nodeParams, out);
      });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_MEMCPY3D* copyParams, CUcontext ctx) {
  return add_node(Symbol::cuGraphAddMemcpyNode,
                  {phGraphNode, hGraph, dependencies, numDependencies},
                  [&](Call& call, NodeWork& out) {
                    return copyParams == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                 : make_work(call, *copyParams, ctx, out);
                  });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                              const CUgraphNode* dependencies, size_t numDependencies,
                              const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx) {
  return add_node(Symbol::cuGraphAddMemsetNode,
                  {phGraphNode, hGraph, dependencies, numDependencies},
                  [&](Call& call, NodeWork& out) {
                    return memsetParams == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                   : make_work(call, *memsetParams, ctx, out);
                  });
}

CUresult cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                            const CUgraphNode* dependencies, size_t numDependencies,
                            const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return add_node(Symbol::cuGraphAddHostNode, {phGraphNode, hGraph, dependencies, numDependencies},
                  [&](Call&, NodeWork& out) {
                    return nodeParams == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                 : make_work(*nodeParams, out);
                  });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                             const CUgraphNode* dependencies, size_t numDependencies) {
  return add_node(Symbol::cuGraphAddEmptyNode, {phGraphNode, hGraph, dependencies, numDependencies},
                  [&](Call&, NodeWork& out) {
                    out.work.node = EmptyNode{};
                    return CUDA_SUCCESS;
                  });
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                  const CUgraphNode* dependencies, size_t numDependencies,
                                  CUgraph childGraph) {
  return add_node(Symbol::cuGraphAddChildGraphNode,
                  {phGraphNode, hGraph, dependencies, numDependencies},
                  [&](Call& call, NodeWork& out) { return make_child(call, childGraph, out); });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                   const CUgraphNode* dependencies, size_t numDependencies,
                                   CUevent event) {
  return add_node(Symbol::cuGraphAddEventRecordNode,
                  {phGraphNode, hGraph, dependencies, numDependencies},
                  [&](Call& call, NodeWork& out) { return make_record(call, event, out); });
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                 const CUgraphNode* dependencies, size_t numDependencies,
                                 CUevent event) {
  return add_node(Symbol::cuGraphAddEventWaitNode,
                  {phGraphNode, hGraph, dependencies, numDependencies},
                  [&](Call& call, NodeWork& out) { return make_wait(call, event, out); });
}

CUresult cuGraphAddNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                        size_t numDependencies, CUgraphNodeParams* nodeParams) {
  return add_node(Symbol::cuGraphAddNode, {phGraphNode, hGraph, dependencies, numDependencies},
                  [&](Call& call, NodeWork& out) {
                    return nodeParams == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                 : make_work(call, *nodeParams, out);
                  });
}

CUresult cuGraphAddNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph,
                           const CUgraphNode* dependencies, const CUgraphEdgeData* dependencyData,
                           size_t numDependencies, CUgraphNodeParams* nodeParams) {
  return add_node(Symbol::cuGraphAddNode_v2, {phGraphNode, hGraph, dependencies, numDependencies},
                  [&](Call& call, NodeWork& out) {
                    if (nodeParams == nullptr) return CUDA_ERROR_INVALID_VALUE;
                    if (!is_plain(dependencyData, numDependencies)) return CUDA_ERROR_NOT_SUPPORTED;
                    return make_work(call, *nodeParams, out);
                  });
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) {
  return with_node(Symbol::cuGraphNodeGetType, hNode, [&](Call&, Graph&, GraphNode& node) {
    if (type == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *type = type_of(*node.work.node);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return ask_node<KernelNode>(
      Symbol::cuGraphKernelNodeGetParams, hNode, nodeParams, [&](const KernelNode& node) {
        const CUDA_KERNEL_NODE_PARAMS_v2 params = told(node);
        *nodeParams = {params.func,      params.gridDimX,       params.gridDimY,
                       params.gridDimZ,  params.blockDimX,      params.blockDimY,
                       params.blockDimZ, params.sharedMemBytes, params.kernelParams,
                       params.extra};
      });
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v2* nodeParams) {
  return ask_node<KernelNode>(Symbol::cuGraphKernelNodeGetParams_v2, hNode, nodeParams,
                              [&](const KernelNode& node) { *nodeParams = told(node); });
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams) {
  return ask_node<CopyNode>(Symbol::cuGraphMemcpyNodeGetParams, hNode, nodeParams,
                            [&](const CopyNode& node) { *nodeParams = node.params; });
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS* nodeParams) {
  return ask_node<FillNode>(Symbol::cuGraphMemsetNodeGetParams, hNode, nodeParams,
                            [&](const FillNode& node) { *nodeParams = node.params; });
}

CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS* nodeParams) {
  return ask_node<HostNode>(Symbol::cuGraphHostNodeGetParams, hNode, nodeParams,
                            [&](const HostNode& node) {
                              *nodeParams = {node.function, node.data};
                            });
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* phGraph) {
  return ask_node<ChildNode>(
      Symbol::cuGraphChildGraphNodeGetGraph, hNode, phGraph,
      [&](const ChildNode& node) { *phGraph = to_handle<CUgraph>(node.graph->handle); });
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
  return ask_node<RecordNode>(Symbol::cuGraphEventRecordNodeGetEvent, hNode, event_out,
                              [&](const RecordNode& node) { *event_out = node.event; });
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
  return ask_node<WaitNode>(Symbol::cuGraphEventWaitNodeGetEvent, hNode, event_out,
                            [&](const WaitNode& node) { *event_out = node.event; });
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode hNode,
                                    const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return change_node<KernelNode>(
      Symbol::cuGraphKernelNodeSetParams, hNode, [&](Call& call, const GraphNode&, NodeWork& out) {
        return nodeParams == nullptr ? CUDA_ERROR_INVALID_VALUE
                                     : make_work(call, to_v2(*nodeParams), out);
      });
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode,
                                       const CUDA_KERNEL_NODE_PARAMS_v2* nodeParams) {
  return change_node<KernelNode>(Symbol::cuGraphKernelNodeSetParams_v2, hNode,
                                 [&](Call& call, const GraphNode&, NodeWork& out) {
                                   return nodeParams == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                                : make_work(call, *nodeParams, out);
                                 });
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams) {
  return change_node<CopyNode>(Symbol::cuGraphMemcpyNodeSetParams, hNode,
                               [&](Call& call, const GraphNode& node, NodeWork& out) {
                                 return nodeParams == nullptr
                                            ? CUDA_ERROR_INVALID_VALUE
                                            : make_work(call, *nodeParams, context_of(node), out);
                               });
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS* nodeParams) {
  return change_node<FillNode>(Symbol::cuGraphMemsetNodeSetParams, hNode,
                               [&](Call& call, const GraphNode& node, NodeWork& out) {
                                 return nodeParams == nullptr
                                            ? CUDA_ERROR_INVALID_VALUE
                                            : make_work(call, *nodeParams, context_of(node), out);
                               });
}

CUresult cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return change_node<HostNode>(
      Symbol::cuGraphHostNodeSetParams, hNode, [&](Call&, const GraphNode&, NodeWork& out) {
        return nodeParams == nullptr ? CUDA_ERROR_INVALID_VALUE : make_work(*nodeParams, out);
      });
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) {
  return change_node<RecordNode>(
      Symbol::cuGraphEventRecordNodeSetEvent, hNode,
      [&](Call& call, const GraphNode&, NodeWork& out) { return make_record(call, event, out); });
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) {
  return change_node<WaitNode>(
      Symbol::cuGraphEventWaitNodeSetEvent, hNode,
      [&](Call& call, const GraphNode&, NodeWork& out) { return make_wait(call, event, out); });
}

CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
  return with_node(Symbol::cuGraphNodeSetParams, hNode, [&](Call& call, Graph&, GraphNode& node) {
    NodeWork made;
    if (nodeParams == nullptr || nodeParams->type != type_of(*node.work.node))
      return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = make_work(call, *nodeParams, made); result != CUDA_SUCCESS)
      return result;
    call.machine.graphs.replace(node, std::move(made.work), made.context);
    return CUDA_SUCCESS;
  });
}
