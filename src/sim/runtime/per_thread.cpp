// SPDX-License-Identifier: Apache-2.0
// Exported: what programs call that are built with CUDA_API_PER_THREAD_DEFAULT_STREAM. Without a
// stream they mean the calling thread's own default stream; all else is the same.
#include "sim/runtime/runtime_call.hpp"

namespace {

cudaStream_t own(cudaStream_t stream) {
  return stream == nullptr ? cudaStreamPerThread : stream;
}

// For functions that return when their work is done.
cudaError_t finish(cudaError_t queued) {
  return queued == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : queued;
}

unsigned long long own(unsigned long long flags) {
  constexpr unsigned long long kPerThread = cudaEnablePerThreadDefaultStream;
  return flags == cudaEnableDefault ? kPerThread : flags;
}

}  // namespace

// The headers declare these only to such programs, under the usual names.
#define FERRY_PER_THREAD(name, parameters, result) \
  cudaError_t name parameters;                     \
  cudaError_t name parameters {                    \
    return result;                                 \
  }

#pragma GCC visibility push(default)
extern "C" {

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream);

// Copies and fills.
FERRY_PER_THREAD(cudaMemcpy_ptds, (void* to, const void* from, size_t bytes, cudaMemcpyKind kind),
                 finish(cudaMemcpyAsync(to, from, bytes, kind, cudaStreamPerThread)))
FERRY_PER_THREAD(cudaMemcpyAsync_ptsz,
                 (void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                  cudaStream_t stream),
                 cudaMemcpyAsync(to, from, bytes, kind, own(stream)))
FERRY_PER_THREAD(cudaMemcpy2D_ptds,
                 (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                  size_t height, cudaMemcpyKind kind),
                 finish(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind,
                                          cudaStreamPerThread)))
FERRY_PER_THREAD(cudaMemcpy2DAsync_ptsz,
                 (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                  size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                 cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind,
                                   own(stream)))
FERRY_PER_THREAD(
    cudaMemcpyToSymbol_ptds,
    (const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind),
    finish(cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, cudaStreamPerThread)))
FERRY_PER_THREAD(cudaMemcpyToSymbolAsync_ptsz,
                 (const void* symbol, const void* from, size_t bytes, size_t offset,
                  cudaMemcpyKind kind, cudaStream_t stream),
                 cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, own(stream)))
FERRY_PER_THREAD(cudaMemcpyFromSymbol_ptds,
                 (void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind),
                 finish(cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind,
                                                  cudaStreamPerThread)))
FERRY_PER_THREAD(cudaMemcpyFromSymbolAsync_ptsz,
                 (void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                  cudaStream_t stream),
                 cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, own(stream)))
FERRY_PER_THREAD(cudaMemset_ptds, (void* to, int value, size_t bytes),
                 cudaMemsetAsync(to, value, bytes, cudaStreamPerThread))
FERRY_PER_THREAD(cudaMemsetAsync_ptsz, (void* to, int value, size_t bytes, cudaStream_t stream),
                 cudaMemsetAsync(to, value, bytes, own(stream)))
FERRY_PER_THREAD(cudaMemset2D_ptds,
                 (void* to, size_t pitch, int value, size_t width, size_t height),
                 cudaMemset2DAsync(to, pitch, value, width, height, cudaStreamPerThread))
FERRY_PER_THREAD(cudaMemset2DAsync_ptsz,
                 (void* to, size_t pitch, int value, size_t width, size_t height,
                  cudaStream_t stream),
                 cudaMemset2DAsync(to, pitch, value, width, height, own(stream)))

// Memory in the order of a stream.
FERRY_PER_THREAD(cudaMallocAsync_ptsz, (void** out, size_t bytes, cudaStream_t stream),
                 cudaMallocAsync(out, bytes, own(stream)))
FERRY_PER_THREAD(cudaMallocFromPoolAsync_ptsz,
                 (void** out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
                 cudaMallocFromPoolAsync(out, bytes, pool, own(stream)))
FERRY_PER_THREAD(cudaFreeAsync_ptsz, (void* memory, cudaStream_t stream),
                 cudaFreeAsync(memory, own(stream)))

// Streams and events.
FERRY_PER_THREAD(cudaStreamSynchronize_ptsz, (cudaStream_t stream),
                 cudaStreamSynchronize(own(stream)))
FERRY_PER_THREAD(cudaStreamQuery_ptsz, (cudaStream_t stream), cudaStreamQuery(own(stream)))
FERRY_PER_THREAD(cudaStreamWaitEvent_ptsz, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
                 cudaStreamWaitEvent(own(stream), event, flags))
FERRY_PER_THREAD(cudaStreamGetPriority_ptsz, (cudaStream_t stream, int* priority),
                 cudaStreamGetPriority(own(stream), priority))
FERRY_PER_THREAD(cudaStreamGetFlags_ptsz, (cudaStream_t stream, unsigned* flags),
                 cudaStreamGetFlags(own(stream), flags))
FERRY_PER_THREAD(cudaStreamGetId_ptsz, (cudaStream_t stream, unsigned long long* id),
                 cudaStreamGetId(own(stream), id))
FERRY_PER_THREAD(cudaStreamGetDevice_ptsz, (cudaStream_t stream, int* device),
                 cudaStreamGetDevice(own(stream), device))
FERRY_PER_THREAD(cudaLaunchHostFunc_ptsz, (cudaStream_t stream, cudaHostFn_t function, void* data),
                 cudaLaunchHostFunc(own(stream), function, data))
FERRY_PER_THREAD(cudaStreamAddCallback_ptsz,
                 (cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags),
                 cudaStreamAddCallback(own(stream), callback, data, flags))
FERRY_PER_THREAD(cudaEventRecord_ptsz, (cudaEvent_t event, cudaStream_t stream),
                 cudaEventRecord(event, own(stream)))
FERRY_PER_THREAD(cudaEventRecordWithFlags_ptsz,
                 (cudaEvent_t event, cudaStream_t stream, unsigned flags),
                 cudaEventRecordWithFlags(event, own(stream), flags))

// Captures and graphs.
FERRY_PER_THREAD(cudaStreamBeginCapture_ptsz, (cudaStream_t stream, cudaStreamCaptureMode mode),
                 cudaStreamBeginCapture(own(stream), mode))
FERRY_PER_THREAD(cudaStreamBeginCaptureToGraph_ptsz,
                 (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* nodes,
                  const cudaGraphEdgeData* edges, size_t count, cudaStreamCaptureMode mode),
                 cudaStreamBeginCaptureToGraph(own(stream), graph, nodes, edges, count, mode))
FERRY_PER_THREAD(cudaStreamEndCapture_ptsz, (cudaStream_t stream, cudaGraph_t* graph),
                 cudaStreamEndCapture(own(stream), graph))
FERRY_PER_THREAD(cudaStreamIsCapturing_ptsz, (cudaStream_t stream, cudaStreamCaptureStatus* status),
                 cudaStreamIsCapturing(own(stream), status))
FERRY_PER_THREAD(cudaStreamGetCaptureInfo_ptsz,
                 (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                  cudaGraph_t* graph, const cudaGraphNode_t** nodes,
                  const cudaGraphEdgeData** edges, size_t* count),
                 cudaStreamGetCaptureInfo(own(stream), status, id, graph, nodes, edges, count))
FERRY_PER_THREAD(cudaStreamUpdateCaptureDependencies_ptsz,
                 (cudaStream_t stream, cudaGraphNode_t* nodes, const cudaGraphEdgeData* edges,
                  size_t count, unsigned flags),
                 cudaStreamUpdateCaptureDependencies(own(stream), nodes, edges, count, flags))
FERRY_PER_THREAD(cudaGraphLaunch_ptsz, (cudaGraphExec_t graph, cudaStream_t stream),
                 cudaGraphLaunch(graph, own(stream)))
FERRY_PER_THREAD(cudaGraphUpload_ptsz, (cudaGraphExec_t graph, cudaStream_t stream),
                 cudaGraphUpload(graph, own(stream)))

// Launches.
FERRY_PER_THREAD(cudaLaunchKernel_ptsz,
                 (const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                  cudaStream_t stream),
                 cudaLaunchKernel(kernel, grid, block, arguments, shared, own(stream)))
FERRY_PER_THREAD(__cudaLaunchKernel_ptsz,
                 (cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                  cudaStream_t stream),
                 __cudaLaunchKernel(kernel, grid, block, arguments, shared, own(stream)))
FERRY_PER_THREAD(cudaLaunchCooperativeKernel_ptsz,
                 (const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                  cudaStream_t stream),
                 cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared, own(stream)))

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* kernel,
                                     void** arguments);
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* kernel,
                                     void** arguments) {
  if (config == nullptr) return cudaLaunchKernelExC(config, kernel, arguments);
  cudaLaunchConfig_t same = *config;
  same.stream = own(config->stream);
  return cudaLaunchKernelExC(&same, kernel, arguments);
}

// Functions of the driver: those for such programs.
FERRY_PER_THREAD(cudaGetDriverEntryPoint_ptsz,
                 (const char* symbol, void** function, unsigned long long flags,
                  cudaDriverEntryPointQueryResult* status),
                 cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, own(flags),
                                                  status))
FERRY_PER_THREAD(cudaGetDriverEntryPointByVersion_ptsz,
                 (const char* symbol, void** function, unsigned version, unsigned long long flags,
                  cudaDriverEntryPointQueryResult* status),
                 cudaGetDriverEntryPointByVersion(symbol, function, version, own(flags), status))

}  // extern "C"
#pragma GCC visibility pop
