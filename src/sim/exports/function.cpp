// SPDX-License-Identifier: Apache-2.0
// Exported: what functions say of themselves, and how many blocks of them fit a multiprocessor.
// Their code is of the host, so they use the registers of a small kernel and no memory of their
// own; what arguments they take is known of those whose code is registered.
#include <algorithm>
#include <vector>

#include "sim/machine/library.hpp"

namespace ferry::sim {

namespace {

constexpr int kRegisters = 32;
constexpr int kWarp = 32;

int attribute_of(Machine& machine, int device, CUdevice_attribute attribute) {
  return machine.attribute(attribute, device).value_or(0);
}

int device_of(Call& call, const FunctionEntry& function) {
  return call.machine.contexts.find(function.context)->device;
}

// Runs body(Call&, FunctionEntry&) where the handle stands for a function, or for a kernel in the
// current context.
template <typename Body>
CUresult with_function(Symbol symbol, CUfunction function, Body&& body) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    FunctionEntry* const entry =
        find_function(call.machine, call.context->handle, value_of(function));
    return entry == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(call, *entry);
  });
}

// As a number of two digits: 90 for 9.0.
int architecture(Call& call, int device) {
  return 10 * attribute_of(call.machine, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
         attribute_of(call.machine, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

CUresult get_attribute(Call& call, const FunctionEntry& function, CUfunction_attribute attribute,
                       int& out) {
  const int device = device_of(call, function);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      out = attribute_of(call.machine, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      out = 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      out = kRegisters;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      out = architecture(call, device);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      out = function.settings.most_dynamic_shared;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      out = function.settings.shared_carveout;
      return CUDA_SUCCESS;
    default:
      return attribute >= CU_FUNC_ATTRIBUTE_MAX ? CUDA_ERROR_INVALID_VALUE
                                                : CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult set_attribute(Call& call, FunctionEntry& function, CUfunction_attribute attribute,
                       int value) {
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    const int most = attribute_of(call.machine, device_of(call, function),
                                  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    if (value < 0 || value > most) return CUDA_ERROR_INVALID_VALUE;
    function.settings.most_dynamic_shared = value;
    return CUDA_SUCCESS;
  }
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
    if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
    function.settings.shared_carveout = value;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

// By whole warps, shared memory and the number of blocks alone.
int blocks_that_fit(Call& call, int device, int threads, std::size_t shared) {
  const auto limit = [&](CUdevice_attribute attribute) {
    return attribute_of(call.machine, device, attribute);
  };
  if (threads > limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)) return 0;
  const int by_threads = limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) /
                         ((threads + kWarp - 1) / kWarp * kWarp);
  const std::size_t each =
      shared +
      static_cast<std::size_t>(limit(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK));
  const auto all =
      static_cast<std::size_t>(limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  const int by_shared = each == 0 ? by_threads : static_cast<int>(all / each);
  return std::min(
      {by_threads, by_shared, limit(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)});
}

CUresult most_blocks(Symbol symbol, CUfunction function, int* out, int threads, std::size_t shared,
                     unsigned flags) {
  return with_function(symbol, function, [&](Call& call, const FunctionEntry& entry) {
    if (out == nullptr || threads <= 0 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
      return CUDA_ERROR_INVALID_VALUE;
    *out = blocks_that_fit(call, device_of(call, entry), threads, shared);
    return CUDA_SUCCESS;
  });
}

// Threads of a block, and the dynamic shared memory that it takes then.
struct BlockShape {
  int threads = 0;
  std::size_t shared = 0;
};

// From the largest down, in whole warps. The program's function is called here, before the lock is
// taken: what it does is its own affair.
std::vector<BlockShape> shapes_to_try(CUoccupancyB2DSize shared_of, std::size_t shared, int limit) {
  constexpr int kMost = 1024;
  std::vector<BlockShape> shapes;
  const int largest = limit <= 0 ? kMost : std::min(limit, kMost);
  for (int threads = largest; threads > 0; threads = (threads - 1) / kWarp * kWarp)
    shapes.push_back({threads, shared_of == nullptr ? shared : shared_of(threads)});
  return shapes;
}

CUresult best_shape(Symbol symbol, CUfunction function, int* grid, int* block,
                    const std::vector<BlockShape>& shapes, unsigned flags) {
  return with_function(symbol, function, [&](Call& call, const FunctionEntry& entry) {
    if (grid == nullptr || block == nullptr || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
      return CUDA_ERROR_INVALID_VALUE;
    const int device = device_of(call, entry);
    int most_threads = 0;
    *grid = *block = 0;
    for (const BlockShape& shape : shapes) {
      const int blocks = blocks_that_fit(call, device, shape.threads, shape.shared);
      if (blocks * shape.threads <= most_threads) continue;
      most_threads = blocks * shape.threads;
      *block = shape.threads;
      *grid = blocks * attribute_of(call.machine, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    }
    return CUDA_SUCCESS;
  });
}

// What is left for each of so many blocks that share a multiprocessor.
CUresult shared_left(Call& call, const FunctionEntry& function, int blocks, int threads,
                     std::size_t& out) {
  const int device = device_of(call, function);
  if (blocks <= 0 || threads <= 0 || blocks > blocks_that_fit(call, device, threads, 0))
    return CUDA_ERROR_INVALID_VALUE;
  const int all =
      attribute_of(call.machine, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  const int reserved =
      attribute_of(call.machine, device, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  const int each = std::min(all / blocks - reserved, function.settings.most_dynamic_shared);
  out = static_cast<std::size_t>(std::max(each, 0));
  return CUDA_SUCCESS;
}

CUresult parameter_of(std::string_view name, std::size_t index, std::size_t* offset,
                      std::size_t* size) {
  const auto kernel = Library::get().kernels().find(name);
  if (kernel == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  if (offset == nullptr || index >= kernel->argument_bytes.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = kernel->argument_offsets()[index];
  if (size != nullptr) *size = kernel->argument_bytes[index];
  return CUDA_SUCCESS;
}

}  // namespace

}  // namespace ferry::sim

using ferry::sim::Call;
using ferry::sim::FunctionEntry;
using ferry::sim::Library;
using ferry::sim::Need;
using ferry::sim::Symbol;
using ferry::sim::value_of;
using ferry::sim::with_function;

CUresult cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc) {
  return with_function(Symbol::cuFuncGetAttribute, hfunc,
                       [&](Call& call, const FunctionEntry& function) {
                         if (pi == nullptr) return CUDA_ERROR_INVALID_VALUE;
                         return ferry::sim::get_attribute(call, function, attrib, *pi);
                       });
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
  return with_function(Symbol::cuFuncSetAttribute, hfunc, [&](Call& call, FunctionEntry& function) {
    return ferry::sim::set_attribute(call, function, attrib, value);
  });
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
  return with_function(Symbol::cuFuncSetCacheConfig, hfunc, [&](Call&, const FunctionEntry&) {
    return config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize) {
  return ferry::sim::most_blocks(Symbol::cuOccupancyMaxActiveBlocksPerMultiprocessor, func,
                                 numBlocks, blockSize, dynamicSMemSize, 0);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, CUfunction func,
                                                              int blockSize, size_t dynamicSMemSize,
                                                              unsigned int flags) {
  return ferry::sim::most_blocks(Symbol::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, func,
                                 numBlocks, blockSize, dynamicSMemSize, flags);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, CUfunction func,
                                          CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                          size_t dynamicSMemSize, int blockSizeLimit) {
  return ferry::sim::best_shape(
      Symbol::cuOccupancyMaxPotentialBlockSize, func, minGridSize, blockSize,
      ferry::sim::shapes_to_try(blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit), 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize,
                                                   CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit,
                                                   unsigned int flags) {
  return ferry::sim::best_shape(
      Symbol::cuOccupancyMaxPotentialBlockSizeWithFlags, func, minGridSize, blockSize,
      ferry::sim::shapes_to_try(blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit),
      flags);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, CUfunction func,
                                                 int numBlocks, int blockSize) {
  return with_function(Symbol::cuOccupancyAvailableDynamicSMemPerBlock, func,
                       [&](Call& call, const FunctionEntry& function) {
                         if (dynamicSmemSize == nullptr) return CUDA_ERROR_INVALID_VALUE;
                         return ferry::sim::shared_left(call, function, numBlocks, blockSize,
                                                        *dynamicSmemSize);
                       });
}

CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t* paramOffset,
                            size_t* paramSize) {
  return with_function(Symbol::cuFuncGetParamInfo, func, [&](Call&, const FunctionEntry& function) {
    return ferry::sim::parameter_of(function.name, paramIndex, paramOffset, paramSize);
  });
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t* paramOffset,
                              size_t* paramSize) {
  return Library::get().call(Symbol::cuKernelGetParamInfo, Need::initialised, [&](Call& call) {
    const auto* const entry = call.machine.kernels.find(value_of(kernel));
    return entry == nullptr
               ? CUDA_ERROR_INVALID_HANDLE
               : ferry::sim::parameter_of(entry->name, paramIndex, paramOffset, paramSize);
  });
}
