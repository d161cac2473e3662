// SPDX-License-Identifier: Apache-2.0
// From the parameters of a node, as a program states them, to the work that the node holds; for
// nodes that are added, changed, or changed in an executable graph. Parameters are checked as those
// of the functions that queue the same work at once.
#pragma once

#include "sim/machine/stream_access.hpp"

namespace ferry::sim {

struct NodeWork {
  Submission work;
  std::uint64_t context = 0;  // see GraphNode
};

// The work bears the name of the function that queues the like at once.
[[nodiscard]] CUresult make_work(Call& call, const CUDA_KERNEL_NODE_PARAMS_v2& params,
                                 NodeWork& out);
[[nodiscard]] CUresult make_work(Call& call, const CUDA_MEMCPY3D& params, CUcontext context,
                                 NodeWork& out);
[[nodiscard]] CUresult make_work(Call& call, const CUDA_MEMSET_NODE_PARAMS& params,
                                 CUcontext context, NodeWork& out);
[[nodiscard]] CUresult make_work(const CUDA_HOST_NODE_PARAMS& params, NodeWork& out);
[[nodiscard]] CUresult make_record(Call& call, CUevent event, NodeWork& out);
[[nodiscard]] CUresult make_wait(Call& call, CUevent event, NodeWork& out);
// The graph is cloned.
[[nodiscard]] CUresult make_child(Call& call, CUgraph graph, NodeWork& out);
// Whichever kind `params.type` says.
[[nodiscard]] CUresult make_work(Call& call, const CUgraphNodeParams& params, NodeWork& out);

[[nodiscard]] CUDA_KERNEL_NODE_PARAMS_v2 to_v2(const CUDA_KERNEL_NODE_PARAMS_v1& params);

// Whether copies or fills work on operands of the same places, as changes of an executable graph
// must; always true of other nodes.
[[nodiscard]] bool same_places(Machine& machine, const Submission& one, const Submission& other);

}  // namespace ferry::sim
