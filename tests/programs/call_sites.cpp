// SPDX-License-Identifier: Apache-2.0
// One hazard of each kind, from functions that the program exports under their plain names, so that
// the reports can name them. call_sites_test.py compares.
#include "programs/program.hpp"

using ferry::programs::device_memory;
using ferry::programs::kBytes;
using ferry::programs::new_stream;
using ferry::programs::pinned_memory;

// What cuda.h calls by its plain name where CUDA_API_PER_THREAD_DEFAULT_STREAM is defined.
extern "C" CUresult CUDAAPI cuMemsetD8Async_ptsz(CUdeviceptr device, unsigned char value,
                                                 std::size_t bytes, CUstream stream);

#define FERRY_NAMED extern "C" [[gnu::visibility("default"), gnu::noinline]]

FERRY_NAMED void fill_first(CUdeviceptr device, CUstream stream) {
  FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, stream));
}

// A variant of another exported function: the stand-in calls itself on the way.
FERRY_NAMED void fill_again(CUdeviceptr device) {
  FERRY_MUST(cuMemsetD8Async_ptsz(device, 2, kBytes, nullptr));
}

FERRY_NAMED void free_too_early(CUdeviceptr device) {
  FERRY_MUST(cuMemFree(device));
}

FERRY_NAMED void unpin_too_early(void* memory) {
  FERRY_MUST(cuMemFreeHost(memory));
}

FERRY_NAMED void queue_upload(CUdeviceptr device, const void* source, CUstream stream) {
  FERRY_MUST(cuMemcpyHtoDAsync(device, source, kBytes, stream));
}

FERRY_NAMED void use_when_freed(CUdeviceptr device, CUstream stream) {
  FERRY_MUST(cuMemcpyDtoHAsync(pinned_memory(), device, kBytes, stream));
}

CUDA_MEMSET_NODE_PARAMS fill_of(CUdeviceptr device) {
  CUDA_MEMSET_NODE_PARAMS params{};
  params.dst = device;
  params.elementSize = 1;
  params.width = kBytes;
  params.height = 1;
  return params;
}

FERRY_NAMED void add_node(CUgraph graph, CUdeviceptr device) {
  const CUDA_MEMSET_NODE_PARAMS params = fill_of(device);
  CUgraphNode node = nullptr;
  FERRY_MUST(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, nullptr));
}

FERRY_NAMED void add_unordered_node(CUgraph graph, CUdeviceptr device) {
  const CUDA_MEMSET_NODE_PARAMS params = fill_of(device);
  CUgraphNode node = nullptr;
  FERRY_MUST(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, nullptr));
}

FERRY_NAMED void launch_added(CUgraphExec graph, CUstream stream) {
  FERRY_MUST(cuGraphLaunch(graph, stream));
}

FERRY_NAMED void launch_captured(CUgraphExec graph, CUstream stream) {
  FERRY_MUST(cuGraphLaunch(graph, stream));
}

CUgraphExec instantiate(CUgraph graph) {
  CUgraphExec executable = nullptr;
  FERRY_MUST(cuGraphInstantiateWithFlags(&executable, graph, 0));
  return executable;
}

void collide_in_graphs(CUstream stream) {
  CUgraph graph = nullptr;
  const CUdeviceptr device = device_memory();
  FERRY_MUST(cuGraphCreate(&graph, 0));
  add_node(graph, device);
  add_unordered_node(graph, device);
  launch_added(instantiate(graph), stream);
  FERRY_MUST(cuCtxSynchronize());

  FERRY_MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  fill_first(device, stream);
  FERRY_MUST(cuStreamEndCapture(stream, &graph));
  fill_again(device);
  launch_captured(instantiate(graph), stream);
  FERRY_MUST(cuCtxSynchronize());
}

// From go_between.cpp.
extern "C" CUresult go_between_fill(CUdeviceptr device, std::size_t bytes, CUstream stream);
extern "C" void go_between_fill_aside(CUcontext context, CUdeviceptr device, std::size_t bytes,
                                      CUstream stream, CUresult* result);

FERRY_NAMED void ask_the_library(CUdeviceptr device, CUstream stream) {
  FERRY_MUST(go_between_fill(device, kBytes, stream));
}

void collide_in_the_library(CUcontext context, CUstream stream) {
  const CUdeviceptr device = device_memory();
  CUresult aside = CUDA_SUCCESS;
  go_between_fill_aside(context, device, kBytes, stream, &aside);
  FERRY_MUST(aside);
  ask_the_library(device, new_stream());
  FERRY_MUST(cuCtxSynchronize());
}

int main() {
  CUcontext context = nullptr;
  FERRY_MUST(cuInit(0));
  FERRY_MUST(cuDevicePrimaryCtxRetain(&context, 0));
  FERRY_MUST(cuCtxSetCurrent(context));
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();

  fill_first(device, stream);
  fill_again(device);
  FERRY_MUST(cuCtxSynchronize());

  unsigned char* const staging = pinned_memory(1);
  queue_upload(device, staging, stream);
  staging[0] = 2;
  unpin_too_early(staging);
  fill_first(device, stream);
  free_too_early(device);

  CUdeviceptr pooled = 0;
  FERRY_MUST(cuMemAllocAsync(&pooled, kBytes, stream));
  FERRY_MUST(cuMemFreeAsync(pooled, stream));
  use_when_freed(pooled, stream);
  FERRY_MUST(cuCtxSynchronize());
  collide_in_graphs(stream);
  collide_in_the_library(context, stream);
  return 0;
}
