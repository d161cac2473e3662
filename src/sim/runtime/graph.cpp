// SPDX-License-Identifier: Apache-2.0
// Exported: captures and graphs.
#include "sim/runtime/runtime_call.hpp"

using ferry::sim::runtime::on_device;

namespace {

// Data of edges is the driver's by another name.
const CUgraphEdgeData* as_edges(const cudaGraphEdgeData* edges) {
  static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData));
  return reinterpret_cast<const CUgraphEdgeData*>(edges);
}

CUgraphEdgeData* as_edges(cudaGraphEdgeData* edges) {
  return reinterpret_cast<CUgraphEdgeData*>(edges);
}

}  // namespace

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return on_device([&] {
    return cuThreadExchangeStreamCaptureMode(reinterpret_cast<CUstreamCaptureMode*>(mode));
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return on_device(
      [&] { return cuStreamBeginCapture(stream, static_cast<CUstreamCaptureMode>(mode)); });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* dependencyData,
                                          size_t numDependencies, cudaStreamCaptureMode mode) {
  return on_device([&] {
    return cuStreamBeginCaptureToGraph(stream, graph, dependencies, as_edges(dependencyData),
                                       numDependencies, static_cast<CUstreamCaptureMode>(mode));
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* pGraph) {
  return on_device([&] { return cuStreamEndCapture(stream, pGraph); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* pCaptureStatus) {
  return on_device([&] {
    return cuStreamIsCapturing(stream, reinterpret_cast<CUstreamCaptureStatus*>(pCaptureStatus));
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status_out,
                                     unsigned long long* id_out, cudaGraph_t* graph_out,
                                     const cudaGraphNode_t** dependencies_out,
                                     const cudaGraphEdgeData** edgeData_out,
                                     size_t* numDependencies_out) {
  return on_device([&] {
    cuuint64_t id = 0;
    const CUresult result = cuStreamGetCaptureInfo(
        stream, reinterpret_cast<CUstreamCaptureStatus*>(status_out), &id, graph_out,
        dependencies_out, reinterpret_cast<const CUgraphEdgeData**>(edgeData_out),
        numDependencies_out);
    if (result == CUDA_SUCCESS && id_out != nullptr) *id_out = id;
    return result;
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData* dependencyData,
                                                size_t numDependencies, unsigned int flags) {
  return on_device([&] {
    return cuStreamUpdateCaptureDependencies(stream, dependencies, as_edges(dependencyData),
                                             numDependencies, flags);
  });
}

cudaError_t cudaGraphCreate(cudaGraph_t* pGraph, unsigned int flags) {
  return on_device([&] { return cuGraphCreate(pGraph, flags); });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return on_device([&] { return cuGraphDestroy(graph); });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* numNodes) {
  return on_device([&] { return cuGraphGetNodes(graph, nodes, numNodes); });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* pDependencies,
                                         cudaGraphEdgeData* edgeData, size_t* pNumDependencies) {
  return on_device([&] {
    return cuGraphNodeGetDependencies(node, pDependencies, as_edges(edgeData), pNumDependencies);
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                 unsigned long long flags) {
  return on_device([&] { return cuGraphInstantiate(pGraphExec, graph, flags); });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return on_device([&] { return cuGraphInstantiate(pGraphExec, graph, flags); });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream) {
  return on_device([&] { return cuGraphLaunch(graphExec, stream); });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream) {
  return on_device([&] { return cuGraphUpload(graphExec, stream); });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec) {
  return on_device([&] { return cuGraphExecDestroy(graphExec); });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int flags) {
  return on_device([&] { return cuGraphDebugDotPrint(graph, path, flags); });
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* pHandle_out,
                                             cudaGraph_t graph, unsigned int defaultLaunchValue,
                                             unsigned int flags) {
  return on_device([&] {
    CUcontext context = nullptr;
    if (const CUresult asked = cuCtxGetCurrent(&context); asked != CUDA_SUCCESS) return asked;
    return cuGraphConditionalHandleCreate(reinterpret_cast<CUgraphConditionalHandle*>(pHandle_out),
                                          graph, context, defaultLaunchValue, flags);
  });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                      unsigned int count, unsigned int flags) {
  return on_device([&] { return cuGraphRetainUserObject(graph, object, count, flags); });
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object_out, void* ptr, cudaHostFn_t destroy,
                                 unsigned int initialRefcount, unsigned int flags) {
  return on_device(
      [&] { return cuUserObjectCreate(object_out, ptr, destroy, initialRefcount, flags); });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count) {
  return on_device([&] { return cuUserObjectRelease(object, count); });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attr,
                                           void* value) {
  return on_device([&] {
    return cuDeviceGetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attr), value);
  });
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attr,
                                           void* value) {
  return on_device([&] {
    return cuDeviceSetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attr), value);
  });
}
