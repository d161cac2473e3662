// SPDX-License-Identifier: Apache-2.0
// What the bodies of kernels share. A body is plain data with three functions: size(), how many
// indices there are; operator()(i), the work of one of them; visit(see), which tells each pointer
// once, with the bytes behind it and whether they are written. nvcc compiles a body into a kernel
// (cuda/kernels.cu), the host's compiler into the function that does its work on the stand-in,
// where the pointers are replaced by way of visit (src/sim/machine/own_kernels.cpp).
//
// The work of an index knows nothing of its neighbours: no shared memory, no barriers, no warps.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define FERRY_HD __host__ __device__
#else
#define FERRY_HD
#endif

namespace ferry::kernels {

enum class Access : std::uint8_t { read, write };

}  // namespace ferry::kernels
