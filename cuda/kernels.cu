// SPDX-License-Identifier: Apache-2.0
// The device code: each body of cuda/kernels as a kernel that walks its indices in strides of the
// grid, so that any launch shape does the whole work.
#include "cuda/kernels/kernels.hpp"

namespace {

template <typename Body>
__device__ void walk(const Body& body) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::uint64_t i = first; i < body.size(); i += stride) body(i);
}

}  // namespace

#define FERRY_KERNEL(name, Body)                                                       \
  extern "C" __global__ void name(const __grid_constant__ ferry::kernels::Body body) { \
    walk(body);                                                                        \
  }
#include "cuda/kernels/kernels.inc"
