// SPDX-License-Identifier: Apache-2.0
// Exported: what functions and kernels say of themselves, and what they are set to. Their code is
// of the host, so they use the registers of a small kernel and no memory of their own; what
// arguments they take is known of those whose code is registered.
#include "sim/exports/functions.hpp"

namespace ferry::sim {

namespace {

constexpr int kRegisters = 32;

// As a number of two digits: 90 for 9.0.
int architecture(Call& call, int device) {
  return 10 * attribute_of(call.machine, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
         attribute_of(call.machine, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

CUresult get_attribute(Call& call, int device, const FunctionSettings& settings,
                       CUfunction_attribute attribute, int& out) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      out = attribute_of(call.machine, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      out = 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      out = kRegisters;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      out = architecture(call, device);
      return CUDA_SUCCESS;
    default:
      break;
  }
  const int* const setting = settings.find(attribute);
  if (setting == nullptr) return CUDA_ERROR_INVALID_VALUE;
  out = *setting;
  return CUDA_SUCCESS;
}

bool may_be_set(Call& call, int device, CUfunction_attribute attribute, int value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return value >= 0 &&
             value <= attribute_of(call.machine, device,
                                   CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return value >= -1 && value <= 100;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return value == 0 || value == 1;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return value >= CU_CLUSTER_SCHEDULING_POLICY_DEFAULT &&
             value <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING;
    default:
      return value >= 0;
  }
}

CUresult set_attribute(Call& call, int device, FunctionSettings& settings,
                       CUfunction_attribute attribute, int value) {
  int* const setting = settings.find(attribute);
  if (setting == nullptr || !may_be_set(call, device, attribute, value))
    return CUDA_ERROR_INVALID_VALUE;
  *setting = value;
  return CUDA_SUCCESS;
}

// Runs body(Call&, KernelEntry&) where the kernel and the device are there.
template <typename Body>
CUresult with_kernel_on(Symbol symbol, CUkernel kernel, CUdevice device, Body&& body) {
  return with_kernel(symbol, Need::initialised, kernel, [&](Call& call, KernelEntry& entry) {
    return call.machine.has_device(device) ? body(call, entry) : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult check_cache_config(CUfunc_cache config) {
  return config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
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
using ferry::sim::device_of;
using ferry::sim::FunctionEntry;
using ferry::sim::KernelEntry;
using ferry::sim::Need;
using ferry::sim::Symbol;
using ferry::sim::value_of;
using ferry::sim::with_function;
using ferry::sim::with_kernel;
using ferry::sim::with_kernel_on;

CUresult cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc) {
  return with_function(Symbol::cuFuncGetAttribute, hfunc,
                       [&](Call& call, const FunctionEntry& function) {
                         if (pi == nullptr) return CUDA_ERROR_INVALID_VALUE;
                         return ferry::sim::get_attribute(call, device_of(call, function),
                                                          function.settings, attrib, *pi);
                       });
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
  return with_function(Symbol::cuFuncSetAttribute, hfunc, [&](Call& call, FunctionEntry& function) {
    const CUresult result = ferry::sim::set_attribute(call, device_of(call, function),
                                                      function.settings, attrib, value);
    if (result == CUDA_SUCCESS) function.own.insert(attrib);
    return result;
  });
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
  return with_function(Symbol::cuFuncSetCacheConfig, hfunc, [&](Call&, const FunctionEntry&) {
    return ferry::sim::check_cache_config(config);
  });
}

// The banks of the device's shared memory are of a fixed size: this does nothing there.
CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config) {
  return with_function(Symbol::cuFuncSetSharedMemConfig, hfunc, [&](Call&, const FunctionEntry&) {
    return config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE
                                                              : CUDA_SUCCESS;
  });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return with_function(Symbol::cuFuncIsLoaded, function, [&](Call&, const FunctionEntry&) {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncLoad(CUfunction function) {
  return with_function(Symbol::cuFuncLoad, function,
                       [&](Call&, const FunctionEntry&) { return CUDA_SUCCESS; });
}

CUresult cuKernelGetAttribute(int* pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev) {
  return with_kernel_on(
      Symbol::cuKernelGetAttribute, kernel, dev, [&](Call& call, KernelEntry& entry) {
        if (pi == nullptr) return CUDA_ERROR_INVALID_VALUE;
        return ferry::sim::get_attribute(call, dev, entry.settings[dev], attrib, *pi);
      });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev) {
  return with_kernel_on(
      Symbol::cuKernelSetAttribute, kernel, dev, [&](Call& call, KernelEntry& entry) {
        const CUresult result =
            ferry::sim::set_attribute(call, dev, entry.settings[dev], attrib, val);
        if (result == CUDA_SUCCESS)
          ferry::sim::pass_on_setting(call.machine, value_of(kernel), dev, attrib);
        return result;
      });
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) {
  return with_kernel_on(Symbol::cuKernelSetCacheConfig, kernel, dev, [&](Call&, KernelEntry&) {
    return ferry::sim::check_cache_config(config);
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
  return with_kernel(Symbol::cuKernelGetParamInfo, Need::initialised, kernel,
                     [&](Call&, const KernelEntry& entry) {
                       return ferry::sim::parameter_of(entry.name, paramIndex, paramOffset,
                                                       paramSize);
                     });
}
