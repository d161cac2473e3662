// SPDX-License-Identifier: Apache-2.0
// What every function of the runtime does around its call of the driver: it makes the thread's
// device current, and remembers an error for cudaGetLastError. The runtime's error codes are the
// driver's, by number.
#pragma once

#pragma GCC visibility push(default)  // what these headers declare is what the library exports
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

#include <utility>

namespace ferry::sim::runtime {

// Remembers an error; passes every result on.
cudaError_t done(cudaError_t result);
inline cudaError_t done(CUresult result) {
  return done(static_cast<cudaError_t>(result));
}

// The thread's last error; `forget` also takes it away.
[[nodiscard]] cudaError_t last_error(bool forget);

// Makes a context current where none is: the primary one of the thread's device. A context that the
// program has made current itself stays.
[[nodiscard]] CUresult enter();

// Runs `call`, which answers with a CUresult, on the thread's device.
template <typename Call>
cudaError_t on_device(Call&& call) {
  const CUresult entered = enter();
  return done(entered == CUDA_SUCCESS ? std::forward<Call>(call)() : entered);
}

// The driver's types are the runtime's by another name.
[[nodiscard]] inline CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

}  // namespace ferry::sim::runtime
