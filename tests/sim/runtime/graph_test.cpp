// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime {
namespace {

TEST_F(RuntimeTest, ACaptureBecomesAGraphThatRuns) {
  char* const device = allocate(64);
  cudaStream_t stream = nullptr;
  FERRY_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  FERRY_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  FERRY_OK(cudaMemsetAsync(device, 4, 64, stream));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t captured = nullptr;
  const cudaGraphNode_t* after = nullptr;
  size_t count = 0;
  FERRY_OK(cudaStreamGetCaptureInfo(stream, &status, &id, &captured, &after, nullptr, &count));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  EXPECT_NE(id, 0U);
  EXPECT_EQ(count, 1U);
  cudaGraph_t graph = nullptr;
  FERRY_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_EQ(graph, captured);
  size_t nodes = 0;
  FERRY_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 1U);
  cudaGraphExec_t exec = nullptr;
  FERRY_OK(cudaGraphInstantiate(&exec, graph, 0));
  FERRY_OK(cudaMemset(device, 0, 64));
  FERRY_OK(cudaDeviceSynchronize());
  FERRY_OK(cudaGraphLaunch(exec, stream));
  FERRY_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(contents(device, 64), all(64, 4));
  FERRY_OK(cudaGraphExecDestroy(exec));
  FERRY_OK(cudaGraphDestroy(graph));
}

TEST_F(RuntimeTest, ASynchronisationEndsACapture) {
  cudaStream_t stream = nullptr;
  FERRY_OK(cudaStreamCreate(&stream));
  FERRY_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  FERRY_OK(cudaStreamIsCapturing(stream, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
}

}  // namespace
}  // namespace ferry::sim::runtime
