// SPDX-License-Identifier: Apache-2.0
// Ferry's own kernels (cuda/kernels) as functions of the host.
#pragma once

#include <span>

#include "sim/machine/kernels.hpp"

namespace ferry::sim {

[[nodiscard]] std::span<const ferry_sim_kernel> own_kernels();

}  // namespace ferry::sim
