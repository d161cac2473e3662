// SPDX-License-Identifier: Apache-2.0
// Exported: errors.
#include "sim/runtime/runtime_call.hpp"

using ferry::sim::runtime::last_error;

cudaError_t cudaGetLastError() {
  return last_error(true);
}

cudaError_t cudaPeekAtLastError() {
  return last_error(false);
}

// The runtime spells the names of the codes that it shares with the driver in its own way
// ("cudaErrorInvalidValue"); those come from the table of errors.
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define FERRY_RUNTIME_ERROR(name) \
  case name:                      \
    return #name;
#include "abi/runtime_errors.inc"
#undef FERRY_RUNTIME_ERROR
    default:
      return "unrecognized error code";
  }
}

const char* cudaGetErrorString(cudaError_t error) {
  if (error == cudaSuccess) return "no error";
  const char* text = nullptr;
  const auto same = static_cast<CUresult>(error);
  return cuGetErrorString(same, &text) == CUDA_SUCCESS && text != nullptr
             ? text
             : "unrecognized error code";
}
