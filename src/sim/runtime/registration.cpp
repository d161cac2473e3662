// SPDX-License-Identifier: Apache-2.0
// Exported: what nvcc's code calls when a program starts and ends, and around a launch. Declared in
// headers that only nvcc reads, so again here.
#include <vector>

#include "sim/runtime/registered_code.hpp"
#include "sim/runtime/runtime_call.hpp"

using ferry::sim::runtime::CodeUnit;
using ferry::sim::runtime::done;
using ferry::sim::runtime::open_unit;
using ferry::sim::runtime::register_kernel;
using ferry::sim::runtime::register_variable;
using ferry::sim::runtime::unregister;

namespace {

struct Configuration {
  dim3 grid;
  dim3 block;
  size_t shared = 0;
  void* stream = nullptr;
};

// Between `<<<...>>>` and the launch that it leads to.
thread_local std::vector<Configuration> configurations;

CodeUnit& unit_of(void** handle) {
  return *reinterpret_cast<CodeUnit*>(handle);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void** __cudaRegisterFatBinary(void*) {
  return reinterpret_cast<void**>(&open_unit());
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  unregister(unit_of(handle));
}

char __cudaInitModule(void**) {
  return 1;
}

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  register_kernel(unit_of(handle), host, name);
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t bytes, int,
                       int) {
  register_variable(unit_of(handle), host, name, bytes);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (configurations.empty()) return done(cudaErrorMissingConfiguration);
  const Configuration newest = configurations.back();
  configurations.pop_back();
  *grid = newest.grid;
  *block = newest.block;
  *shared = newest.shared;
  *static_cast<void**>(stream) = newest.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  return cudaGetKernel(kernel, host);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, shared,
                          stream);
}

}  // extern "C"
#pragma GCC visibility pop
