// SPDX-License-Identifier: Apache-2.0
// Exported: cudaGetDeviceProperties. Each member is an attribute of the device, as the runtime's
// reference says of it; what has none stays 0.
#include <cstring>

#include "sim/runtime/runtime_call.hpp"

namespace {

using Property = int cudaDeviceProp::*;
using LargeProperty = size_t cudaDeviceProp::*;

struct PropertyRow {
  Property member;
  CUdevice_attribute attribute;
};
constexpr PropertyRow kProperties[] = {
    {&cudaDeviceProp::regsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {&cudaDeviceProp::warpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {&cudaDeviceProp::maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {&cudaDeviceProp::major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
    {&cudaDeviceProp::minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
    {&cudaDeviceProp::multiProcessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {&cudaDeviceProp::integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED},
    {&cudaDeviceProp::canMapHostMemory, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY},
    {&cudaDeviceProp::concurrentKernels, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS},
    {&cudaDeviceProp::ECCEnabled, CU_DEVICE_ATTRIBUTE_ECC_ENABLED},
    {&cudaDeviceProp::pciBusID, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID},
    {&cudaDeviceProp::pciDeviceID, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID},
    {&cudaDeviceProp::pciDomainID, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID},
    {&cudaDeviceProp::asyncEngineCount, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT},
    {&cudaDeviceProp::unifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING},
    {&cudaDeviceProp::memoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
    {&cudaDeviceProp::l2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {&cudaDeviceProp::persistingL2CacheMaxSize, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE},
    {&cudaDeviceProp::maxThreadsPerMultiProcessor,
     CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {&cudaDeviceProp::streamPrioritiesSupported, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED},
    {&cudaDeviceProp::globalL1CacheSupported, CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED},
    {&cudaDeviceProp::localL1CacheSupported, CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED},
    {&cudaDeviceProp::regsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
    {&cudaDeviceProp::managedMemory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY},
    {&cudaDeviceProp::isMultiGpuBoard, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD},
    {&cudaDeviceProp::multiGpuBoardGroupID, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID},
    {&cudaDeviceProp::hostNativeAtomicSupported, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED},
    {&cudaDeviceProp::pageableMemoryAccess, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS},
    {&cudaDeviceProp::concurrentManagedAccess, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
    {&cudaDeviceProp::computePreemptionSupported, CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED},
    {&cudaDeviceProp::canUseHostPointerForRegisteredMem,
     CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM},
    {&cudaDeviceProp::cooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH},
    {&cudaDeviceProp::pageableMemoryAccessUsesHostPageTables,
     CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES},
    {&cudaDeviceProp::directManagedMemAccessFromHost,
     CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST},
    {&cudaDeviceProp::maxBlocksPerMultiProcessor,
     CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
    {&cudaDeviceProp::accessPolicyMaxWindowSize, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE},
    {&cudaDeviceProp::hostRegisterSupported, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED},
    {&cudaDeviceProp::hostRegisterReadOnlySupported,
     CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED},
    {&cudaDeviceProp::memoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
    {&cudaDeviceProp::gpuDirectRDMASupported, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED},
    {&cudaDeviceProp::gpuDirectRDMAWritesOrdering,
     CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING},
    {&cudaDeviceProp::ipcEventSupported, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED},
    {&cudaDeviceProp::clusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH},
    {&cudaDeviceProp::unifiedFunctionPointers, CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS},
    {&cudaDeviceProp::deviceNumaConfig, CU_DEVICE_ATTRIBUTE_NUMA_CONFIG},
    {&cudaDeviceProp::deviceNumaId, CU_DEVICE_ATTRIBUTE_NUMA_ID},
    {&cudaDeviceProp::mpsEnabled, CU_DEVICE_ATTRIBUTE_MPS_ENABLED},
    {&cudaDeviceProp::hostNumaId, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID},
};

struct LargePropertyRow {
  LargeProperty member;
  CUdevice_attribute attribute;
};
constexpr LargePropertyRow kLargeProperties[] = {
    {&cudaDeviceProp::sharedMemPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
    {&cudaDeviceProp::memPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH},
    {&cudaDeviceProp::totalConstMem, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
    {&cudaDeviceProp::textureAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT},
    {&cudaDeviceProp::texturePitchAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT},
    {&cudaDeviceProp::surfaceAlignment, CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT},
    {&cudaDeviceProp::sharedMemPerMultiprocessor,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {&cudaDeviceProp::sharedMemPerBlockOptin,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {&cudaDeviceProp::reservedSharedMemPerBlock,
     CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK},
};

// 0 where the driver does not know the attribute.
int attribute_of(CUdevice device, int attribute) {
  int value = 0;
  const auto asked = static_cast<CUdevice_attribute>(attribute);
  return cuDeviceGetAttribute(&value, asked, device) == CUDA_SUCCESS ? value : 0;
}

void fill_shapes(CUdevice device, cudaDeviceProp& out) {
  for (int axis = 0; axis < 3; ++axis) {
    out.maxThreadsDim[axis] = attribute_of(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + axis);
    out.maxGridSize[axis] = attribute_of(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + axis);
  }
}

CUresult fill(CUdevice device, cudaDeviceProp& out) {
  if (const CUresult named = cuDeviceGetName(out.name, sizeof out.name, device);
      named != CUDA_SUCCESS) {
    return named;
  }
  CUuuid uuid{};
  if (const CUresult asked = cuDeviceGetUuid(&uuid, device); asked != CUDA_SUCCESS) return asked;
  std::memcpy(&out.uuid, &uuid, sizeof uuid);
  if (const CUresult asked = cuDeviceTotalMem(&out.totalGlobalMem, device); asked != CUDA_SUCCESS)
    return asked;
  for (const PropertyRow& row : kProperties) out.*row.member = attribute_of(device, row.attribute);
  for (const LargePropertyRow& row : kLargeProperties)
    out.*row.member = static_cast<size_t>(attribute_of(device, row.attribute));
  out.memoryPoolSupportedHandleTypes = static_cast<unsigned>(
      attribute_of(device, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES));
  fill_shapes(device, out);
  return CUDA_SUCCESS;
}

}  // namespace

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  using ferry::sim::runtime::done;
  if (prop == nullptr) return done(cudaErrorInvalidValue);
  if (const CUresult ready = cuInit(0); ready != CUDA_SUCCESS) return done(ready);
  CUdevice handle = 0;
  if (const CUresult found = cuDeviceGet(&handle, device); found != CUDA_SUCCESS)
    return done(found);
  *prop = {};
  return done(fill(handle, *prop));
}
