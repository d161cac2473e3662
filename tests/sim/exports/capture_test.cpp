// SPDX-License-Identifier: Apache-2.0
// Arguments and variants of the calls on captures; what they mean is the conformance suite's.
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsCaptureTest : public SimTest {
 protected:
  static void destroy(CUgraph graph) { EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS); }
};

TEST_F(ExportsCaptureTest, TheFirstVariantCapturesGlobally) {
  const CUstream a_stream = stream();
  CUdeviceptr address = 0;
  CUgraph graph = nullptr;
  FERRY_OK(cuStreamBeginCapture(a_stream));
  EXPECT_EQ(cuMemAlloc_v2(&address, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cuStreamEndCapture(a_stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(ExportsCaptureTest, PerThreadVariantsCaptureTheThreadsStream) {
  CUgraph graph = nullptr;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  FERRY_OK(cuStreamBeginCapture_v2_ptsz(nullptr, CU_STREAM_CAPTURE_MODE_RELAXED));
  FERRY_OK(cuStreamGetCaptureInfo_ptsz(nullptr, &status, nullptr));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  FERRY_OK(cuStreamIsCapturing(CU_STREAM_PER_THREAD, &status));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  FERRY_OK(cuStreamEndCapture_ptsz(nullptr, &graph));
  destroy(graph);
}

TEST_F(ExportsCaptureTest, WrongArgumentsAreRefused) {
  const CUstream a_stream = stream();
  CUgraph graph = nullptr;
  EXPECT_EQ(cuStreamBeginCapture_v2(a_stream, static_cast<CUstreamCaptureMode>(3)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamIsCapturing(a_stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  auto mode = static_cast<CUstreamCaptureMode>(3);
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(nullptr), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuStreamBeginCapture_v2(a_stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(cuStreamEndCapture(a_stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUgraphNode no_node = reinterpret_cast<CUgraphNode>(16);
  EXPECT_EQ(cuStreamUpdateCaptureDependencies(a_stream, &no_node, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamUpdateCaptureDependencies(a_stream, nullptr, 0, 2), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuStreamEndCapture(a_stream, &graph));
  destroy(graph);
}

TEST_F(ExportsCaptureTest, EdgeDataIsZerosAndNothingElseIsTaken) {
  const CUstream a_stream = stream();
  const CUdeviceptr device = allocate(64);
  FERRY_OK(cuStreamBeginCapture_v2(a_stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  FERRY_OK(cuMemsetD8Async(device, 0, 64, a_stream));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  EXPECT_EQ(cuStreamGetCaptureInfo_v3(a_stream, &status, nullptr, nullptr, nullptr, &edges, &count),
            CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuStreamGetCaptureInfo_v3(a_stream, &status, nullptr, nullptr, &nodes, &edges, &count));
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(edges[0].type, 0);
  CUgraphNode node = nodes[0];
  CUgraphEdgeData programmatic{};
  programmatic.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  EXPECT_EQ(cuStreamUpdateCaptureDependencies_v2(a_stream, &node, &programmatic, 1, 0),
            CUDA_ERROR_NOT_SUPPORTED);
  CUgraph graph = nullptr;
  FERRY_OK(cuStreamEndCapture(a_stream, &graph));
  destroy(graph);
}

TEST_F(ExportsCaptureTest, AGraphThatIsCapturedIntoCannotBeTakenAway) {
  const CUstream a_stream = stream();
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec executable = nullptr;
  FERRY_OK(cuGraphCreate(&graph, 0));
  FERRY_OK(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
  FERRY_OK(cuStreamBeginCaptureToGraph(a_stream, graph, &node, nullptr, 1,
                                       CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphDestroyNode(node), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamBeginCaptureToGraph(stream(), graph, nullptr, nullptr, 0,
                                        CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamSynchronize(a_stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUgraph ended = nullptr;
  EXPECT_EQ(cuStreamEndCapture(a_stream, &ended), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  destroy(graph);  // the program's, also after a capture that failed
}

}  // namespace
}  // namespace ferry::sim
