// SPDX-License-Identifier: Apache-2.0
// Exported: launches, what a kernel needs, and variables by their host sides. A kernel is given by
// its host side, by the handle of a registered one, or by one of a library (library.cpp).
#include "sim/runtime/registered_code.hpp"
#include "sim/runtime/runtime_call.hpp"

using ferry::sim::runtime::address_of;
using ferry::sim::runtime::done;
using ferry::sim::runtime::find_kernel;
using ferry::sim::runtime::function_of;
using ferry::sim::runtime::name_of;
using ferry::sim::runtime::on_device;
using ferry::sim::runtime::variable_of;

namespace {

// What is none of the registered ones is taken for the driver's own handle, which answers for it.
CUresult find_function(const void* kernel, CUfunction& out) {
  const auto* const registered = find_kernel(kernel);
  if (registered != nullptr) return function_of(*registered, out);
  out = static_cast<CUfunction>(const_cast<void*>(kernel));
  return CUDA_SUCCESS;
}

// Whether the driver knows it as a kernel.
bool is_function(CUfunction function) {
  const char* name = nullptr;
  return cuFuncGetName(&name, function) == CUDA_SUCCESS ||
         cuKernelGetName(&name, reinterpret_cast<CUkernel>(function)) == CUDA_SUCCESS;
}

template <typename Call>
cudaError_t with_function(const void* kernel, Call&& call) {
  return on_device([&] {
    CUfunction function = nullptr;
    if (const CUresult found = find_function(kernel, function); found != CUDA_SUCCESS) return found;
    const CUresult result = call(function);
    const bool no_kernel = result == CUDA_ERROR_INVALID_HANDLE && !is_function(function);
    return no_kernel ? static_cast<CUresult>(cudaErrorInvalidDeviceFunction) : result;
  });
}

template <typename Call>
cudaError_t with_variable(const void* symbol, Call&& call) {
  return on_device([&] {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    const CUresult found = variable_of(symbol, address, bytes);
    if (found == CUDA_ERROR_NOT_FOUND) return static_cast<CUresult>(cudaErrorInvalidSymbol);
    return found == CUDA_SUCCESS ? call(address, bytes) : found;
  });
}

// A part of a variable. `other` is the kind of copy that the variable's side does not allow.
struct Part {
  size_t offset;
  size_t count;
  cudaMemcpyKind kind;
  cudaMemcpyKind other;
};

template <typename Call>
cudaError_t with_part(const void* symbol, const Part& part, Call&& call) {
  return with_variable(symbol, [&](CUdeviceptr address, std::size_t bytes) {
    if (part.kind == part.other || part.kind == cudaMemcpyHostToHost ||
        part.kind > cudaMemcpyDefault)
      return static_cast<CUresult>(cudaErrorInvalidMemcpyDirection);
    if (part.offset > bytes || part.count > bytes - part.offset) return CUDA_ERROR_INVALID_VALUE;
    return call(address + part.offset);
  });
}

bool fits(const dim3& shape, CUdevice_attribute first, CUdevice device) {
  const unsigned sizes[] = {shape.x, shape.y, shape.z};
  for (int axis = 0; axis < 3; ++axis) {
    int most = 0;
    const auto attribute = static_cast<CUdevice_attribute>(first + axis);
    if (cuDeviceGetAttribute(&most, attribute, device) != CUDA_SUCCESS) return true;
    if (sizes[axis] == 0 || sizes[axis] > static_cast<unsigned>(most)) return false;
  }
  return true;
}

// The driver calls it an invalid value where a shape is more than the device has, or empty.
CUresult judge_shape(CUresult launched, const dim3& grid, const dim3& block) {
  CUdevice device = 0;
  int threads = 0;
  if (launched != CUDA_ERROR_INVALID_VALUE || cuCtxGetDevice(&device) != CUDA_SUCCESS ||
      cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device) !=
          CUDA_SUCCESS)
    return launched;
  const bool right = fits(grid, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, device) &&
                     fits(block, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, device) &&
                     block.x * block.y * block.z <= static_cast<unsigned>(threads);
  return right ? launched : static_cast<CUresult>(cudaErrorInvalidConfiguration);
}

CUresult fill_attributes(cudaFuncAttributes& out, CUfunction function) {
  out = {};
  CUresult result = CUDA_SUCCESS;
  const auto attribute = [&](CUfunction_attribute asked) {
    int value = 0;
    if (result == CUDA_SUCCESS) result = cuFuncGetAttribute(&value, asked, function);
    return value;
  };
  out.sharedSizeBytes = static_cast<size_t>(attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  out.constSizeBytes = static_cast<size_t>(attribute(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
  out.localSizeBytes = static_cast<size_t>(attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
  out.maxThreadsPerBlock = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  out.numRegs = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS);
  out.ptxVersion = attribute(CU_FUNC_ATTRIBUTE_PTX_VERSION);
  out.binaryVersion = attribute(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  out.cacheModeCA = attribute(CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
  out.maxDynamicSharedSizeBytes = attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  out.preferredShmemCarveout = attribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  return result;
}

}  // namespace

cudaError_t cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                             size_t sharedMem, cudaStream_t stream) {
  return with_function(func, [&](CUfunction function) {
    const CUresult launched =
        cuLaunchKernel(function, gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y,
                       blockDim.z, static_cast<unsigned>(sharedMem), stream, args, nullptr);
    return judge_shape(launched, gridDim, blockDim);
  });
}

cudaError_t cudaLaunchCooperativeKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                        size_t sharedMem, cudaStream_t stream) {
  return with_function(func, [&](CUfunction function) {
    const CUresult launched =
        cuLaunchCooperativeKernel(function, gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y,
                                  blockDim.z, static_cast<unsigned>(sharedMem), stream, args);
    return judge_shape(launched, gridDim, blockDim);
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args) {
  static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));
  if (config == nullptr) return done(cudaErrorInvalidValue);
  CUlaunchConfig same{};
  same.gridDimX = config->gridDim.x;
  same.gridDimY = config->gridDim.y;
  same.gridDimZ = config->gridDim.z;
  same.blockDimX = config->blockDim.x;
  same.blockDimY = config->blockDim.y;
  same.blockDimZ = config->blockDim.z;
  same.sharedMemBytes = static_cast<unsigned>(config->dynamicSmemBytes);
  same.hStream = config->stream;
  same.attrs = reinterpret_cast<CUlaunchAttribute*>(config->attrs);
  same.numAttrs = config->numAttrs;
  return with_function(func, [&](CUfunction function) {
    const CUresult launched = cuLaunchKernelEx(&same, function, args, nullptr);
    return judge_shape(launched, config->gridDim, config->blockDim);
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* kernelPtr, const void* entryFuncAddr) {
  const auto* const found = find_kernel(entryFuncAddr);
  if (found == nullptr || kernelPtr == nullptr) return done(cudaErrorInvalidDeviceFunction);
  *kernelPtr = reinterpret_cast<cudaKernel_t>(const_cast<void*>(static_cast<const void*>(found)));
  return cudaSuccess;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* functionPtr, const void* symbolPtr) {
  if (functionPtr == nullptr) return done(cudaErrorInvalidValue);
  return with_function(symbolPtr, [&](CUfunction function) {
    if (!is_function(function)) return CUDA_ERROR_INVALID_HANDLE;
    *functionPtr = function;
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* func) {
  if (const auto* const found = find_kernel(func)) {
    *name = name_of(*found);
    return cudaSuccess;
  }
  return with_function(func, [&](CUfunction function) { return cuFuncGetName(name, function); });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attr, const void* func) {
  if (attr == nullptr) return done(cudaErrorInvalidValue);
  return with_function(func, [&](CUfunction function) { return fill_attributes(*attr, function); });
}

cudaError_t cudaFuncSetAttribute(const void* func, cudaFuncAttribute attr, int value) {
  return with_function(func, [&](CUfunction function) {
    return cuFuncSetAttribute(function, static_cast<CUfunction_attribute>(attr), value);
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* func, cudaFuncCache cacheConfig) {
  return with_function(func, [&](CUfunction function) {
    return cuFuncSetCacheConfig(function, static_cast<CUfunc_cache>(cacheConfig));
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, const void* func,
                                                          int blockSize, size_t dynamicSMemSize) {
  return with_function(func, [&](CUfunction function) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, function, blockSize,
                                                       dynamicSMemSize);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, const void* func,
                                                                   int blockSize,
                                                                   size_t dynamicSMemSize,
                                                                   unsigned int flags) {
  return with_function(func, [&](CUfunction function) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, function, blockSize,
                                                                dynamicSMemSize, flags);
  });
}

cudaError_t cudaGetSymbolAddress(void** devPtr, const void* symbol) {
  return with_variable(symbol, [&](CUdeviceptr address, std::size_t) {
    *devPtr = reinterpret_cast<void*>(address);
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return with_variable(symbol, [&](CUdeviceptr, std::size_t bytes) {
    *size = bytes;
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset,
                               cudaMemcpyKind kind) {
  const Part part{offset, count, kind, cudaMemcpyDeviceToHost};
  return with_part(symbol, part,
                   [&](CUdeviceptr address) { return cuMemcpy(address, address_of(src), count); });
}

cudaError_t cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t count, size_t offset,
                                 cudaMemcpyKind kind) {
  const Part part{offset, count, kind, cudaMemcpyHostToDevice};
  return with_part(symbol, part,
                   [&](CUdeviceptr address) { return cuMemcpy(address_of(dst), address, count); });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  const Part part{offset, count, kind, cudaMemcpyDeviceToHost};
  return with_part(symbol, part, [&](CUdeviceptr address) {
    return cuMemcpyAsync(address, address_of(src), count, stream);
  });
}

cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t count, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  const Part part{offset, count, kind, cudaMemcpyHostToDevice};
  return with_part(symbol, part, [&](CUdeviceptr address) {
    return cuMemcpyAsync(address_of(dst), address, count, stream);
  });
}
