// SPDX-License-Identifier: Apache-2.0
// The driver functions that the stand-in does not have: each exists, so that programs that are
// linked with libcuda start, answers CUDA_ERROR_NOT_SUPPORTED, and says so once on stderr. Which
// they are is worked out by the build: everything in src/abi/cuda_names.txt without a row in
// src/abi/cuda_symbols.inc. Stateless but for what was said; may be called at any time.
#pragma once

#include <span>

#include "sim/words/symbols.hpp"

namespace ferry::sim {

struct Stub {
  SymbolRow row;
  void* function = nullptr;
};

[[nodiscard]] std::span<const Stub> stubs();

}  // namespace ferry::sim
