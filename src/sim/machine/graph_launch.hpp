// SPDX-License-Identifier: Apache-2.0
// Launches of executable graphs. A launch begins after what its stream and the graph's earlier
// launches hold, and the stream goes on after all of its nodes. In between each node runs after
// those that the graph says, and after nothing else: in streams of the launch's own.
#pragma once

#include <memory>

#include "sim/machine/stream_access.hpp"

namespace ferry::sim {

[[nodiscard]] CUresult launch_graph(Call& call, const std::shared_ptr<ExecutableGraph>& executable,
                                    CUstream stream);

}  // namespace ferry::sim
