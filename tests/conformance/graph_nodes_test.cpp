// SPDX-License-Identifier: Apache-2.0
// The nodes and edges of graphs, by kind.
#include <array>
#include <utility>

#include "conformance/graph_fixture.hpp"

namespace ferry::conformance {
namespace {

constexpr std::size_t kBytes = 4096;

using GraphNodes = Graph;

TEST_F(GraphNodes, TellsItsNodesAndEdges) {
  const DeviceBuffer buffer(kBytes);
  const PinnedBuffer to(kBytes);
  const CUgraphNode fill = add_fill(buffer, 1);
  const CUgraphNode fetch = add_fetch(to, buffer, {fill});
  EXPECT_EQ(count_of(graph), 2U);
  std::array<CUgraphNode, 4> nodes{};
  std::size_t count = nodes.size();
  FERRY_OK(cuda().cuGraphGetRootNodes(graph, nodes.data(), &count));
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(nodes[0], fill);
  EXPECT_EQ(nodes[1], nullptr) << "what is left of the array";
  count = nodes.size();
  FERRY_OK(cuda().cuGraphNodeGetDependencies(fetch, nodes.data(), &count));
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(nodes[0], fill);
  std::array<CUgraphNode, 2> from{};
  std::array<CUgraphNode, 2> to_node{};
  count = from.size();
  FERRY_OK(cuda().cuGraphGetEdges(graph, from.data(), to_node.data(), &count));
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(from[0], fill);
  EXPECT_EQ(to_node[0], fetch);
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  FERRY_OK(cuda().cuGraphNodeGetType(fetch, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEMCPY);
  CUDA_MEMSET_NODE_PARAMS params{};
  FERRY_OK(cuda().cuGraphMemsetNodeGetParams(fill, &params));
  EXPECT_EQ(params.dst, buffer.address);
  EXPECT_EQ(params.value, 1U);
  EXPECT_EQ(cuda().cuGraphMemsetNodeGetParams(fetch, &params), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphNodes, EdgesComeAndGo) {
  const DeviceBuffer buffer(kBytes);
  const CUgraphNode one = add_fill(buffer, 1);
  const CUgraphNode two = add_fill(buffer, 2);
  const auto edges = [&] {
    std::size_t count = 0;
    EXPECT_EQ(cuda().cuGraphGetEdges(graph, nullptr, nullptr, &count), CUDA_SUCCESS);
    return count;
  };
  FERRY_OK(cuda().cuGraphAddDependencies(graph, &one, &two, 1));
  EXPECT_EQ(edges(), 1U);
  EXPECT_EQ(cuda().cuGraphAddDependencies(graph, &one, &two, 1), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuda().cuGraphRemoveDependencies(graph, &one, &two, 1));
  EXPECT_EQ(edges(), 0U);
  EXPECT_EQ(cuda().cuGraphRemoveDependencies(graph, &one, &two, 1), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuda().cuGraphAddDependencies(graph, &one, &two, 1));
  FERRY_OK(cuda().cuGraphDestroyNode(one));
  EXPECT_EQ(edges(), 0U);
  EXPECT_EQ(count_of(graph), 1U);
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  EXPECT_NE(cuda().cuGraphNodeGetType(one, &type), CUDA_SUCCESS);
}

TEST_F(GraphNodes, HostNodesRunWithinTheOrder) {
  const DeviceBuffer buffer(kBytes);
  PinnedBuffer staging(kBytes);
  const PinnedBuffer to(kBytes);
  CUDA_HOST_NODE_PARAMS host{};
  host.fn = [](void* data) { static_cast<PinnedBuffer*>(data)->fill(9); };
  host.userData = &staging;
  CUgraphNode write = nullptr;
  FERRY_OK(cuda().cuGraphAddHostNode(&write, graph, nullptr, 0, &host));
  CUDA_MEMCPY3D up{};
  up.srcMemoryType = CU_MEMORYTYPE_HOST;
  up.srcHost = staging.pointer;
  up.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  up.dstDevice = buffer.address;
  up.WidthInBytes = kBytes;
  up.Height = up.Depth = 1;
  CUgraphNode upload = nullptr;
  FERRY_OK(cuda().cuGraphAddMemcpyNode(&upload, graph, &write, 1, &up, context));
  add_fetch(to, buffer, {upload});
  instantiate();
  run();
  EXPECT_TRUE(to.holds(9));
}

TEST_F(GraphNodes, AChildGraphIsOneNode) {
  const DeviceBuffer buffer(kBytes);
  const PinnedBuffer to(kBytes);
  CUgraph inner = nullptr;
  FERRY_OK(cuda().cuGraphCreate(&inner, 0));
  std::swap(inner, graph);
  const CUgraphNode one = add_fill(buffer, 1);
  add_fill(buffer, 2, {one});
  std::swap(inner, graph);
  CUgraphNode child = nullptr;
  FERRY_OK(cuda().cuGraphAddChildGraphNode(&child, graph, nullptr, 0, inner));
  FERRY_OK(cuda().cuGraphDestroy(inner));
  add_fetch(to, buffer, {child});
  CUgraph embedded = nullptr;
  FERRY_OK(cuda().cuGraphChildGraphNodeGetGraph(child, &embedded));
  EXPECT_EQ(count_of(embedded), 2U);
  EXPECT_EQ(count_of(graph), 2U);
  instantiate();
  for (int round = 0; round < 8; ++round) {
    run();
    ASSERT_TRUE(to.holds(2)) << "round " << round;
  }
}

TEST_F(GraphNodes, EventNodesOrderOtherStreams) {
  const StreamOwner producer;
  const StreamOwner consumer;
  const EventOwner before;
  const EventOwner after;
  const DeviceBuffer buffer(kBytes);
  const DeviceBuffer copy(kBytes);
  const PinnedBuffer to(kBytes);
  CUgraphNode wait = nullptr;
  FERRY_OK(cuda().cuGraphAddEventWaitNode(&wait, graph, nullptr, 0, before.handle));
  CUDA_MEMCPY3D params{};
  params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  params.srcDevice = buffer.address;
  params.dstDevice = copy.address;
  params.WidthInBytes = kBytes;
  params.Height = params.Depth = 1;
  CUgraphNode work = nullptr;
  FERRY_OK(cuda().cuGraphAddMemcpyNode(&work, graph, &wait, 1, &params, context));
  CUgraphNode record = nullptr;
  FERRY_OK(cuda().cuGraphAddEventRecordNode(&record, graph, &work, 1, after.handle));
  CUevent told = nullptr;
  FERRY_OK(cuda().cuGraphEventRecordNodeGetEvent(record, &told));
  EXPECT_EQ(told, after.handle);
  instantiate();
  for (int round = 1; round <= 8; ++round) {
    FERRY_OK(cuda().cuMemsetD8Async(buffer.address, static_cast<unsigned char>(round), kBytes,
                                    producer.handle));
    FERRY_OK(cuda().cuEventRecord(before.handle, producer.handle));
    FERRY_OK(cuda().cuGraphLaunch(executable, stream));
    FERRY_OK(cuda().cuStreamWaitEvent(consumer.handle, after.handle, 0));
    FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, copy.address, kBytes, consumer.handle));
    FERRY_OK(cuda().cuStreamSynchronize(consumer.handle));
    ASSERT_TRUE(to.holds(round)) << "round " << round;
  }
}

TEST_F(GraphNodes, NodesAreMadeFromGenericParameters) {
  const DeviceBuffer buffer(kBytes);
  const PinnedBuffer to(kBytes);
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_MEMSET;
  params.memset = {buffer.address, 0, 6, 1, kBytes, 1, context};
  CUgraphNode fill = nullptr;
  FERRY_OK(cuda().cuGraphAddNode_v2(&fill, graph, nullptr, nullptr, 0, &params));
  add_fetch(to, buffer, {fill});
  instantiate();
  run();
  EXPECT_TRUE(to.holds(6));
  params.memset.value = 7;
  FERRY_OK(cuda().cuGraphExecNodeSetParams(executable, fill, &params));
  run();
  EXPECT_TRUE(to.holds(7));
}

}  // namespace
}  // namespace ferry::conformance
