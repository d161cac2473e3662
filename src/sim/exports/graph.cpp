// SPDX-License-Identifier: Apache-2.0
// Exported: graphs as a whole: made, cloned, destroyed, asked for their nodes and edges.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "sim/exports/graph_calls.hpp"

namespace ferry::sim {

namespace {

// Fills an array of the program, as the queries of graphs do: without an array they count; what is
// left of a longer one is null.
template <typename Handle>
void give(const std::vector<std::uint64_t>& values, Handle* out, std::size_t* count) {
  if (out != nullptr) {
    for (std::size_t i = 0; i < *count; ++i)
      out[i] = i < values.size() ? to_handle<Handle>(values[i]) : nullptr;
    *count = std::min(*count, values.size());
  } else {
    *count = values.size();
  }
}

void give_no_data(CUgraphEdgeData* edges, std::size_t count) {
  if (edges != nullptr) std::fill_n(edges, count, CUgraphEdgeData{});
}

CUresult get_edges(Symbol symbol, CUgraph hGraph, CUgraphNode* from, CUgraphNode* to,
                   CUgraphEdgeData* data, std::size_t* count) {
  return with_graph(symbol, hGraph, [&](Call&, const std::shared_ptr<Graph>& graph) {
    if (count == nullptr || (from == nullptr) != (to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    if (data != nullptr && from == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::vector<std::uint64_t> starts;
    std::vector<std::uint64_t> ends;
    for (const Graph::Edge& edge : graph->edges()) {
      starts.push_back(edge.from);
      ends.push_back(edge.to);
    }
    std::size_t room = *count;
    give(starts, from, count);
    give(ends, to, &room);
    give_no_data(data, *count);
    return CUDA_SUCCESS;
  });
}

CUresult get_dependencies(Symbol symbol, CUgraphNode hNode, CUgraphNode* out, CUgraphEdgeData* data,
                          std::size_t* count) {
  return with_node(symbol, hNode, [&](Call&, Graph&, GraphNode& node) {
    if (count == nullptr || (data != nullptr && out == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    give(node.after, out, count);
    give_no_data(data, *count);
    return CUDA_SUCCESS;
  });
}

CUresult get_dependents(Symbol symbol, CUgraphNode hNode, CUgraphNode* out, CUgraphEdgeData* data,
                        std::size_t* count) {
  return with_node(symbol, hNode, [&](Call&, Graph& graph, GraphNode& node) {
    if (count == nullptr || (data != nullptr && out == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    give(graph.dependents_of(node.handle), out, count);
    give_no_data(data, *count);
    return CUDA_SUCCESS;
  });
}

// The edges that a program names, all between nodes of the graph.
struct NamedEdges {
  const CUgraphNode* from = nullptr;
  const CUgraphNode* to = nullptr;
  const CUgraphEdgeData* data = nullptr;
  std::size_t count = 0;
};

CUresult check_edges(Graph& graph, const NamedEdges& edges) {
  if (edges.count > 0 && (edges.from == nullptr || edges.to == nullptr))
    return CUDA_ERROR_INVALID_VALUE;
  if (!is_plain(edges.data, edges.count)) return CUDA_ERROR_NOT_SUPPORTED;
  for (std::size_t i = 0; i < edges.count; ++i) {
    if (edges.from[i] == edges.to[i] || graph.find(value_of(edges.from[i])) == nullptr ||
        graph.find(value_of(edges.to[i])) == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}

bool has_edge(Graph& graph, CUgraphNode from, CUgraphNode to) {
  const GraphNode* const node = graph.find(value_of(to));
  return std::ranges::find(node->after, value_of(from)) != node->after.end();
}

// All of them or none; `there`: whether they must be there before, or must not.
CUresult change_edges(Symbol symbol, CUgraph hGraph, const NamedEdges& edges, bool there) {
  return with_graph(symbol, hGraph, [&](Call&, const std::shared_ptr<Graph>& graph) {
    if (const CUresult result = check_edges(*graph, edges); result != CUDA_SUCCESS) return result;
    std::set<std::pair<CUgraphNode, CUgraphNode>> named;
    for (std::size_t i = 0; i < edges.count; ++i) {
      if (has_edge(*graph, edges.from[i], edges.to[i]) != there ||
          !named.emplace(edges.from[i], edges.to[i]).second) {
        return CUDA_ERROR_INVALID_VALUE;
      }
    }
    for (std::size_t i = 0; i < edges.count; ++i) {
      std::vector<std::uint64_t>& after = graph->find(value_of(edges.to[i]))->after;
      const std::uint64_t from = value_of(edges.from[i]);
      std::erase(after, from);
      if (!there) after.push_back(from);
      if (there && graph->owner == Graph::Owner::capture) graph->let_go.push_back(from);
    }
    return CUDA_SUCCESS;
  });
}

const char* name_of(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return "kernel";
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return "memcpy";
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return "memset";
    case CU_GRAPH_NODE_TYPE_HOST:
      return "host";
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return "graph";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return "wait event";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return "record event";
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return "memory word";
    default:
      return "empty";
  }
}

std::string dot_of(const Graph& graph) {
  std::string text = "digraph graph_of_program {\n";
  for (const auto& [handle, node] : graph.nodes())
    text += fmt::format("  n{:x} [label=\"{}\"];\n", handle, name_of(type_of(*node.work.node)));
  for (const Graph::Edge& edge : graph.edges())
    text += fmt::format("  n{:x} -> n{:x};\n", edge.from, edge.to);
  return text + "}\n";
}

CUresult write_file(const char* path, const std::string& text) {
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return CUDA_ERROR_OPERATING_SYSTEM;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  return written && closed ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

}  // namespace

}  // namespace ferry::sim

using ferry::sim::Call;
using ferry::sim::Graph;
using ferry::sim::GraphNode;
using ferry::sim::Library;
using ferry::sim::Need;
using ferry::sim::Symbol;
using ferry::sim::to_handle;
using ferry::sim::value_of;
using ferry::sim::with_graph;
using ferry::sim::with_node;

CUresult cuGraphCreate(CUgraph* phGraph, unsigned int flags) {
  return Library::get().call(Symbol::cuGraphCreate, Need::initialised, [&](Call& call) {
    if (phGraph == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *phGraph = to_handle<CUgraph>(call.machine.graphs.create(Graph::Owner::program)->handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph hGraph) {
  return with_graph(Symbol::cuGraphDestroy, hGraph,
                    [&](Call& call, const std::shared_ptr<Graph>& graph) {
                      if (graph->owner != Graph::Owner::program) return CUDA_ERROR_INVALID_VALUE;
                      call.machine.graphs.erase(*graph);
                      return CUDA_SUCCESS;
                    });
}

CUresult cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph) {
  return with_graph(Symbol::cuGraphClone, originalGraph,
                    [&](Call& call, const std::shared_ptr<Graph>& graph) {
                      if (phGraphClone == nullptr) return CUDA_ERROR_INVALID_VALUE;
                      const auto clone = call.machine.graphs.clone(*graph, Graph::Owner::program);
                      *phGraphClone = to_handle<CUgraph>(clone->handle);
                      return CUDA_SUCCESS;
                    });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* phNode, CUgraphNode hOriginalNode,
                                CUgraph hClonedGraph) {
  return with_graph(Symbol::cuGraphNodeFindInClone, hClonedGraph,
                    [&](Call&, const std::shared_ptr<Graph>& graph) {
                      if (phNode == nullptr || hOriginalNode == nullptr)
                        return CUDA_ERROR_INVALID_VALUE;
                      const GraphNode* const node = graph->find_clone_of(value_of(hOriginalNode));
                      if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
                      *phNode = to_handle<CUgraphNode>(node->handle);
                      return CUDA_SUCCESS;
                    });
}

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, size_t* numNodes) {
  return with_graph(Symbol::cuGraphGetNodes, hGraph,
                    [&](Call&, const std::shared_ptr<Graph>& graph) {
                      if (numNodes == nullptr) return CUDA_ERROR_INVALID_VALUE;
                      std::vector<std::uint64_t> handles;
                      for (const auto& [handle, node] : graph->nodes()) handles.push_back(handle);
                      ferry::sim::give(handles, nodes, numNodes);
                      return CUDA_SUCCESS;
                    });
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode* rootNodes, size_t* numRootNodes) {
  return with_graph(Symbol::cuGraphGetRootNodes, hGraph,
                    [&](Call&, const std::shared_ptr<Graph>& graph) {
                      if (numRootNodes == nullptr) return CUDA_ERROR_INVALID_VALUE;
                      std::vector<std::uint64_t> handles;
                      for (const auto& [handle, node] : graph->nodes()) {
                        if (node.after.empty()) handles.push_back(handle);
                      }
                      ferry::sim::give(handles, rootNodes, numRootNodes);
                      return CUDA_SUCCESS;
                    });
}

CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, size_t* numEdges) {
  return ferry::sim::get_edges(Symbol::cuGraphGetEdges, hGraph, from, to, nullptr, numEdges);
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* edgeData, size_t* numEdges) {
  return ferry::sim::get_edges(Symbol::cuGraphGetEdges_v2, hGraph, from, to, edgeData, numEdges);
}

CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode* dependencies,
                                    size_t* numDependencies) {
  return ferry::sim::get_dependencies(Symbol::cuGraphNodeGetDependencies, hNode, dependencies,
                                      nullptr, numDependencies);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode* dependencies,
                                       CUgraphEdgeData* edgeData, size_t* numDependencies) {
  return ferry::sim::get_dependencies(Symbol::cuGraphNodeGetDependencies_v2, hNode, dependencies,
                                      edgeData, numDependencies);
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                      size_t* numDependentNodes) {
  return ferry::sim::get_dependents(Symbol::cuGraphNodeGetDependentNodes, hNode, dependentNodes,
                                    nullptr, numDependentNodes);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                         CUgraphEdgeData* edgeData, size_t* numDependentNodes) {
  return ferry::sim::get_dependents(Symbol::cuGraphNodeGetDependentNodes_v2, hNode, dependentNodes,
                                    edgeData, numDependentNodes);
}

CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                size_t numDependencies) {
  return ferry::sim::change_edges(Symbol::cuGraphAddDependencies, hGraph,
                                  {from, to, nullptr, numDependencies}, false);
}

CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* edgeData, size_t numDependencies) {
  return ferry::sim::change_edges(Symbol::cuGraphAddDependencies_v2, hGraph,
                                  {from, to, edgeData, numDependencies}, false);
}

CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t numDependencies) {
  return ferry::sim::change_edges(Symbol::cuGraphRemoveDependencies, hGraph,
                                  {from, to, nullptr, numDependencies}, true);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode* from,
                                      const CUgraphNode* to, const CUgraphEdgeData* edgeData,
                                      size_t numDependencies) {
  return ferry::sim::change_edges(Symbol::cuGraphRemoveDependencies_v2, hGraph,
                                  {from, to, edgeData, numDependencies}, true);
}

CUresult cuGraphDestroyNode(CUgraphNode hNode) {
  return with_node(Symbol::cuGraphDestroyNode, hNode, [&](Call& call, Graph& graph, GraphNode&) {
    if (graph.owner == Graph::Owner::capture) return CUDA_ERROR_INVALID_VALUE;
    call.machine.graphs.erase_node(value_of(hNode));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char* path, unsigned int) {
  return with_graph(Symbol::cuGraphDebugDotPrint, hGraph,
                    [&](Call&, const std::shared_ptr<Graph>& graph) {
                      if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
                      return ferry::sim::write_file(path, ferry::sim::dot_of(*graph));
                    });
}
