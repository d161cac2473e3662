// SPDX-License-Identifier: Apache-2.0
// The toolkit's cuda.h for the stand-in: the driver's types, and none of the macros that rename a
// base name to its newest variant, because the stand-in exports the older variants too. The
// exported functions are declared here from the symbol table, each with the type cudaTypedefs.h
// gives for that name and version: a definition whose signature drifts from it does not compile.
#pragma once

// What is deprecated is exported all the same.
#define CUDA_ENABLE_DEPRECATED
#include <cuda.h>
#include <cudaTypedefs.h>

#include <type_traits>

#include "abi/cuda_plain_names.inc"

#define FERRY_SIM_EXPORT __attribute__((visibility("default")))

#define FERRY_SIM_DECLARE(name, version, symbol) \
  extern "C" FERRY_SIM_EXPORT std::remove_pointer_t<PFN_##name##_v##version> symbol;
#define FERRY_CUDA_REQUIRED FERRY_SIM_DECLARE
#define FERRY_CUDA_OPTIONAL FERRY_SIM_DECLARE
#define FERRY_CUDA_EXPORTED FERRY_SIM_DECLARE
#define FERRY_CUDA_PER_THREAD(name, version, symbol, suffix) \
  extern "C" FERRY_SIM_EXPORT std::remove_pointer_t<PFN_##name##_v##version##suffix> symbol;
#include "abi/cuda_symbols.inc"
#undef FERRY_SIM_DECLARE
