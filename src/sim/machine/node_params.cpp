// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/node_params.hpp"

namespace ferry::sim {

namespace {

constexpr CUgraphNodeType type(const EmptyNode&) {
  return CU_GRAPH_NODE_TYPE_EMPTY;
}
constexpr CUgraphNodeType type(const KernelNode&) {
  return CU_GRAPH_NODE_TYPE_KERNEL;
}
constexpr CUgraphNodeType type(const CopyNode&) {
  return CU_GRAPH_NODE_TYPE_MEMCPY;
}
constexpr CUgraphNodeType type(const FillNode&) {
  return CU_GRAPH_NODE_TYPE_MEMSET;
}
constexpr CUgraphNodeType type(const HostNode&) {
  return CU_GRAPH_NODE_TYPE_HOST;
}
constexpr CUgraphNodeType type(const RecordNode&) {
  return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
}
constexpr CUgraphNodeType type(const WaitNode&) {
  return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
}
constexpr CUgraphNodeType type(const WordNode&) {
  return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
}
constexpr CUgraphNodeType type(const ChildNode&) {
  return CU_GRAPH_NODE_TYPE_GRAPH;
}

}  // namespace

CUgraphNodeType type_of(const NodeParams& params) {
  return std::visit([](const auto& its) { return type(its); }, params);
}

}  // namespace ferry::sim
