// SPDX-License-Identifier: Apache-2.0
// What the exported functions about functions and kernels share.
#pragma once

#include "sim/machine/library.hpp"

namespace ferry::sim {

[[nodiscard]] inline int attribute_of(Machine& machine, int device, CUdevice_attribute attribute) {
  return machine.attribute(attribute, device).value_or(0);
}

[[nodiscard]] inline int device_of(Call& call, const FunctionEntry& function) {
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

// Runs body(Call&, KernelEntry&) where the kernel is there.
template <typename Body>
CUresult with_kernel(Symbol symbol, Need need, CUkernel kernel, Body&& body) {
  return Library::get().call(symbol, need, [&](Call& call) {
    KernelEntry* const entry = call.machine.kernels.find(value_of(kernel));
    return entry == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(call, *entry);
  });
}

}  // namespace ferry::sim
