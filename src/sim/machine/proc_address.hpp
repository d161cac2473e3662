// SPDX-License-Identifier: Apache-2.0
// cuGetProcAddress: from a base name, a CUDA version and flags to one of the exported variants.
#pragma once

#include <string_view>

#include "sim/words/cuda_api.hpp"

namespace ferry::sim {

inline constexpr int kDriverVersion = 13000;

struct ProcAddress {
  void* function = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};

// The newest variant whose version is at most `version`. With `per_thread`, functions that have a
// variant for the per-thread default stream are not found: those variants do not exist here yet,
// and the legacy one would mean another stream.
[[nodiscard]] ProcAddress proc_address(std::string_view name, int version, bool per_thread);

// True when cuda.h gives the function a variant for the per-thread default stream.
[[nodiscard]] bool has_per_thread_variant(std::string_view name);

}  // namespace ferry::sim
