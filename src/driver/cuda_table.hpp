// SPDX-License-Identifier: Apache-2.0
// The functions of a loaded CUDA driver, each with the signature of the version that
// cuda_symbols.inc states. Owned by Driver. The only header that shows CUDA types: included by
// src/driver/*.cpp alone.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

namespace ferry {

// cuda.h makes macros of some names (cuMemAlloc is cuMemAlloc_v2). They rename a member and its
// uses alike, so that code writes the plain name throughout. Optional functions may be null.
struct CudaTable {
#define FERRY_CUDA_REQUIRED(name, version, symbol) PFN_##name##_v##version name = nullptr;
#define FERRY_CUDA_OPTIONAL(name, version, symbol) PFN_##name##_v##version name = nullptr;
#include "abi/cuda_symbols.inc"
};

}  // namespace ferry
