// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/runtime_call.hpp"

#include "sim/runtime/primary_contexts.hpp"

namespace ferry::sim::runtime {

namespace {

thread_local cudaError_t newest_error = cudaSuccess;

}  // namespace

cudaError_t done(cudaError_t result) {
  if (result != cudaSuccess) newest_error = result;
  return result;
}

cudaError_t last_error(bool forget) {
  return forget ? std::exchange(newest_error, cudaSuccess) : newest_error;
}

CUresult enter() {
  if (const CUresult ready = cuInit(0); ready != CUDA_SUCCESS) return ready;
  CUcontext current = nullptr;
  if (const CUresult asked = cuCtxGetCurrent(&current); asked != CUDA_SUCCESS) return asked;
  return current != nullptr ? CUDA_SUCCESS : make_current(device_of_thread());
}

}  // namespace ferry::sim::runtime
