// SPDX-License-Identifier: Apache-2.0
// The kernels and variables that nvcc's code registers when a program starts, known by the
// addresses of their host sides. A device gets one when it is first used there, as a small module
// of its own: what the program carries along for a real device is never read, for its code cannot
// run here. The driver stand-in calls the host's functions that a test registered under the same
// names.
//
// A process-wide table behind one mutex; nothing in it is destroyed before the process ends, save
// what the program takes back (unregister).
#pragma once

#include <cuda.h>

#include <cstddef>

namespace ferry::sim::runtime {

// What one translation unit registered; its handle.
class CodeUnit;
[[nodiscard]] CodeUnit& open_unit();
void unregister(CodeUnit& unit);

// `name` lives as long as the unit.
void register_kernel(CodeUnit& unit, const void* host_side, const char* name);
void register_variable(CodeUnit& unit, const void* host_side, const char* name, std::size_t bytes);

struct RegisteredKernel;
// By its host side, or by itself (a cudaKernel_t is the address of one). Null where it is neither.
[[nodiscard]] const RegisteredKernel* find_kernel(const void* host_side_or_kernel);
[[nodiscard]] const char* name_of(const RegisteredKernel& kernel);

// What was made of all of them in a context, by its number (cuCtxGetId), has gone with it.
void forget_code(unsigned long long context);

// In the current context. Requires: there is one.
[[nodiscard]] CUresult function_of(const RegisteredKernel& kernel, CUfunction& out);
// CUDA_ERROR_NOT_FOUND for what was never registered.
[[nodiscard]] CUresult variable_of(const void* host_side, CUdeviceptr& address, std::size_t& bytes);

}  // namespace ferry::sim::runtime
