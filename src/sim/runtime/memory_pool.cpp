// SPDX-License-Identifier: Apache-2.0
// Exported: memory in the order of streams.
#include "sim/runtime/runtime_call.hpp"

using ferry::sim::runtime::address_of;
using ferry::sim::runtime::on_device;

namespace {

CUmemPool_attribute attribute_of(cudaMemPoolAttr attribute) {
  return static_cast<CUmemPool_attribute>(attribute);
}

}  // namespace

cudaError_t cudaMallocAsync(void** devPtr, size_t size, cudaStream_t hStream) {
  return on_device(
      [&] { return cuMemAllocAsync(reinterpret_cast<CUdeviceptr*>(devPtr), size, hStream); });
}

cudaError_t cudaMallocFromPoolAsync(void** ptr, size_t size, cudaMemPool_t memPool,
                                    cudaStream_t stream) {
  return on_device([&] {
    return cuMemAllocFromPoolAsync(reinterpret_cast<CUdeviceptr*>(ptr), size, memPool, stream);
  });
}

cudaError_t cudaFreeAsync(void* devPtr, cudaStream_t hStream) {
  return on_device([&] { return cuMemFreeAsync(address_of(devPtr), hStream); });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* memPool, int device) {
  return on_device([&] { return cuDeviceGetDefaultMemPool(memPool, device); });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* memPool, int device) {
  return on_device([&] { return cuDeviceGetMemPool(memPool, device); });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool) {
  return on_device([&] { return cuDeviceSetMemPool(device, memPool); });
}

// The properties of a pool and of an access are the driver's by another name, member by member.
cudaError_t cudaMemPoolCreate(cudaMemPool_t* memPool, const cudaMemPoolProps* poolProps) {
  static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps));
  return on_device(
      [&] { return cuMemPoolCreate(memPool, reinterpret_cast<const CUmemPoolProps*>(poolProps)); });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool) {
  return on_device([&] { return cuMemPoolDestroy(memPool); });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep) {
  return on_device([&] { return cuMemPoolTrimTo(memPool, minBytesToKeep); });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, cudaMemPoolAttr attr, void* value) {
  return on_device([&] { return cuMemPoolGetAttribute(memPool, attribute_of(attr), value); });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, cudaMemPoolAttr attr, void* value) {
  return on_device([&] { return cuMemPoolSetAttribute(memPool, attribute_of(attr), value); });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const cudaMemAccessDesc* descList,
                                 size_t count) {
  static_assert(sizeof(cudaMemAccessDesc) == sizeof(CUmemAccessDesc));
  return on_device([&] {
    return cuMemPoolSetAccess(memPool, reinterpret_cast<const CUmemAccessDesc*>(descList), count);
  });
}
