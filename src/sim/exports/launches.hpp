// SPDX-License-Identifier: Apache-2.0
// Launches of kernels before they have a name: what the exported functions that launch, and those
// that put kernels into graphs, share.
#pragma once

#include "sim/machine/stream_access.hpp"

namespace ferry::sim {

struct LaunchRequest {
  CUfunction function = nullptr;
  ferry_sim_launch launch{};
  CUstream stream = nullptr;
  void** arguments = nullptr;
  void** extra = nullptr;
};

// What a launch does, before it has a stream. Its arguments are copied. `context`: where the handle
// of a kernel stands for a function; receives where the function is.
[[nodiscard]] CUresult prepare_launch(Call& call, Symbol symbol, const LaunchRequest& request,
                                      std::uint64_t& context, Submission& out);

}  // namespace ferry::sim
