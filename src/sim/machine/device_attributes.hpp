// SPDX-License-Identifier: Apache-2.0
// What the simulated device says about itself. The figures describe a GPU of compute
// capability 9.0, unless a profile names another; features that the stand-in does not have are
// denied, so that a program that asks takes its other way.
#pragma once

#include <optional>

#include "sim/time/profile.hpp"
#include "sim/words/cuda_api.hpp"
#include "sim/words/machine_limits.hpp"

namespace ferry::sim {

// Nothing for an attribute that cuda.h does not know. `physical_index` tells devices apart. The
// profile may be null. What the limits take away is denied here too.
[[nodiscard]] std::optional<int> device_attribute(CUdevice_attribute attribute, int physical_index,
                                                  const Profile* profile = nullptr,
                                                  const MachineLimits& limits = {});

}  // namespace ferry::sim
