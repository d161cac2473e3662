// SPDX-License-Identifier: Apache-2.0
// Exported: captures of streams.
#include <algorithm>
#include <utility>

#include "sim/exports/graph_calls.hpp"
#include "sim/machine/capture_access.hpp"

namespace ferry::sim {

namespace {

bool is_mode(int mode) {
  return mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED;
}

// Nodes that a program names, all of one graph and none twice.
CUresult take_nodes(Graph& graph, const CUgraphNode* nodes, std::size_t count,
                    std::vector<CUgraphNode>& out) {
  if (nodes == nullptr && count > 0) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    if (graph.find(value_of(nodes[i])) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (std::ranges::find(out, nodes[i]) == out.end()) out.push_back(nodes[i]);
  }
  return CUDA_SUCCESS;
}

// `given`: the graph that the program captures into; null where the capture makes its own.
struct Beginning {
  std::shared_ptr<Graph> given;
  std::vector<CUgraphNode> after;
  int mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
};

CUresult begin_capture(Call& call, const StreamUse& use, Beginning beginning) {
  if (!is_mode(beginning.mode)) return CUDA_ERROR_INVALID_VALUE;
  if (use.is_legacy()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (call.machine.captures.find(*use.stream) != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  Capture capture;
  capture.into_given_graph = beginning.given != nullptr;
  capture.graph = capture.into_given_graph ? std::move(beginning.given)
                                           : call.machine.graphs.create(Graph::Owner::program);
  capture.graph->owner = Graph::Owner::capture;
  capture.mode = static_cast<CUstreamCaptureMode>(beginning.mode);
  capture.thread = call.thread.number;
  call.machine.captures.begin(*use.stream, std::move(capture), std::move(beginning.after));
  return CUDA_SUCCESS;
}

CUresult begin_capture(Symbol symbol, CUstream stream, int mode) {
  return with_stream(symbol, stream, [&](Call& call, StreamUse& use) {
    return begin_capture(call, use, {nullptr, {}, mode});
  });
}

// Why the graph of a capture is not to be had.
CUresult fault_of(const Call& call, const Capture& capture) {
  if (capture.invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  return call.machine.captures.is_joined(capture) ? CUDA_SUCCESS
                                                  : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

CUresult end_capture(Call& call, const StreamUse& use, CUgraph* out) {
  CapturingStream* const in = call.machine.captures.find(*use.stream);
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = nullptr;
  if (in == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  const std::shared_ptr<Capture> capture = in->capture;
  if (capture->origin != use.stream) return refuse(*capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != call.thread.number)
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  const CUresult fault = fault_of(call, *capture);
  call.machine.captures.end(*capture);
  if (fault == CUDA_SUCCESS) {
    *out = to_handle<CUgraph>(capture->graph->handle);
  } else if (!capture->into_given_graph) {
    call.machine.graphs.erase(*capture->graph);
  }
  return fault;
}

// Where the answers of cuStreamGetCaptureInfo go; each may be null but the first.
struct CaptureInfo {
  CUstreamCaptureStatus* status = nullptr;
  cuuint64_t* id = nullptr;
  CUgraph* graph = nullptr;
  const CUgraphNode** nodes = nullptr;
  const CUgraphEdgeData** edges = nullptr;
  std::size_t* count = nullptr;
};

template <typename Value>
void tell(Value* where, Value value) {
  if (where != nullptr) *where = value;
}

CUresult capture_info(Call& call, const StreamUse& use, const CaptureInfo& info) {
  if (info.status == nullptr || (info.edges != nullptr && info.nodes == nullptr))
    return CUDA_ERROR_INVALID_VALUE;
  // Only to ask does a capture no harm.
  if (use.is_legacy() && call.machine.captures.find_in(*use.context->streams, true) != nullptr)
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  CapturingStream* const in = call.machine.captures.find(*use.stream);
  *info.status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (in == nullptr) return CUDA_SUCCESS;
  *info.status = in->capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                          : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (in->capture->invalidated) return CUDA_SUCCESS;
  in->edges.assign(in->after.size(), CUgraphEdgeData{});
  tell(info.id, cuuint64_t{in->capture->id});
  tell(info.graph, to_handle<CUgraph>(in->capture->graph->handle));
  tell<const CUgraphNode*>(info.nodes, in->after.data());
  tell<const CUgraphEdgeData*>(info.edges, in->edges.data());
  tell(info.count, in->after.size());
  return CUDA_SUCCESS;
}

CUresult capture_info(Symbol symbol, CUstream stream, const CaptureInfo& info) {
  return with_stream(symbol, stream,
                     [&](Call& call, StreamUse& use) { return capture_info(call, use, info); });
}

CUresult update_dependencies(Symbol symbol, CUstream stream, const CUgraphNode* nodes,
                             const CUgraphEdgeData* edges, std::size_t count, unsigned flags) {
  return with_stream(symbol, stream, [&](Call& call, StreamUse& use) {
    CapturingStream* const in = call.machine.captures.find(*use.stream);
    if (in == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
    if (in->capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES) return CUDA_ERROR_INVALID_VALUE;
    if (!is_plain(edges, count)) return CUDA_ERROR_NOT_SUPPORTED;
    std::vector<CUgraphNode> after;
    if (flags != CU_STREAM_SET_CAPTURE_DEPENDENCIES) after = in->after;
    const CUresult taken = take_nodes(*in->capture->graph, nodes, count, after);
    if (taken != CUDA_SUCCESS) return taken;
    for (const CUgraphNode node : std::exchange(in->after, after)) {
      if (std::ranges::find(after, node) == after.end())
        in->capture->graph->let_go.push_back(value_of(node));
    }
    return CUDA_SUCCESS;
  });
}

}  // namespace

}  // namespace ferry::sim

using ferry::sim::Symbol;

CUresult cuStreamBeginCapture(CUstream hStream) {
  return ferry::sim::begin_capture(Symbol::cuStreamBeginCapture, hStream,
                                   CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
  return ferry::sim::begin_capture(Symbol::cuStreamBeginCapture_v2, hStream, mode);
}

CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
                                     const CUgraphNode* dependencies,
                                     const CUgraphEdgeData* dependencyData, size_t numDependencies,
                                     CUstreamCaptureMode mode) {
  using namespace ferry::sim;
  return with_stream(Symbol::cuStreamBeginCaptureToGraph, hStream, [&](Call& call, StreamUse& use) {
    Beginning beginning{call.machine.graphs.find(value_of(hGraph)), {}, mode};
    if (beginning.given == nullptr || beginning.given->owner != Graph::Owner::program)
      return CUDA_ERROR_INVALID_VALUE;
    if (!is_plain(dependencyData, numDependencies)) return CUDA_ERROR_NOT_SUPPORTED;
    const CUresult taken =
        take_nodes(*beginning.given, dependencies, numDependencies, beginning.after);
    return taken == CUDA_SUCCESS ? begin_capture(call, use, std::move(beginning)) : taken;
  });
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) {
  using namespace ferry::sim;
  return with_stream(Symbol::cuStreamEndCapture, hStream,
                     [&](Call& call, StreamUse& use) { return end_capture(call, use, phGraph); });
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) {
  return ferry::sim::capture_info(Symbol::cuStreamIsCapturing, hStream, {captureStatus});
}

CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                cuuint64_t* id_out) {
  return ferry::sim::capture_info(Symbol::cuStreamGetCaptureInfo, hStream,
                                  {captureStatus_out, id_out});
}

CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out,
                                   size_t* numDependencies_out) {
  return ferry::sim::capture_info(
      Symbol::cuStreamGetCaptureInfo_v2, hStream,
      {captureStatus_out, id_out, graph_out, dependencies_out, nullptr, numDependencies_out});
}

CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                   cuuint64_t* id_out, CUgraph* graph_out,
                                   const CUgraphNode** dependencies_out,
                                   const CUgraphEdgeData** edgeData_out,
                                   size_t* numDependencies_out) {
  return ferry::sim::capture_info(
      Symbol::cuStreamGetCaptureInfo_v3, hStream,
      {captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out});
}

CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode* dependencies,
                                           size_t numDependencies, unsigned int flags) {
  return ferry::sim::update_dependencies(Symbol::cuStreamUpdateCaptureDependencies, hStream,
                                         dependencies, nullptr, numDependencies, flags);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode* dependencies,
                                              const CUgraphEdgeData* dependencyData,
                                              size_t numDependencies, unsigned int flags) {
  return ferry::sim::update_dependencies(Symbol::cuStreamUpdateCaptureDependencies_v2, hStream,
                                         dependencies, dependencyData, numDependencies, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  using namespace ferry::sim;
  return Library::get().call(
      Symbol::cuThreadExchangeStreamCaptureMode, Need::initialised, [&](Call& call) {
        if (mode == nullptr || !is_mode(*mode)) return CUDA_ERROR_INVALID_VALUE;
        const int earlier = std::exchange(call.thread.capture_mode, static_cast<int>(*mode));
        *mode = static_cast<CUstreamCaptureMode>(earlier);
        return CUDA_SUCCESS;
      });
}
