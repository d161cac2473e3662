// SPDX-License-Identifier: Apache-2.0
// What the hazard checker, the model of time and faults make of launches.
#include "sim/machine/graph_launch.hpp"

#include <cstring>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

constexpr std::size_t kBytes = 4096;

class GraphLaunchTest : public SimTest {
 protected:
  void SetUp() override { start("schedule=lazy"); }
  void start(const std::string& settings) {
    restart(settings);
    buffer = allocate(kBytes);
    other = allocate(kBytes);
    a_stream = stream();
    FERRY_OK(cuMemsetD8_v2(buffer, 1, kBytes));
    FERRY_OK(cuMemsetD8_v2(other, 1, kBytes));
    FERRY_OK(cuCtxSynchronize());
  }
  // An executable graph of what `work` queues in the stream.
  template <typename Work>
  CUgraphExec capture(Work&& work) {
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    EXPECT_EQ(cuStreamBeginCapture_v2(a_stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    work();
    EXPECT_EQ(cuStreamEndCapture(a_stream, &graph), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    return executable;
  }
  void launch(CUgraphExec executable) { FERRY_OK(cuGraphLaunch(executable, a_stream)); }

  CUdeviceptr buffer = 0;
  CUdeviceptr other = 0;
  CUstream a_stream = nullptr;
};

TEST_F(GraphLaunchTest, BranchesThatShareBytesAreAHazard) {
  CUgraph graph = nullptr;
  FERRY_OK(cuGraphCreate(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS params{};
  params.dst = buffer;
  params.elementSize = 1;
  params.width = kBytes;
  params.height = 1;
  CUgraphNode one = nullptr;
  CUgraphNode two = nullptr;
  FERRY_OK(cuGraphAddMemsetNode(&one, graph, nullptr, 0, &params, context));
  FERRY_OK(cuGraphAddMemsetNode(&two, graph, nullptr, 0, &params, context));
  CUgraphExec executable = nullptr;
  FERRY_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  launch(executable);
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  FERRY_OK(cuGraphAddDependencies(graph, &one, &two, 1));
  FERRY_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  launch(executable);
  FERRY_OK(cuCtxSynchronize());
}

TEST_F(GraphLaunchTest, AnotherStreamThatDoesNotWaitIsAHazard) {
  const CUgraphExec executable =
      capture([&] { FERRY_OK(cuMemsetD8Async(buffer, 2, kBytes, a_stream)); });
  launch(executable);
  const CUstream unordered = stream();
  FERRY_OK(cuMemcpyDtoDAsync_v2(other, buffer, kBytes, unordered));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  FERRY_OK(cuCtxSynchronize());
}

// By what the program called, not by the function that does the like at once; a change of the
// parameters and a clone leave that.
TEST_F(GraphLaunchTest, AReportNamesTheCallThatAddedOrCapturedTheNode) {
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  CUgraphNode node = nullptr;
  CUDA_MEMSET_NODE_PARAMS params{};
  params.dst = buffer;
  params.elementSize = 1;
  params.width = kBytes;
  params.height = 1;
  FERRY_OK(cuGraphCreate(&graph, 0));
  FERRY_OK(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, context));
  FERRY_OK(cuGraphMemsetNodeSetParams(node, &params));
  FERRY_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  FERRY_OK(cuGraphExecMemsetNodeSetParams(executable, node, &params, context));
  const CUgraphExec captured =
      capture([&] { FERRY_OK(cuMemcpyDtoDAsync_v2(other, buffer, kBytes, a_stream)); });
  testing::internal::CaptureStderr();
  launch(executable);
  FERRY_OK(cuGraphLaunch(captured, stream()));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_NE(printed.find("earlier: cuGraphAddMemsetNode (operation"), std::string::npos) << printed;
  EXPECT_NE(printed.find("later:   cuMemcpyDtoDAsync (operation"), std::string::npos) << printed;
  FERRY_OK(cuCtxSynchronize());
}

TEST_F(GraphLaunchTest, SourcesAreHashedAtTheLaunch) {
  auto* const staging = static_cast<unsigned char*>(allocate_host(kBytes));
  const CUgraphExec executable =
      capture([&] { FERRY_OK(cuMemcpyHtoDAsync_v2(buffer, staging, kBytes, a_stream)); });
  std::memset(staging, 3, kBytes);  // between the capture and the launch: as it should be
  launch(executable);
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(peek(buffer), 0x03030303U);
  launch(executable);
  std::memset(staging, 4, kBytes);  // in flight
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_F(GraphLaunchTest, MemoryThatIsGonePoisonsTheContextWhenItRuns) {
  const CUgraphExec executable =
      capture([&] { FERRY_OK(cuMemsetD8Async(buffer, 2, kBytes, a_stream)); });
  FERRY_OK(cuMemFree_v2(buffer));
  launch(executable);
  EXPECT_EQ(cuStreamSynchronize(a_stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuGraphLaunch(executable, a_stream), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(GraphLaunchTest, ALaunchNeedsItsEvents) {
  const CUevent an_event = event();
  const CUgraphExec executable = capture(
      [&] { FERRY_OK(cuEventRecordWithFlags(an_event, a_stream, CU_EVENT_RECORD_EXTERNAL)); });
  FERRY_OK(cuEventDestroy_v2(an_event));
  EXPECT_EQ(cuGraphLaunch(executable, a_stream), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(GraphLaunchTest, BranchesOverlapInTimeAndChainsDoNot) {
  start("schedule=lazy;profile=a100-pcie4");
  constexpr std::size_t kLarge = 16 * kMiB;
  const CUdeviceptr up = allocate(kLarge);
  const CUdeviceptr down = allocate(kLarge);
  void* const from = allocate_host(kLarge);
  void* const to = allocate_host(kLarge);
  FERRY_OK(cuMemsetD8_v2(down, 1, kLarge));
  FERRY_OK(cuCtxSynchronize());
  const CUstream side = stream();
  const CUevent forked = event();
  const CUevent joined = event();
  const CUevent begin = event(CU_EVENT_DEFAULT);
  const CUevent end = event(CU_EVENT_DEFAULT);
  const auto time_of = [&](CUgraphExec executable) {
    float milliseconds = 0;
    EXPECT_EQ(cuEventRecord(begin, a_stream), CUDA_SUCCESS);
    launch(executable);
    EXPECT_EQ(cuEventRecord(end, a_stream), CUDA_SUCCESS);
    EXPECT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
    EXPECT_EQ(cuEventElapsedTime(&milliseconds, begin, end), CUDA_SUCCESS);
    return milliseconds;
  };
  const float chain = time_of(capture([&] {
    FERRY_OK(cuMemcpyHtoDAsync_v2(up, from, kLarge, a_stream));
    FERRY_OK(cuMemcpyDtoHAsync_v2(to, down, kLarge, a_stream));
  }));
  const float branches = time_of(capture([&] {
    FERRY_OK(cuEventRecord(forked, a_stream));
    FERRY_OK(cuStreamWaitEvent(side, forked, 0));
    FERRY_OK(cuMemcpyHtoDAsync_v2(up, from, kLarge, a_stream));
    FERRY_OK(cuMemcpyDtoHAsync_v2(to, down, kLarge, side));
    FERRY_OK(cuEventRecord(joined, side));
    FERRY_OK(cuStreamWaitEvent(a_stream, joined, 0));
  }));
  EXPECT_GT(chain, 1.0F) << "two copies of 16 MiB, one after the other";
  EXPECT_LT(branches, 0.8F * chain);
}

TEST_F(GraphLaunchTest, ManyLaunchesWithoutAWaitTakeNoMoreAndMore) {
  start("schedule=eager");
  const CUstream side = stream();
  const CUevent forked = event();
  const CUevent joined = event();
  const CUgraphExec executable = capture([&] {
    FERRY_OK(cuEventRecord(forked, a_stream));
    FERRY_OK(cuStreamWaitEvent(side, forked, 0));
    FERRY_OK(cuMemsetD8Async(buffer, 1, kBytes, a_stream));
    FERRY_OK(cuMemsetD8Async(other, 2, kBytes, side));
    FERRY_OK(cuEventRecord(joined, side));
    FERRY_OK(cuStreamWaitEvent(a_stream, joined, 0));
  });
  const auto lanes = [&] {
    LaneNumber next = 0;
    EXPECT_EQ(Library::get().call(Symbol::cuGraphLaunch, Need::initialised,
                                  [&](Call& call) {
                                    next = call.machine.engine.open_lane();
                                    call.machine.engine.close_lane(next);
                                    return CUDA_SUCCESS;
                                  }),
              CUDA_SUCCESS);
    return next;
  };
  launch(executable);
  const LaneNumber first = lanes();
  for (int round = 0; round < 100; ++round) launch(executable);
  EXPECT_EQ(lanes(), first) << "a launch uses the lanes of the one before";
  FERRY_OK(cuStreamSynchronize(a_stream));
}

TEST_F(GraphLaunchTest, AHostFunctionMayRunWhileTheGraphIsDestroyed) {
  start("schedule=eager");
  int calls = 0;
  const CUgraphExec executable = capture([&] {
    FERRY_OK(cuLaunchHostFunc(
        a_stream, [](void* data) { ++*static_cast<int*>(data); }, &calls));
    FERRY_OK(cuMemsetD8Async(buffer, 5, kBytes, a_stream));
  });
  launch(executable);
  FERRY_OK(cuGraphExecDestroy(executable));
  FERRY_OK(cuStreamSynchronize(a_stream));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(peek(buffer), 0x05050505U);
}

}  // namespace
}  // namespace ferry::sim
