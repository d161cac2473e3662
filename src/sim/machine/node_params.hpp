// SPDX-License-Identifier: Apache-2.0
// What the nodes of graphs do, as a program states it and is told again. Plain values.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "sim/machine/kernels.hpp"
#include "sim/words/cuda_api.hpp"

namespace ferry::sim {

class Graph;

struct EmptyNode {};

struct KernelNode {
  CUDA_KERNEL_NODE_PARAMS_v2 params{};  // but for the arguments
  std::shared_ptr<const KernelArguments> arguments;
  std::vector<void*> pointers;  // to the arguments, as a program is told them
};

struct CopyNode {
  CUDA_MEMCPY3D params{};
};

struct FillNode {
  CUDA_MEMSET_NODE_PARAMS params{};
};

struct HostNode {
  CUhostFn function = nullptr;
  void* data = nullptr;
};

struct RecordNode {
  CUevent event = nullptr;
};

struct WaitNode {
  CUevent event = nullptr;
};

// A word of memory that is written or waited for.
struct WordNode {
  CUstreamBatchMemOpParams params{};
};

// A graph of its own, which belongs to the node.
struct ChildNode {
  std::shared_ptr<Graph> graph;
};

using NodeParams = std::variant<EmptyNode, KernelNode, CopyNode, FillNode, HostNode, RecordNode,
                                WaitNode, WordNode, ChildNode>;

[[nodiscard]] CUgraphNodeType type_of(const NodeParams& params);

}  // namespace ferry::sim
