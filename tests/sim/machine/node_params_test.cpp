// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/node_params.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

TEST(NodeParams, EachKindHasItsType) {
  EXPECT_EQ(type_of(EmptyNode{}), CU_GRAPH_NODE_TYPE_EMPTY);
  EXPECT_EQ(type_of(KernelNode{}), CU_GRAPH_NODE_TYPE_KERNEL);
  EXPECT_EQ(type_of(CopyNode{}), CU_GRAPH_NODE_TYPE_MEMCPY);
  EXPECT_EQ(type_of(FillNode{}), CU_GRAPH_NODE_TYPE_MEMSET);
  EXPECT_EQ(type_of(HostNode{}), CU_GRAPH_NODE_TYPE_HOST);
  EXPECT_EQ(type_of(RecordNode{}), CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  EXPECT_EQ(type_of(WaitNode{}), CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  EXPECT_EQ(type_of(WordNode{}), CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  EXPECT_EQ(type_of(ChildNode{}), CU_GRAPH_NODE_TYPE_GRAPH);
}

}  // namespace
}  // namespace ferry::sim
