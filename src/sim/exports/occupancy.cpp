// SPDX-License-Identifier: Apache-2.0
// Exported: how many blocks of a function fit a multiprocessor, and how many clusters of blocks the
// device.
#include <algorithm>
#include <vector>

#include "sim/exports/functions.hpp"

namespace ferry::sim {

namespace {

constexpr int kWarp = 32;

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

// The blocks of a cluster, as a launch says or else the function; 0 where neither does.
std::uint64_t cluster_of(const FunctionEntry& function, const CUlaunchConfig& config) {
  const int* const own = function.settings.cluster;
  std::uint64_t blocks = static_cast<std::uint64_t>(own[0]) * static_cast<std::uint64_t>(own[1]) *
                         static_cast<std::uint64_t>(own[2]);
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    const auto& asked = config.attrs[i].value.clusterDim;
    blocks = std::uint64_t{asked.x} * asked.y * asked.z;
  }
  return blocks;
}

// What every device with clusters can do, and what only some can.
std::uint64_t largest_cluster(const FunctionEntry& function) {
  return function.settings.non_portable_cluster != 0 ? 16 : 8;
}

// Runs body(Call&, FunctionEntry&, blocks that fit a multiprocessor) where the launch is possible.
template <typename Body>
CUresult with_launch(Symbol symbol, CUfunction function, const CUlaunchConfig* config,
                     const int* out, Body&& body) {
  return with_function(symbol, function, [&](Call& call, const FunctionEntry& entry) {
    if (out == nullptr || config == nullptr || (config->numAttrs > 0 && config->attrs == nullptr))
      return CUDA_ERROR_INVALID_VALUE;
    const int device = device_of(call, entry);
    if (attribute_of(call.machine, device, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) == 0)
      return CUDA_ERROR_NOT_SUPPORTED;
    const std::uint64_t threads =
        std::uint64_t{config->blockDimX} * config->blockDimY * config->blockDimZ;
    const auto most = static_cast<std::uint64_t>(
        attribute_of(call.machine, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
    if (threads == 0 || threads > most) return CUDA_ERROR_INVALID_VALUE;
    return body(call, entry,
                blocks_that_fit(call, device, static_cast<int>(threads), config->sharedMemBytes));
  });
}

}  // namespace

}  // namespace ferry::sim

using ferry::sim::Call;
using ferry::sim::FunctionEntry;
using ferry::sim::Symbol;
using ferry::sim::with_function;
using ferry::sim::with_launch;

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

CUresult cuOccupancyMaxPotentialClusterSize(int* clusterSize, CUfunction func,
                                            const CUlaunchConfig* config) {
  return with_launch(Symbol::cuOccupancyMaxPotentialClusterSize, func, config, clusterSize,
                     [&](Call&, const FunctionEntry& function, int blocks) {
                       const std::uint64_t own = ferry::sim::cluster_of(function, {});
                       const std::uint64_t most =
                           own > 0 ? own : ferry::sim::largest_cluster(function);
                       *clusterSize = blocks == 0 ? 0 : static_cast<int>(most);
                       return CUDA_SUCCESS;
                     });
}

// As if any multiprocessors could be of one cluster.
CUresult cuOccupancyMaxActiveClusters(int* numClusters, CUfunction func,
                                      const CUlaunchConfig* config) {
  return with_launch(Symbol::cuOccupancyMaxActiveClusters, func, config, numClusters,
                     [&](Call& call, const FunctionEntry& function, int blocks) {
                       const std::uint64_t cluster = ferry::sim::cluster_of(function, *config);
                       if (cluster == 0 || cluster > ferry::sim::largest_cluster(function))
                         return CUDA_ERROR_INVALID_CLUSTER_SIZE;
                       const int all =
                           blocks * ferry::sim::attribute_of(
                                        call.machine, ferry::sim::device_of(call, function),
                                        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
                       *numClusters = all / static_cast<int>(cluster);
                       return CUDA_SUCCESS;
                     });
}
