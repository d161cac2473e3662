// SPDX-License-Identifier: Apache-2.0
// Captures: what becomes a node, and what the graph does when it is launched.
#include "conformance/capture_fixture.hpp"

namespace ferry::conformance {
namespace {

constexpr std::size_t kBytes = 4096;

TEST_F(Capture, NothingRunsBeforeTheLaunch) {
  const StreamOwner stream;
  const DeviceBuffer buffer(kBytes);
  PinnedBuffer to(kBytes);
  to.fill(1);
  Captured captured;
  begin(stream.handle);
  fill(buffer, 7, stream.handle);
  fetch(to, buffer, stream.handle);
  captured.end(stream.handle);
  FERRY_OK(cuda().cuCtxSynchronize());
  EXPECT_TRUE(to.holds(1));
  captured.launch(stream.handle);
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(7));
}

TEST_F(Capture, EachLaunchReadsWhatIsThereThen) {
  const StreamOwner stream;
  const DeviceBuffer buffer(kBytes);
  PinnedBuffer from(kBytes);
  const PinnedBuffer to(kBytes);
  Captured captured;
  begin(stream.handle);
  FERRY_OK(cuda().cuMemcpyHtoDAsync_v2(buffer.address, from.pointer, kBytes, stream.handle));
  fetch(to, buffer, stream.handle);
  captured.end(stream.handle);
  for (int round = 1; round <= 8; ++round) {
    from.fill(round);
    captured.launch(stream.handle);
    FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
    ASSERT_TRUE(to.holds(round)) << "round " << round;
  }
}

TEST_F(Capture, ALaunchComesAfterItsStreamAndBeforeWhatFollows) {
  const StreamOwner capturing;
  const StreamOwner stream;
  const DeviceBuffer buffer(kBytes);
  const DeviceBuffer copy(kBytes);
  const PinnedBuffer to(kBytes);
  Captured captured;
  begin(capturing.handle);
  FERRY_OK(cuda().cuMemcpyDtoDAsync_v2(copy.address, buffer.address, kBytes, capturing.handle));
  captured.end(capturing.handle);
  for (int round = 1; round <= 16; ++round) {
    fill(buffer, round, stream.handle);
    captured.launch(stream.handle);
    fetch(to, copy, stream.handle);
    fill(buffer, 0, stream.handle);
    FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
    ASSERT_TRUE(to.holds(round)) << "round " << round;
  }
}

TEST_F(Capture, LaunchesOfOneGraphAreInOrderAcrossStreams) {
  const StreamOwner first;
  const StreamOwner second;
  const DeviceBuffer buffer(kBytes);
  PinnedBuffer from(kBytes);
  Captured captured;
  from.fill(3);
  begin(first.handle);
  FERRY_OK(cuda().cuMemcpyHtoDAsync_v2(buffer.address, from.pointer, kBytes, first.handle));
  captured.end(first.handle);
  for (int round = 0; round < 8; ++round) {
    captured.launch(first.handle);
    captured.launch(second.handle);  // no hazard: it waits for the first
  }
  FERRY_OK(cuda().cuStreamSynchronize(second.handle));
  const PinnedBuffer to(kBytes);
  FERRY_OK(cuda().cuMemcpyDtoH_v2(to.pointer, buffer.address, kBytes));
  EXPECT_TRUE(to.holds(3));
}

TEST_F(Capture, ALaunchComesAfterWhatTheGraphsEarlierLaunchWaitedFor) {
  const StreamOwner first;
  const StreamOwner second;
  const DeviceBuffer source(kBytes);
  const DeviceBuffer copy(kBytes);
  const PinnedBuffer to(kBytes);
  Captured captured;
  begin(first.handle);
  FERRY_OK(cuda().cuMemcpyDtoDAsync_v2(copy.address, source.address, kBytes, first.handle));
  captured.end(first.handle);
  for (int round = 1; round <= 16; ++round) {
    fill(source, round, first.handle);
    captured.launch(first.handle);
    captured.launch(second.handle);  // after the first launch, and so after the fill
    fetch(to, copy, second.handle);
    FERRY_OK(cuda().cuStreamSynchronize(second.handle));
    ASSERT_TRUE(to.holds(round)) << "round " << round;
  }
  FERRY_OK(cuda().cuCtxSynchronize());
}

TEST_F(Capture, EventsForkAndJoinStreams) {
  const StreamOwner origin;
  const StreamOwner side;
  const EventOwner forked;
  const EventOwner joined;
  const DeviceBuffer left(kBytes);
  const DeviceBuffer right(kBytes);
  const PinnedBuffer to_left(kBytes);
  const PinnedBuffer to_right(kBytes);
  Captured captured;
  begin(origin.handle);
  fill(left, 5, origin.handle);
  FERRY_OK(cuda().cuEventRecord(forked.handle, origin.handle));
  FERRY_OK(cuda().cuStreamWaitEvent(side.handle, forked.handle, 0));
  EXPECT_EQ(status_of(side.handle), CU_STREAM_CAPTURE_STATUS_ACTIVE) << "the wait brought it in";
  FERRY_OK(cuda().cuMemcpyDtoDAsync_v2(right.address, left.address, kBytes, side.handle));
  fetch(to_left, left, origin.handle);
  FERRY_OK(cuda().cuEventRecord(joined.handle, side.handle));
  FERRY_OK(cuda().cuStreamWaitEvent(origin.handle, joined.handle, 0));
  fetch(to_right, right, origin.handle);
  captured.end(origin.handle);
  EXPECT_EQ(status_of(side.handle), CU_STREAM_CAPTURE_STATUS_NONE) << "it ended for both";
  EXPECT_EQ(captured.nodes(), 4U);
  std::size_t edges = 0;
  FERRY_OK(cuda().cuGraphGetEdges(captured.graph, nullptr, nullptr, &edges));
  EXPECT_EQ(edges, 4U);
  for (int round = 0; round < 8; ++round) {
    captured.launch(origin.handle);
    FERRY_OK(cuda().cuStreamSynchronize(origin.handle));
    ASSERT_TRUE(to_left.holds(5) && to_right.holds(5)) << "round " << round;
  }
}

TEST_F(Capture, HostFunctionsAreCaptured) {
  const StreamOwner stream;
  int calls = 0;
  Captured captured;
  begin(stream.handle);
  FERRY_OK(cuda().cuLaunchHostFunc(
      stream.handle, [](void* data) { ++*static_cast<int*>(data); }, &calls));
  captured.end(stream.handle);
  EXPECT_EQ(calls, 0);
  for (int round = 1; round <= 3; ++round) {
    captured.launch(stream.handle);
    FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
    EXPECT_EQ(calls, round);
  }
}

TEST_F(Capture, TellsWhatItIs) {
  const StreamOwner stream;
  const StreamOwner other;
  const DeviceBuffer buffer(kBytes);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;
  CUgraph graph = nullptr;
  const CUgraphNode* nodes = nullptr;
  std::size_t count = 99;
  begin(stream.handle);
  FERRY_OK(cuda().cuStreamGetCaptureInfo_v2(stream.handle, &status, &id, &graph, &nodes, &count));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_NE(graph, nullptr);
  EXPECT_EQ(count, 0U);
  fill(buffer, 1, stream.handle);
  FERRY_OK(
      cuda().cuStreamGetCaptureInfo_v2(stream.handle, &status, nullptr, nullptr, &nodes, &count));
  ASSERT_EQ(count, 1U);
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  FERRY_OK(cuda().cuGraphNodeGetType(nodes[0], &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEMSET);
  CUgraph ended = nullptr;
  FERRY_OK(cuda().cuStreamEndCapture(stream.handle, &ended));
  EXPECT_EQ(ended, graph);
  FERRY_OK(cuda().cuGraphDestroy(ended));
  begin(stream.handle);
  cuuint64_t next = 0;
  FERRY_OK(cuda().cuStreamGetCaptureInfo(stream.handle, &status, &next));
  EXPECT_NE(next, id) << "unique over the lifetime of the process";
  FERRY_OK(cuda().cuStreamGetCaptureInfo(other.handle, &status, nullptr));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  expect_valid(stream.handle);
}

TEST_F(Capture, DependenciesCanBeReplaced) {
  const StreamOwner stream;
  const DeviceBuffer first(kBytes);
  const DeviceBuffer second(kBytes);
  EXPECT_EQ(cuda().cuStreamUpdateCaptureDependencies(stream.handle, nullptr, 0, 0),
            CUDA_ERROR_ILLEGAL_STATE);
  begin(stream.handle);
  fill(first, 1, stream.handle);
  FERRY_OK(cuda().cuStreamUpdateCaptureDependencies(stream.handle, nullptr, 0,
                                                    CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  fill(second, 2, stream.handle);
  CUgraph graph = nullptr;
  FERRY_OK(cuda().cuStreamEndCapture(stream.handle, &graph));
  std::size_t roots = 0;
  FERRY_OK(cuda().cuGraphGetRootNodes(graph, nullptr, &roots));
  EXPECT_EQ(roots, 2U);
  FERRY_OK(cuda().cuGraphDestroy(graph));
}

TEST_F(Capture, CanGoOnAGraphThatIsThere) {
  const StreamOwner stream;
  const DeviceBuffer buffer(kBytes);
  CUgraph graph = nullptr;
  CUgraphNode empty = nullptr;
  FERRY_OK(cuda().cuGraphCreate(&graph, 0));
  FERRY_OK(cuda().cuGraphAddEmptyNode(&empty, graph, nullptr, 0));
  FERRY_OK(cuda().cuStreamBeginCaptureToGraph(stream.handle, graph, &empty, nullptr, 1,
                                              CU_STREAM_CAPTURE_MODE_GLOBAL));
  fill(buffer, 1, stream.handle);
  CUgraph ended = nullptr;
  FERRY_OK(cuda().cuStreamEndCapture(stream.handle, &ended));
  EXPECT_EQ(ended, graph);
  CUgraphNode after = nullptr;
  std::size_t count = 1;
  FERRY_OK(cuda().cuGraphNodeGetDependentNodes(empty, &after, &count));
  ASSERT_EQ(count, 1U);
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  FERRY_OK(cuda().cuGraphNodeGetType(after, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEMSET);
  FERRY_OK(cuda().cuGraphDestroy(graph));
}

TEST_F(Capture, ExternalEventsAreRecordedByTheLaunch) {
  const StreamOwner stream;
  const StreamOwner waiting;
  const EventOwner event;
  const DeviceBuffer buffer(kBytes);
  const PinnedBuffer to(kBytes);
  EXPECT_EQ(cuda().cuEventRecordWithFlags(event.handle, stream.handle, CU_EVENT_RECORD_EXTERNAL),
            CUDA_ERROR_INVALID_VALUE)
      << "outside a capture";
  Captured captured;
  begin(stream.handle);
  fill(buffer, 6, stream.handle);
  FERRY_OK(cuda().cuEventRecordWithFlags(event.handle, stream.handle, CU_EVENT_RECORD_EXTERNAL));
  captured.end(stream.handle);
  EXPECT_EQ(captured.nodes(), 2U);
  captured.launch(stream.handle);
  FERRY_OK(cuda().cuStreamWaitEvent(waiting.handle, event.handle, 0));
  fetch(to, buffer, waiting.handle);
  FERRY_OK(cuda().cuStreamSynchronize(waiting.handle));
  EXPECT_TRUE(to.holds(6));
}

TEST_F(Capture, ALaunchInItIsANodeWithTheWholeGraph) {
  const StreamOwner stream;
  const DeviceBuffer buffer(kBytes);
  const PinnedBuffer to(kBytes);
  Captured inner;
  begin(stream.handle);
  fill(buffer, 8, stream.handle);
  inner.end(stream.handle);
  Captured outer;
  begin(stream.handle);
  inner.launch(stream.handle);
  fetch(to, buffer, stream.handle);
  outer.end(stream.handle);
  EXPECT_EQ(outer.nodes(), 2U);
  outer.launch(stream.handle);
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(8));
}

}  // namespace
}  // namespace ferry::conformance
