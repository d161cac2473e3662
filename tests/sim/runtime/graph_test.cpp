// SPDX-License-Identifier: Apache-2.0
// Captures and graphs.

#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime_test {
namespace {

class RuntimeGraphTest : public ScheduledRuntimeTest {
 protected:
  void SetUp() override {
    restart(GetParam());
    own = stream();
    memory = allocate(8);
    FERRY_RT_OK(cudaMemset(memory, 0, 8));
    FERRY_RT_OK(cudaDeviceSynchronize());
  }
  // Two fills, the second over half of the first.
  void capture(cudaGraph_t& graph) const {
    FERRY_RT_OK(cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal));
    FERRY_RT_OK(cudaMemsetAsync(memory, 1, 8, own));
    FERRY_RT_OK(cudaMemsetAsync(memory, 2, 4, own));
    FERRY_RT_OK(cudaStreamEndCapture(own, &graph));
  }

  cudaStream_t own = nullptr;
  void* memory = nullptr;
};

TEST_P(RuntimeGraphTest, WhatIsCapturedRunsAtEachLaunch) {
  cudaGraph_t graph = nullptr;
  capture(graph);
  EXPECT_EQ(word(memory), 0U);
  cudaGraphExec_t exec = nullptr;
  FERRY_RT_OK(cudaGraphInstantiate(&exec, graph, 0));
  FERRY_RT_OK(cudaGraphUpload(exec, own));
  for (int i = 0; i < 2; ++i) {
    FERRY_RT_OK(cudaMemsetAsync(memory, 9, 8, own));
    FERRY_RT_OK(cudaGraphLaunch(exec, own));
    FERRY_RT_OK(cudaStreamSynchronize(own));
    EXPECT_EQ(word(memory, 0), 0x02020202U);
    EXPECT_EQ(word(memory, 1), 0x01010101U);
  }
  FERRY_RT_OK(cudaGraphExecDestroy(exec));
  EXPECT_NE(cudaGraphLaunch(exec, own), cudaSuccess);
  FERRY_RT_OK(cudaGraphDestroy(graph));
  std::size_t count = 0;
  EXPECT_NE(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
}

TEST_P(RuntimeGraphTest, NodesAreInTheOrderOfTheStream) {
  cudaGraph_t graph = nullptr;
  capture(graph);
  std::size_t count = 0;
  FERRY_RT_OK(cudaGraphGetNodes(graph, nullptr, &count));
  ASSERT_EQ(count, 2U);
  cudaGraphNode_t nodes[2] = {};
  FERRY_RT_OK(cudaGraphGetNodes(graph, nodes, &count));
  cudaGraphNode_t before = nullptr;
  std::size_t of_first = 9;
  std::size_t of_second = 0;
  FERRY_RT_OK(cudaGraphNodeGetDependencies(nodes[0], nullptr, nullptr, &of_first));
  FERRY_RT_OK(cudaGraphNodeGetDependencies(nodes[1], nullptr, nullptr, &of_second));
  EXPECT_EQ(of_first, 0U);
  ASSERT_EQ(of_second, 1U);
  FERRY_RT_OK(cudaGraphNodeGetDependencies(nodes[1], &before, nullptr, &of_second));
  EXPECT_EQ(before, nodes[0]);
}

TEST_P(RuntimeGraphTest, ACaptureTellsOfItself) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusInvalidated;
  unsigned long long number = 0;
  FERRY_RT_OK(cudaStreamGetCaptureInfo(own, &status, &number, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  FERRY_RT_OK(cudaStreamBeginCapture(own, cudaStreamCaptureModeGlobal));
  FERRY_RT_OK(cudaMemsetAsync(memory, 1, 8, own));
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* ends = nullptr;
  std::size_t count = 0;
  FERRY_RT_OK(cudaStreamGetCaptureInfo(own, &status, &number, &graph, &ends, nullptr, &count));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  EXPECT_NE(number, 0U);
  ASSERT_EQ(count, 1U);
  cudaGraphNode_t node = nullptr;
  std::size_t nodes = 1;
  FERRY_RT_OK(cudaGraphGetNodes(graph, &node, &nodes));
  EXPECT_EQ(ends[0], node);
  FERRY_RT_OK(cudaStreamIsCapturing(own, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  FERRY_RT_OK(cudaStreamUpdateCaptureDependencies(own, nullptr, nullptr, 0,
                                                  cudaStreamSetCaptureDependencies));
  FERRY_RT_OK(cudaStreamGetCaptureInfo(own, &status, nullptr, nullptr, nullptr, nullptr, &count));
  EXPECT_EQ(count, 0U);
  FERRY_RT_OK(cudaStreamEndCapture(own, &graph));
  FERRY_RT_OK(cudaStreamIsCapturing(own, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
}

TEST_P(RuntimeGraphTest, AWaitInsideEndsTheCapture) {
  FERRY_RT_OK(cudaStreamBeginCapture(own, cudaStreamCaptureModeGlobal));
  EXPECT_EQ(cudaStreamSynchronize(own), cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(own, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
}

TEST_P(RuntimeGraphTest, UnsafeCallsAreUpToTheModeOfTheThread) {
  FERRY_RT_OK(cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal));
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  FERRY_RT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  void* inside = nullptr;
  FERRY_RT_OK(cudaMalloc(&inside, 4));
  FERRY_RT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaMalloc(&inside, 4), cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(own, &graph), cudaErrorStreamCaptureInvalidated);
}

TEST_P(RuntimeGraphTest, ACaptureMayAddToAGraph) {
  cudaGraph_t graph = nullptr;
  FERRY_RT_OK(cudaGraphCreate(&graph, 0));
  FERRY_RT_OK(
      cudaStreamBeginCaptureToGraph(own, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  FERRY_RT_OK(cudaMemsetAsync(memory, 4, 4, own));
  cudaGraph_t same = nullptr;
  FERRY_RT_OK(cudaStreamEndCapture(own, &same));
  EXPECT_EQ(same, graph);
  cudaGraphExec_t exec = nullptr;
  FERRY_RT_OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  FERRY_RT_OK(cudaGraphLaunch(exec, own));
  FERRY_RT_OK(cudaStreamSynchronize(own));
  EXPECT_EQ(word(memory), 0x04040404U);
}

// Where the driver stand-in has only a stub, its answer is passed on.
TEST_P(RuntimeGraphTest, WhatTheDriverLacksIsNotSupported) {
  cudaUserObject_t object = nullptr;
  EXPECT_EQ(cudaUserObjectCreate(
                &object, nullptr, [](void*) {}, 1, cudaUserObjectNoDestructorSync),
            cudaErrorNotSupported);
  std::uint64_t bytes = 1;
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes),
            cudaErrorNotSupported);
}

FERRY_EVERY_SCHEDULE(RuntimeGraphTest);

}  // namespace
}  // namespace ferry::sim::runtime_test
