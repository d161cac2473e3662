// SPDX-License-Identifier: Apache-2.0
#include "sim/exports/graph_work.hpp"

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class GraphWorkTest : public SimTest {
 protected:
  // What make_work makes of the parameters.
  static CUresult make(const CUgraphNodeParams& params, NodeWork& out) {
    return Library::get().call(Symbol::cuGraphAddNode, Need::initialised,
                               [&](Call& call) { return make_work(call, params, out); });
  }
};

TEST_F(GraphWorkTest, GenericParametersBecomeWorkOfTheirKind) {
  const CUdeviceptr device = allocate(4096);
  NodeWork work;
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_MEMSET;
  params.memset = {device, 0, 6, 4, 16, 1, context};
  FERRY_OK(make(params, work));
  EXPECT_EQ(work.context, value_of(context));
  ASSERT_EQ(work.work.touches.size(), 1U);
  EXPECT_EQ(work.work.touches[0].address, device);
  EXPECT_EQ(work.work.touches[0].bytes, 64U);
  EXPECT_EQ(work.work.touches[0].kind, AccessKind::write);
  EXPECT_EQ(type_of(*work.work.node), CU_GRAPH_NODE_TYPE_MEMSET);
}

TEST_F(GraphWorkTest, AnEmptyCopyIsANodeThatDoesNothing) {
  NodeWork work;
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  params.memcpy.copyCtx = context;
  FERRY_OK(make(params, work));
  EXPECT_FALSE(work.work.work);
  EXPECT_EQ(type_of(*work.work.node), CU_GRAPH_NODE_TYPE_MEMCPY);
}

TEST_F(GraphWorkTest, WithoutAContextItIsTheCurrentOnes) {
  NodeWork work;
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_MEMSET;
  params.memset = {allocate(64), 0, 6, 1, 64, 1, nullptr};
  EXPECT_EQ(make(params, work), CUDA_SUCCESS);
  EXPECT_EQ(work.context, value_of(context));
  FERRY_OK(cuCtxSetCurrent(nullptr));
  EXPECT_EQ(make(params, work), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(GraphWorkTest, WhatIsNotThereIsSaid) {
  NodeWork work;
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  EXPECT_EQ(make(params, work), CUDA_ERROR_NOT_SUPPORTED);
  params = {};
  params.type = CU_GRAPH_NODE_TYPE_MEMSET;
  params.memset = {allocate(64), 0, 6, 1, 64, 1, reinterpret_cast<CUcontext>(7)};
  EXPECT_EQ(make(params, work), CUDA_ERROR_INVALID_CONTEXT);
  params = {};
  params.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  EXPECT_EQ(make(params, work), CUDA_ERROR_INVALID_HANDLE);
  params = {};
  params.type = CU_GRAPH_NODE_TYPE_GRAPH;
  EXPECT_EQ(make(params, work), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace ferry::sim
