// SPDX-License-Identifier: Apache-2.0
// The driver that the suite judges: a library file found at run time, reached only through the
// public driver API. The stand-in by default; a real driver, unchanged, when one is named.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include <string>

// The members of the table are named as the variants are; cuda.h's macros would rename them.
#include "abi/cuda_plain_names.inc"

namespace ferry::conformance {

// Every function of the symbol table, by the name of its variant. Null where the driver has it not.
struct Functions {
#define FERRY_CONFORMANCE_MEMBER(name, version, symbol) PFN_##name##_v##version symbol = nullptr;
#define FERRY_CUDA_REQUIRED FERRY_CONFORMANCE_MEMBER
#define FERRY_CUDA_OPTIONAL FERRY_CONFORMANCE_MEMBER
#define FERRY_CUDA_EXPORTED FERRY_CONFORMANCE_MEMBER
#define FERRY_CUDA_PER_THREAD(name, version, symbol, suffix) \
  PFN_##name##_v##version##suffix symbol = nullptr;
#include "abi/cuda_symbols.inc"
#undef FERRY_CONFORMANCE_MEMBER
};

// Requires: load_driver succeeded.
[[nodiscard]] const Functions& cuda();

enum class Loaded {
  ready,   // initialised, and there is a device
  absent,  // no such library, or no device: nothing to judge
  broken,  // the library is there but lacks something that every driver has
};

// Loads the library, resolves every function by cuGetProcAddress_v2 at its version, and calls
// cuInit. `why` says what is wrong when it is not ready.
[[nodiscard]] Loaded load_driver(const std::string& library, std::string& why);

}  // namespace ferry::conformance
