// SPDX-License-Identifier: Apache-2.0
// A library that calls the driver for a program, by its name one that the stand-in sees through.
#include <cuda.h>

#include <cstddef>
#include <thread>

namespace {
const char* last_name = nullptr;
}

extern "C" [[gnu::visibility("default"), gnu::noinline]] CUresult go_between_fill(
    CUdeviceptr device, std::size_t bytes, CUstream stream) {
  CUresult result = cuMemsetD8Async(device, 3, bytes, stream);
  if (result == CUDA_SUCCESS) result = cuGetErrorName(result, &last_name);  // no tail call
  return result;
}

// On a thread of its own, in which the program has no part.
extern "C" [[gnu::visibility("default"), gnu::noinline]] void go_between_fill_aside(
    CUcontext context, CUdeviceptr device, std::size_t bytes, CUstream stream, CUresult* result) {
  std::thread([=] {
    *result = cuCtxSetCurrent(context);
    if (*result == CUDA_SUCCESS) *result = cuMemsetD8Async(device, 4, bytes, stream);
  }).join();
}
