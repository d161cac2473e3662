// SPDX-License-Identifier: Apache-2.0
// Exported: memory and events between processes. The handles are the driver's by another name.
#include <bit>

#include "sim/runtime/runtime_call.hpp"

using ferry::sim::runtime::address_of;
using ferry::sim::runtime::on_device;

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle));
static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle));

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* devPtr) {
  return on_device([&] {
    return cuIpcGetMemHandle(reinterpret_cast<CUipcMemHandle*>(handle), address_of(devPtr));
  });
}

cudaError_t cudaIpcOpenMemHandle(void** devPtr, cudaIpcMemHandle_t handle, unsigned int flags) {
  return on_device([&] {
    return cuIpcOpenMemHandle(reinterpret_cast<CUdeviceptr*>(devPtr),
                              std::bit_cast<CUipcMemHandle>(handle), flags);
  });
}

cudaError_t cudaIpcCloseMemHandle(void* devPtr) {
  return on_device([&] { return cuIpcCloseMemHandle(address_of(devPtr)); });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return on_device(
      [&] { return cuIpcGetEventHandle(reinterpret_cast<CUipcEventHandle*>(handle), event); });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  return on_device(
      [&] { return cuIpcOpenEventHandle(event, std::bit_cast<CUipcEventHandle>(handle)); });
}
