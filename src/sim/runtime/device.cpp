// SPDX-License-Identifier: Apache-2.0
// Exported: devices, and the one that a thread works on.
#include <cudaProfiler.h>

#include "sim/runtime/primary_contexts.hpp"
#include "sim/runtime/runtime_call.hpp"

using ferry::sim::runtime::device_of_thread;
using ferry::sim::runtime::done;
using ferry::sim::runtime::make_current;
using ferry::sim::runtime::on_device;
using ferry::sim::runtime::primary_context;
using ferry::sim::runtime::reset_device;
using ferry::sim::runtime::set_device_of_thread;

namespace {

// Calls that need the driver, but no context.
template <typename Call>
cudaError_t on_driver(Call&& call) {
  const CUresult ready = cuInit(0);
  return done(ready == CUDA_SUCCESS ? call() : ready);
}

CUresult device_in_use(CUdevice* device) {
  CUcontext current = nullptr;
  if (const CUresult asked = cuCtxGetCurrent(&current); asked != CUDA_SUCCESS) return asked;
  if (current != nullptr) return cuCtxGetDevice(device);
  *device = device_of_thread();
  return CUDA_SUCCESS;
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  return on_driver([&] {
    const CUresult result = cuDeviceGetCount(count);
    return result == CUDA_SUCCESS && *count == 0 ? CUDA_ERROR_NO_DEVICE : result;
  });
}

cudaError_t cudaSetDevice(int device) {
  return on_driver([&] {
    CUdevice handle = 0;
    if (const CUresult found = cuDeviceGet(&handle, device); found != CUDA_SUCCESS) return found;
    set_device_of_thread(device);
    return make_current(device);
  });
}

cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) {
  return on_driver([&] {
    CUdevice handle = 0;
    return cuDeviceGet(&handle, device);
  });
}

cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return done(cudaErrorInvalidValue);
  return on_driver([&] { return device_in_use(device); });
}

cudaError_t cudaDeviceReset() {
  return on_driver([] {
    CUdevice device = 0;
    const CUresult asked = device_in_use(&device);
    return asked == CUDA_SUCCESS ? reset_device(device) : asked;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return on_device([] { return cuCtxSynchronize(); });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attr, int device) {
  return on_driver(
      [&] { return cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attr), device); });
}

cudaError_t cudaDeviceGetPCIBusId(char* pciBusId, int len, int device) {
  return on_driver([&] { return cuDeviceGetPCIBusId(pciBusId, len, device); });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* pciBusId) {
  return on_driver([&] { return cuDeviceGetByPCIBusId(device, pciBusId); });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
  return on_device([&] { return cuCtxGetStreamPriorityRange(leastPriority, greatestPriority); });
}

cudaError_t cudaDeviceGetLimit(size_t* pValue, cudaLimit limit) {
  return on_device([&] { return cuCtxGetLimit(pValue, static_cast<CUlimit>(limit)); });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return on_device([&] { return cuCtxSetLimit(static_cast<CUlimit>(limit), value); });
}

cudaError_t cudaDeviceCanAccessPeer(int* canAccessPeer, int device, int peerDevice) {
  return on_driver([&] { return cuDeviceCanAccessPeer(canAccessPeer, device, peerDevice); });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attr, int srcDevice,
                                      int dstDevice) {
  return on_driver([&] {
    return cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(attr), srcDevice,
                                   dstDevice);
  });
}

namespace {

template <typename Call>
cudaError_t with_peer(int peer, Call&& call) {
  return on_device([&] {
    CUcontext other = nullptr;
    const CUresult asked = primary_context(peer, other);
    return asked == CUDA_SUCCESS ? call(other) : asked;
  });
}

}  // namespace

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags) {
  return with_peer(peerDevice, [&](CUcontext peer) { return cuCtxEnablePeerAccess(peer, flags); });
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice) {
  return with_peer(peerDevice, [](CUcontext peer) { return cuCtxDisablePeerAccess(peer); });
}

cudaError_t cudaDriverGetVersion(int* driverVersion) {
  return done(cuDriverGetVersion(driverVersion));
}

cudaError_t cudaRuntimeGetVersion(int* runtimeVersion) {
  if (runtimeVersion == nullptr) return done(cudaErrorInvalidValue);
  *runtimeVersion = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaProfilerStart() {
  return on_device([] { return cuProfilerStart(); });
}

cudaError_t cudaProfilerStop() {
  return on_device([] { return cuProfilerStop(); });
}
