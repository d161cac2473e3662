// SPDX-License-Identifier: Apache-2.0
// What the tests of graphs share: a graph that is built, instantiated once and run.
#pragma once

#include <vector>

#include "conformance/fixture.hpp"

namespace ferry::conformance {

inline CUDA_MEMSET_NODE_PARAMS fill_of(const DeviceBuffer& buffer, unsigned value) {
  CUDA_MEMSET_NODE_PARAMS params{};
  params.dst = buffer.address;
  params.value = value;
  params.elementSize = 1;
  params.width = buffer.bytes;
  params.height = 1;
  return params;
}

inline CUDA_MEMCPY3D fetch_of(const PinnedBuffer& to, const DeviceBuffer& from) {
  CUDA_MEMCPY3D params{};
  params.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  params.srcDevice = from.address;
  params.dstMemoryType = CU_MEMORYTYPE_HOST;
  params.dstHost = to.pointer;
  params.WidthInBytes = to.bytes;
  params.Height = 1;
  params.Depth = 1;
  return params;
}

class Graph : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    FERRY_OK(cuda().cuGraphCreate(&graph, 0));
    FERRY_OK(cuda().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  }
  void TearDown() override {
    if (executable != nullptr) {
      EXPECT_EQ(cuda().cuGraphExecDestroy(executable), CUDA_SUCCESS);
    }
    EXPECT_EQ(cuda().cuStreamDestroy_v2(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuda().cuGraphDestroy(graph), CUDA_SUCCESS);
    WithContext::TearDown();
  }

  CUgraphNode add_fill(const DeviceBuffer& buffer, unsigned value,
                       std::vector<CUgraphNode> after = {}) {
    CUgraphNode node = nullptr;
    const CUDA_MEMSET_NODE_PARAMS params = fill_of(buffer, value);
    EXPECT_EQ(
        cuda().cuGraphAddMemsetNode(&node, graph, after.data(), after.size(), &params, context),
        CUDA_SUCCESS);
    return node;
  }
  CUgraphNode add_fetch(const PinnedBuffer& to, const DeviceBuffer& from,
                        std::vector<CUgraphNode> after = {}) {
    CUgraphNode node = nullptr;
    const CUDA_MEMCPY3D params = fetch_of(to, from);
    EXPECT_EQ(
        cuda().cuGraphAddMemcpyNode(&node, graph, after.data(), after.size(), &params, context),
        CUDA_SUCCESS);
    return node;
  }
  void instantiate() { FERRY_OK(cuda().cuGraphInstantiateWithFlags(&executable, graph, 0)); }
  void run() {
    FERRY_OK(cuda().cuGraphLaunch(executable, stream));
    FERRY_OK(cuda().cuStreamSynchronize(stream));
  }
  static std::size_t count_of(CUgraph asked) {
    std::size_t count = 0;
    EXPECT_EQ(cuda().cuGraphGetNodes(asked, nullptr, &count), CUDA_SUCCESS);
    return count;
  }

  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  CUstream stream = nullptr;
};

}  // namespace ferry::conformance
