// SPDX-License-Identifier: Apache-2.0
// cuGetProcAddress: from a base name, a CUDA version and flags to one of the exported variants,
// stubs among them.
#pragma once

#include <string_view>

#include "sim/words/cuda_api.hpp"

namespace ferry::sim {

inline constexpr int kDriverVersion = 13000;

struct ProcAddress {
  void* function = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};

// The newest variant whose version is at most `version`. With `per_thread`, of those for the
// per-thread default stream, where the function has such at all.
[[nodiscard]] ProcAddress proc_address(std::string_view name, int version, bool per_thread);

}  // namespace ferry::sim
