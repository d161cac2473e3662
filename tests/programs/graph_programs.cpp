// SPDX-License-Identifier: Apache-2.0
// Programs that capture their work and launch it as graphs; right ones, and ones with a fault each.
#include "programs/program.hpp"

namespace ferry::programs {

namespace {

// What `work` queues in the stream, as a graph to be launched.
template <typename Work>
CUgraphExec capture(CUstream stream, Work&& work) {
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  FERRY_MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  work();
  FERRY_MUST(cuStreamEndCapture(stream, &graph));
  FERRY_MUST(cuGraphInstantiate(&executable, graph, 0));
  FERRY_MUST(cuGraphDestroy(graph));
  return executable;
}

bool a_graph_launched_again_and_again() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const from = pinned_memory();
  unsigned char* const to = pinned_memory();
  const CUgraphExec graph = capture(stream, [&] {
    FERRY_MUST(cuMemcpyHtoDAsync(device, from, kBytes, stream));
    FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, stream));
  });
  for (int round = 1; round <= 5; ++round) {
    std::fill_n(from, kBytes, static_cast<unsigned char>(round));
    FERRY_MUST(cuGraphLaunch(graph, stream));
    FERRY_MUST(cuStreamSynchronize(stream));
    if (!all_are(to, round)) return false;
  }
  return true;
}

bool a_graph_with_two_branches() {
  const CUstream stream = new_stream();
  const CUstream side = new_stream();
  const CUdeviceptr left = device_memory();
  const CUdeviceptr right = device_memory();
  unsigned char* const to = pinned_memory();
  const CUgraphExec graph = capture(stream, [&] {
    FERRY_MUST(cuMemsetD8Async(left, 1, kBytes, stream));
    order(stream, side);
    FERRY_MUST(cuMemcpyDtoDAsync(right, left, kBytes, side));
    FERRY_MUST(cuMemcpyDtoHAsync(to, left, kBytes, stream));
    order(side, stream);
    FERRY_MUST(cuMemcpyDtoHAsync(to, right, kBytes, stream));
  });
  for (int round = 0; round < 3; ++round) FERRY_MUST(cuGraphLaunch(graph, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  return all_are(to, 1);
}

bool a_graph_between_the_work_of_its_stream() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  const CUgraphExec graph =
      capture(stream, [&] { FERRY_MUST(cuMemsetD8Async(device, 2, kBytes, stream)); });
  FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, stream));
  FERRY_MUST(cuGraphLaunch(graph, stream));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  return all_are(to, 2);
}

bool one_graph_in_two_streams() {
  const CUstream first = new_stream();
  const CUstream second = new_stream();
  const CUdeviceptr device = device_memory();
  const CUgraphExec graph =
      capture(first, [&] { FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, first)); });
  FERRY_MUST(cuGraphLaunch(graph, first));
  FERRY_MUST(cuGraphLaunch(graph, second));
  return device_holds(device, 1);
}

bool a_graph_destroyed_in_flight() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  const CUgraphExec graph =
      capture(stream, [&] { FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, stream)); });
  FERRY_MUST(cuGraphLaunch(graph, stream));
  FERRY_MUST(cuGraphExecDestroy(graph));
  return device_holds(device, 1);
}

bool a_host_function_that_fills_the_source() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const staging = pinned_memory();
  const CUgraphExec graph = capture(stream, [&] {
    FERRY_MUST(cuLaunchHostFunc(
        stream,
        [](void* data) {
          std::fill_n(static_cast<unsigned char*>(data), kBytes, static_cast<unsigned char>(1));
        },
        staging));
    FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, stream));
  });
  FERRY_MUST(cuGraphLaunch(graph, stream));
  return device_holds(device, 1);
}

constexpr Program kCorrect[] = {
    {"a_graph_launched_again_and_again", a_graph_launched_again_and_again},
    {"a_graph_with_two_branches", a_graph_with_two_branches},
    {"a_graph_between_the_work_of_its_stream", a_graph_between_the_work_of_its_stream},
    {"one_graph_in_two_streams", one_graph_in_two_streams},
    {"a_graph_destroyed_in_flight", a_graph_destroyed_in_flight},
    {"a_host_function_that_fills_the_source", a_host_function_that_fills_the_source},
};

bool branches_that_share_memory() {
  const CUstream stream = new_stream();
  const CUstream side = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  const CUgraphExec graph = capture(stream, [&] {
    order(stream, side);
    FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, stream));
    FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, side));
    order(side, stream);
  });
  FERRY_MUST(cuGraphLaunch(graph, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  return all_are(to, 1);
}

bool a_source_rewritten_after_the_launch() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const staging = pinned_memory();
  const CUgraphExec graph =
      capture(stream, [&] { FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, stream)); });
  std::fill_n(staging, kBytes, static_cast<unsigned char>(1));
  FERRY_MUST(cuGraphLaunch(graph, stream));
  std::fill_n(staging, kBytes, static_cast<unsigned char>(2));
  return device_holds(device, 1);
}

bool a_launch_read_by_another_stream() {
  const CUstream stream = new_stream();
  const CUstream reader = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  const CUgraphExec graph =
      capture(stream, [&] { FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, stream)); });
  FERRY_MUST(cuGraphLaunch(graph, stream));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, reader));
  FERRY_MUST(cuStreamSynchronize(reader));
  return all_are(to, 1);
}

bool a_result_of_a_graph_read_too_early() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  const CUgraphExec graph = capture(stream, [&] {
    FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, stream));
    FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, stream));
  });
  FERRY_MUST(cuGraphLaunch(graph, stream));
  return all_are(to, 1);
}

bool memory_of_a_graph_freed_in_flight() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  const CUgraphExec graph =
      capture(stream, [&] { FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, stream)); });
  FERRY_MUST(cuGraphLaunch(graph, stream));
  FERRY_MUST(cuMemFree(device));
  return true;
}

bool two_graphs_that_share_memory() {
  const CUstream first = new_stream();
  const CUstream second = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  const CUgraphExec write =
      capture(first, [&] { FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, first)); });
  const CUgraphExec read =
      capture(second, [&] { FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, second)); });
  FERRY_MUST(cuGraphLaunch(write, first));
  FERRY_MUST(cuGraphLaunch(read, second));
  FERRY_MUST(cuStreamSynchronize(second));
  return all_are(to, 1);
}

// The batch is refused, and the program does not look.
bool a_batch_that_the_capture_drops() {
  const CUstream stream = new_stream();
  CUdeviceptr to = device_memory();
  CUdeviceptr from = device_memory();
  std::size_t size = kBytes;
  std::size_t first = 0;
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  const CUgraphExec graph = capture(stream, [&] {
    FERRY_MUST(cuMemsetD8Async(from, 1, kBytes, stream));
    static_cast<void>(cuMemcpyBatchAsync(&to, &from, &size, 1, &attributes, &first, 1, stream));
  });
  FERRY_MUST(cuGraphLaunch(graph, stream));
  return device_holds(to, 1);
}

constexpr Program kFaulty[] = {
    {"branches_that_share_memory", branches_that_share_memory},
    {"a_source_rewritten_after_the_launch", a_source_rewritten_after_the_launch},
    {"a_launch_read_by_another_stream", a_launch_read_by_another_stream},
    {"a_result_of_a_graph_read_too_early", a_result_of_a_graph_read_too_early},
    {"memory_of_a_graph_freed_in_flight", memory_of_a_graph_freed_in_flight},
    {"two_graphs_that_share_memory", two_graphs_that_share_memory},
    {"a_batch_that_the_capture_drops", a_batch_that_the_capture_drops},
};

}  // namespace

std::span<const Program> correct_graphs() {
  return kCorrect;
}

std::span<const Program> faulty_graphs() {
  return kFaulty;
}

}  // namespace ferry::programs
