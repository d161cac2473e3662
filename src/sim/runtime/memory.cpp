// SPDX-License-Identifier: Apache-2.0
// Exported: memory of devices and of the host.
#include <iterator>

#include "sim/runtime/runtime_call.hpp"

using ferry::sim::runtime::address_of;
using ferry::sim::runtime::done;
using ferry::sim::runtime::on_device;

namespace {

CUdeviceptr* as_address(void** pointer) {
  return reinterpret_cast<CUdeviceptr*>(pointer);
}

// The driver refuses a size of 0; the runtime answers it with a null pointer.
template <typename Allocate>
cudaError_t allocate(void** out, size_t bytes, Allocate&& call) {
  if (out == nullptr) return done(cudaErrorInvalidValue);
  return on_device([&] {
    *out = nullptr;
    return bytes == 0 ? CUDA_SUCCESS : call();
  });
}

}  // namespace

cudaError_t cudaMalloc(void** devPtr, size_t size) {
  return allocate(devPtr, size, [&] { return cuMemAlloc(as_address(devPtr), size); });
}

cudaError_t cudaMallocPitch(void** devPtr, size_t* pitch, size_t width, size_t height) {
  return allocate(devPtr, width * height, [&] {
    constexpr unsigned kElementBytes = 4;
    return cuMemAllocPitch(as_address(devPtr), pitch, width, height, kElementBytes);
  });
}

cudaError_t cudaMallocManaged(void** devPtr, size_t size, unsigned int flags) {
  return allocate(devPtr, size, [&] { return cuMemAllocManaged(as_address(devPtr), size, flags); });
}

cudaError_t cudaFree(void* devPtr) {
  return on_device(
      [&] { return devPtr == nullptr ? CUDA_SUCCESS : cuMemFree(address_of(devPtr)); });
}

cudaError_t cudaMallocHost(void** ptr, size_t size) {
  return allocate(ptr, size, [&] { return cuMemAllocHost(ptr, size); });
}

cudaError_t cudaHostAlloc(void** pHost, size_t size, unsigned int flags) {
  return allocate(pHost, size, [&] { return cuMemHostAlloc(pHost, size, flags); });
}

cudaError_t cudaFreeHost(void* ptr) {
  return on_device([&] { return ptr == nullptr ? CUDA_SUCCESS : cuMemFreeHost(ptr); });
}

cudaError_t cudaHostRegister(void* ptr, size_t size, unsigned int flags) {
  return on_device([&] { return cuMemHostRegister(ptr, size, flags); });
}

cudaError_t cudaHostUnregister(void* ptr) {
  return on_device([&] { return cuMemHostUnregister(ptr); });
}

cudaError_t cudaHostGetDevicePointer(void** pDevice, void* pHost, unsigned int flags) {
  return on_device([&] { return cuMemHostGetDevicePointer(as_address(pDevice), pHost, flags); });
}

cudaError_t cudaHostGetFlags(unsigned int* pFlags, void* pHost) {
  return on_device([&] { return cuMemHostGetFlags(pFlags, pHost); });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return on_device([&] { return cuMemGetInfo(free, total); });
}

namespace {

cudaMemoryType type_of(unsigned type, bool managed) {
  if (managed) return cudaMemoryTypeManaged;
  if (type == CU_MEMORYTYPE_DEVICE) return cudaMemoryTypeDevice;
  return type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
}

CUresult attributes_of(cudaPointerAttributes& out, const void* pointer) {
  unsigned type = 0;  // stays so for what the driver does not know
  unsigned managed = 0;
  int device = 0;
  CUdeviceptr on_device = 0;
  void* on_host = nullptr;
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                 CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void* answers[] = {&type, &managed, &device, &on_device, &on_host};
  const CUresult result =
      cuPointerGetAttributes(std::size(asked), asked, answers, address_of(pointer));
  if (result != CUDA_SUCCESS) return result;
  out = {};
  out.type = type_of(type, managed != 0);
  const bool unknown = out.type == cudaMemoryTypeUnregistered;
  out.device = unknown ? -2 : device;
  out.devicePointer = unknown ? nullptr : reinterpret_cast<void*>(on_device);
  out.hostPointer = unknown ? const_cast<void*>(pointer) : on_host;
  return CUDA_SUCCESS;
}

}  // namespace

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* ptr) {
  if (attributes == nullptr) return done(cudaErrorInvalidValue);
  return on_device([&] { return attributes_of(*attributes, ptr); });
}
