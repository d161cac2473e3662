// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/primary_contexts.hpp"

#include <map>
#include <mutex>

#include "sim/runtime/registered_code.hpp"

namespace ferry::sim::runtime {

namespace {

thread_local int chosen_device = 0;

struct Retained {
  std::mutex mutex;
  std::map<int, CUcontext> contexts;  // by device
};

// Never destroyed: threads may call until the process has gone.
Retained& retained() {
  static auto* const all = new Retained;
  return *all;
}

// The program may have reset or released it by functions of the driver.
bool is_active(CUdevice device) {
  unsigned flags = 0;
  int active = 0;
  return cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && active != 0;
}

CUresult retain(int device, CUcontext& out) {
  Retained& all = retained();
  const std::scoped_lock lock(all.mutex);
  CUdevice handle = 0;
  if (const CUresult found = cuDeviceGet(&handle, device); found != CUDA_SUCCESS) return found;
  const auto known = all.contexts.find(device);
  if (known != all.contexts.end() && is_active(handle)) {
    out = known->second;
    return CUDA_SUCCESS;
  }
  if (known != all.contexts.end()) forget_loaded_code();
  const CUresult result = cuDevicePrimaryCtxRetain(&out, handle);
  if (result == CUDA_SUCCESS) all.contexts[device] = out;
  return result;
}

}  // namespace

int device_of_thread() {
  return chosen_device;
}

void set_device_of_thread(int device) {
  chosen_device = device;
}

CUresult make_current(int device) {
  CUcontext context = nullptr;
  const CUresult result = retain(device, context);
  return result == CUDA_SUCCESS ? cuCtxSetCurrent(context) : result;
}

CUresult reset_device(int device) {
  Retained& all = retained();
  const std::scoped_lock lock(all.mutex);
  if (all.contexts.erase(device) > 0) cuCtxSetCurrent(nullptr);
  forget_loaded_code();
  return cuDevicePrimaryCtxReset(device);
}

}  // namespace ferry::sim::runtime
