// SPDX-License-Identifier: Apache-2.0
// Captures: what they do not allow, and what is answered then.
#include <array>
#include <thread>

#include "conformance/capture_fixture.hpp"

namespace ferry::conformance {
namespace {

constexpr std::size_t kBytes = 4096;

using CaptureRules = Capture;

TEST_F(CaptureRules, CannotBeginOnTheDefaultStreamNorTwice) {
  EXPECT_NE(cuda().cuStreamBeginCapture_v2(nullptr, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_NE(cuda().cuStreamBeginCapture_v2(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_SUCCESS);
  const StreamOwner stream;
  begin(stream.handle);
  EXPECT_NE(cuda().cuStreamBeginCapture_v2(stream.handle, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_SUCCESS);
  expect_valid(stream.handle);
  CUgraph graph = nullptr;
  EXPECT_NE(cuda().cuStreamEndCapture(stream.handle, &graph), CUDA_SUCCESS) << "it has ended";
}

TEST_F(CaptureRules, StreamsInItCannotBeAskedNorWaitedFor) {
  const StreamOwner stream;
  begin(stream.handle, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(cuda().cuStreamSynchronize(stream.handle), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_invalid(stream.handle);
  begin(stream.handle, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(cuda().cuStreamQuery(stream.handle), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_invalid(stream.handle);
  begin(stream.handle, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(cuda().cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_invalid(stream.handle);
}

TEST_F(CaptureRules, OnceInvalidNothingGoesOnInIt) {
  const StreamOwner stream;
  const EventOwner event;
  const DeviceBuffer buffer(kBytes);
  begin(stream.handle, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(cuda().cuStreamSynchronize(stream.handle), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cuda().cuMemsetD8Async(buffer.address, 1, kBytes, stream.handle),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuda().cuEventRecord(event.handle, stream.handle),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  expect_invalid(stream.handle);
}

TEST_F(CaptureRules, EventsInItCannotBeAskedNorWaitedFor) {
  const StreamOwner stream;
  const EventOwner event;
  begin(stream.handle);
  FERRY_OK(cuda().cuEventRecord(event.handle, stream.handle));
  EXPECT_EQ(cuda().cuEventQuery(event.handle), CUDA_ERROR_CAPTURED_EVENT);
  expect_invalid(stream.handle);
  begin(stream.handle);
  FERRY_OK(cuda().cuEventRecord(event.handle, stream.handle));
  EXPECT_EQ(cuda().cuEventSynchronize(event.handle), CUDA_ERROR_CAPTURED_EVENT);
  expect_invalid(stream.handle);
  FERRY_OK(cuda().cuEventRecord(event.handle, stream.handle));
  FERRY_OK(cuda().cuEventSynchronize(event.handle));
}

TEST_F(CaptureRules, CannotComeAfterWorkOutsideIt) {
  const StreamOwner stream;
  const StreamOwner outside;
  const EventOwner event;
  const EventOwner never_recorded;
  FERRY_OK(cuda().cuEventRecord(event.handle, outside.handle));
  begin(stream.handle);
  FERRY_OK(cuda().cuStreamWaitEvent(stream.handle, never_recorded.handle, 0));
  EXPECT_EQ(cuda().cuStreamWaitEvent(stream.handle, event.handle, 0),
            CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  expect_invalid(stream.handle);
}

TEST_F(CaptureRules, TwoCannotBecomeOne) {
  const StreamOwner first;
  const StreamOwner second;
  const EventOwner event;
  begin(first.handle);
  begin(second.handle);
  FERRY_OK(cuda().cuEventRecord(event.handle, first.handle));
  EXPECT_EQ(cuda().cuStreamWaitEvent(second.handle, event.handle, 0),
            CUDA_ERROR_STREAM_CAPTURE_MERGE);
  expect_invalid(second.handle);
  CUgraph graph = nullptr;
  EXPECT_NE(cuda().cuStreamEndCapture(first.handle, &graph), CUDA_SUCCESS);
  EXPECT_EQ(graph, nullptr);
}

TEST_F(CaptureRules, EndsWhereItBegan) {
  const StreamOwner origin;
  const StreamOwner side;
  const EventOwner forked;
  const DeviceBuffer buffer(kBytes);
  begin(origin.handle);
  FERRY_OK(cuda().cuEventRecord(forked.handle, origin.handle));
  FERRY_OK(cuda().cuStreamWaitEvent(side.handle, forked.handle, 0));
  fill(buffer, 1, side.handle);
  CUgraph graph = nullptr;
  EXPECT_EQ(cuda().cuStreamEndCapture(side.handle, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  EXPECT_EQ(graph, nullptr);
  EXPECT_NE(cuda().cuStreamEndCapture(origin.handle, &graph), CUDA_SUCCESS);
}

TEST_F(CaptureRules, ForkedStreamsMustBeJoined) {
  const StreamOwner origin;
  const StreamOwner side;
  const EventOwner forked;
  const DeviceBuffer buffer(kBytes);
  begin(origin.handle);
  FERRY_OK(cuda().cuEventRecord(forked.handle, origin.handle));
  FERRY_OK(cuda().cuStreamWaitEvent(side.handle, forked.handle, 0));
  fill(buffer, 1, side.handle);
  CUgraph graph = reinterpret_cast<CUgraph>(1);
  EXPECT_EQ(cuda().cuStreamEndCapture(origin.handle, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(status_of(side.handle), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(CaptureRules, AForkedStreamMayGoOnceItIsJoined) {
  const StreamOwner origin;
  const EventOwner forked;
  const EventOwner joined;
  const DeviceBuffer buffer(kBytes);
  const PinnedBuffer to(kBytes);
  Captured captured;
  begin(origin.handle);
  FERRY_OK(cuda().cuEventRecord(forked.handle, origin.handle));
  {
    const StreamOwner side;
    FERRY_OK(cuda().cuStreamWaitEvent(side.handle, forked.handle, 0));
    fill(buffer, 7, side.handle);
    FERRY_OK(cuda().cuEventRecord(joined.handle, side.handle));
    FERRY_OK(cuda().cuStreamWaitEvent(origin.handle, joined.handle, 0));
  }
  EXPECT_EQ(status_of(origin.handle), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  fetch(to, buffer, origin.handle);
  captured.end(origin.handle);
  captured.launch(origin.handle);
  FERRY_OK(cuda().cuStreamSynchronize(origin.handle));
  EXPECT_TRUE(to.holds(7));
}

TEST_F(CaptureRules, TheWorkOfAStreamThatIsGoneMustBeJoinedToo) {
  const StreamOwner origin;
  const EventOwner forked;
  const DeviceBuffer buffer(kBytes);
  begin(origin.handle);
  FERRY_OK(cuda().cuEventRecord(forked.handle, origin.handle));
  {
    const StreamOwner side;
    FERRY_OK(cuda().cuStreamWaitEvent(side.handle, forked.handle, 0));
    fill(buffer, 7, side.handle);
  }
  CUgraph graph = reinterpret_cast<CUgraph>(1);
  EXPECT_EQ(cuda().cuStreamEndCapture(origin.handle, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(graph, nullptr);
}

TEST_F(CaptureRules, NodesThatTheProgramLetGoNeedNotBeJoined) {
  const StreamOwner origin;
  const StreamOwner side;
  const EventOwner forked;
  const EventOwner joined;
  const DeviceBuffer buffer(kBytes);
  CUgraph graph = nullptr;
  begin(origin.handle);
  FERRY_OK(cuda().cuEventRecord(forked.handle, origin.handle));
  FERRY_OK(cuda().cuStreamWaitEvent(side.handle, forked.handle, 0));
  fill(buffer, 1, side.handle);
  FERRY_OK(cuda().cuEventRecord(joined.handle, side.handle));
  FERRY_OK(cuda().cuStreamWaitEvent(origin.handle, joined.handle, 0));
  FERRY_OK(cuda().cuStreamUpdateCaptureDependencies(origin.handle, nullptr, 0,
                                                    CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  EXPECT_EQ(cuda().cuStreamEndCapture(origin.handle, &graph), CUDA_SUCCESS);
  FERRY_OK(cuda().cuGraphDestroy(graph));
}

TEST_F(CaptureRules, EndsInItsThreadUnlessRelaxed) {
  const StreamOwner stream;
  CUgraph graph = nullptr;
  const auto end_elsewhere = [&] {
    CUresult result = CUDA_SUCCESS;
    std::thread([&] {
      EXPECT_EQ(cuda().cuCtxSetCurrent(context), CUDA_SUCCESS);
      result = cuda().cuStreamEndCapture(stream.handle, &graph);
    }).join();
    return result;
  };
  begin(stream.handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(end_elsewhere(), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  static_cast<void>(cuda().cuStreamEndCapture(stream.handle, &graph));
  if (graph != nullptr) {
    FERRY_OK(cuda().cuGraphDestroy(graph));
  }
  begin(stream.handle, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(end_elsewhere(), CUDA_SUCCESS);
  FERRY_OK(cuda().cuGraphDestroy(graph));
}

TEST_F(CaptureRules, TheDefaultStreamMayNotDependOnIt) {
  const StreamOwner blocking(CU_STREAM_DEFAULT);
  const DeviceBuffer buffer(kBytes);
  begin(blocking.handle, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(cuda().cuMemsetD8Async(buffer.address, 1, kBytes, nullptr),
            CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  expect_invalid(blocking.handle);
  begin(blocking.handle, CU_STREAM_CAPTURE_MODE_RELAXED);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  EXPECT_EQ(cuda().cuStreamIsCapturing(nullptr, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  expect_valid(blocking.handle);
  const StreamOwner other;
  begin(other.handle, CU_STREAM_CAPTURE_MODE_RELAXED);
  FERRY_OK(cuda().cuMemsetD8Async(buffer.address, 1, kBytes, nullptr));
  expect_valid(other.handle);
  FERRY_OK(cuda().cuCtxSynchronize());
}

TEST_F(CaptureRules, KeepsThreadsFromUnsafeCallsAsItsModeSays) {
  const StreamOwner stream;
  CUdeviceptr address = 0;
  const auto allocate = [&] {
    const CUresult result = cuda().cuMemAlloc_v2(&address, kBytes);
    if (result == CUDA_SUCCESS) {
      EXPECT_EQ(cuda().cuMemFree_v2(address), CUDA_SUCCESS);
    }
    return result;
  };
  const auto allocate_elsewhere = [&] {
    CUresult result = CUDA_SUCCESS;
    std::thread([&] {
      EXPECT_EQ(cuda().cuCtxSetCurrent(context), CUDA_SUCCESS);
      result = allocate();
    }).join();
    return result;
  };
  begin(stream.handle, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(allocate(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_invalid(stream.handle);
  begin(stream.handle, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(allocate_elsewhere(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_invalid(stream.handle);
  begin(stream.handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(allocate_elsewhere(), CUDA_SUCCESS);
  EXPECT_EQ(allocate(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_invalid(stream.handle);
  begin(stream.handle, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(allocate_elsewhere(), CUDA_SUCCESS);
  EXPECT_EQ(allocate(), CUDA_SUCCESS);
  expect_valid(stream.handle);
}

TEST_F(CaptureRules, AThreadsModeIsExchanged) {
  const StreamOwner stream;
  CUdeviceptr address = 0;
  begin(stream.handle, CU_STREAM_CAPTURE_MODE_GLOBAL);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  FERRY_OK(cuda().cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  FERRY_OK(cuda().cuMemAlloc_v2(&address, kBytes));
  FERRY_OK(cuda().cuMemFree_v2(address));
  FERRY_OK(cuda().cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
  expect_valid(stream.handle);
}

TEST_F(CaptureRules, OrdersOfAWholeContextAreRefused) {
  if (cuda().cuCtxRecordEvent == nullptr) GTEST_SKIP() << "the driver has no cuCtxRecordEvent";
  const StreamOwner stream;
  const EventOwner event;
  begin(stream.handle, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(cuda().cuCtxRecordEvent(context, event.handle), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_invalid(stream.handle);
}

TEST_F(CaptureRules, ABatchCopyIsRefusedAndMissing) {
  if (cuda().cuMemcpyBatchAsync_v2 == nullptr) GTEST_SKIP() << "the driver has no batches";
  const StreamOwner stream;
  const DeviceBuffer buffer(kBytes);
  const DeviceBuffer other(kBytes);
  std::array<CUdeviceptr, 1> to{buffer.address};
  std::array<CUdeviceptr, 1> from{other.address};
  std::array<std::size_t, 1> sizes{kBytes};
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  std::size_t first = 0;
  begin(stream.handle);
  EXPECT_EQ(cuda().cuMemcpyBatchAsync_v2(to.data(), from.data(), sizes.data(), 1, &attributes,
                                         &first, 1, stream.handle),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  Captured captured;
  captured.end(stream.handle);
  EXPECT_EQ(captured.nodes(), 0U);
}

}  // namespace
}  // namespace ferry::conformance
