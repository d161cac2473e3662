// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/primary_contexts.hpp"

#include <map>
#include <mutex>

#include "sim/runtime/registered_code.hpp"

namespace ferry::sim::runtime {

namespace {

thread_local int chosen_device = 0;

struct Primary {
  CUcontext context = nullptr;
  unsigned long long number = 0;  // as cuCtxGetId tells it
};

struct Retained {
  std::mutex mutex;
  std::map<int, Primary> contexts;  // by device
};

// Never destroyed: threads may call until the process has gone.
Retained& retained() {
  static auto* const all = new Retained;
  return *all;
}

// The program may have released it by functions of the driver.
bool is_active(CUdevice device) {
  unsigned flags = 0;
  int active = 0;
  return cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && active != 0;
}

CUresult retain(Retained& all, int device, CUcontext& out) {
  CUdevice handle = 0;
  if (const CUresult found = cuDeviceGet(&handle, device); found != CUDA_SUCCESS) return found;
  const auto known = all.contexts.find(device);
  if (known != all.contexts.end()) {
    out = known->second.context;
    if (is_active(handle)) return CUDA_SUCCESS;
    forget_code(known->second.number);
  }
  if (const CUresult result = cuDevicePrimaryCtxRetain(&out, handle); result != CUDA_SUCCESS)
    return result;
  Primary& kept = all.contexts[device];
  kept.context = out;
  return cuCtxGetId(out, &kept.number);
}

}  // namespace

int device_of_thread() {
  return chosen_device;
}

void set_device_of_thread(int device) {
  chosen_device = device;
}

CUresult primary_context(int device, CUcontext& out) {
  Retained& all = retained();
  const std::scoped_lock lock(all.mutex);
  return retain(all, device, out);
}

CUresult make_current(int device) {
  CUcontext context = nullptr;
  const CUresult result = primary_context(device, context);
  return result == CUDA_SUCCESS ? cuCtxSetCurrent(context) : result;
}

CUresult reset_device(int device) {
  Retained& all = retained();
  const std::scoped_lock lock(all.mutex);
  if (const auto known = all.contexts.find(device); known != all.contexts.end())
    forget_code(known->second.number);
  return cuDevicePrimaryCtxReset(device);
}

}  // namespace ferry::sim::runtime
