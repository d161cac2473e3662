// SPDX-License-Identifier: Apache-2.0
// What the tests of captures share.
#pragma once

#include "conformance/fixture.hpp"

namespace ferry::conformance {

// A graph that a test got from a capture, and what it does when it is launched.
class Captured {
 public:
  Captured() = default;
  ~Captured() {
    if (executable != nullptr) {
      EXPECT_EQ(cuda().cuGraphExecDestroy(executable), CUDA_SUCCESS);
    }
    if (graph != nullptr) {
      EXPECT_EQ(cuda().cuGraphDestroy(graph), CUDA_SUCCESS);
    }
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  void end(CUstream stream) {
    FERRY_OK(cuda().cuStreamEndCapture(stream, &graph));
    ASSERT_NE(graph, nullptr);
    FERRY_OK(cuda().cuGraphInstantiateWithFlags(&executable, graph, 0));
  }
  void launch(CUstream stream) const { FERRY_OK(cuda().cuGraphLaunch(executable, stream)); }
  [[nodiscard]] std::size_t nodes() const {
    std::size_t count = 0;
    EXPECT_EQ(cuda().cuGraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
    return count;
  }

  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
};

class Capture : public WithContext {
 protected:
  static void begin(CUstream stream, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    FERRY_OK(cuda().cuStreamBeginCapture_v2(stream, mode));
  }
  static void fill(const DeviceBuffer& buffer, int value, CUstream stream) {
    FERRY_OK(cuda().cuMemsetD8Async(buffer.address, static_cast<unsigned char>(value), buffer.bytes,
                                    stream));
  }
  static void fetch(const PinnedBuffer& to, const DeviceBuffer& buffer, CUstream stream) {
    FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, buffer.address, to.bytes, stream));
  }
  static CUstreamCaptureStatus status_of(CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    EXPECT_EQ(cuda().cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
    return status;
  }
  // The capture is invalid, says so, and is over afterwards.
  static void expect_invalid(CUstream stream) {
    EXPECT_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    CUgraph graph = reinterpret_cast<CUgraph>(1);
    EXPECT_EQ(cuda().cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_NONE);
  }
  // The capture is still good.
  static void expect_valid(CUstream stream) {
    EXPECT_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CUgraph graph = nullptr;
    FERRY_OK(cuda().cuStreamEndCapture(stream, &graph));
    FERRY_OK(cuda().cuGraphDestroy(graph));
  }
};

}  // namespace ferry::conformance
