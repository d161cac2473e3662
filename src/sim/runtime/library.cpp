// SPDX-License-Identifier: Apache-2.0
// Exported: code that a program loads itself, and the driver's functions by name.
#include "sim/runtime/primary_contexts.hpp"
#include "sim/runtime/registered_code.hpp"
#include "sim/runtime/runtime_call.hpp"

using ferry::sim::runtime::done;
using ferry::sim::runtime::find_kernel;
using ferry::sim::runtime::function_of;
using ferry::sim::runtime::make_current;
using ferry::sim::runtime::on_device;
using ferry::sim::runtime::RegisteredKernel;

namespace {

CUlibrary as_library(cudaLibrary_t library) {
  return reinterpret_cast<CUlibrary>(library);
}

CUkernel as_kernel(cudaKernel_t kernel) {
  return reinterpret_cast<CUkernel>(kernel);
}

// Of a registered kernel, which has a function for each device.
CUresult set_attribute(const RegisteredKernel& kernel, CUfunction_attribute attribute, int value,
                       int device) {
  CUcontext own = nullptr;
  if (const CUresult asked = cuCtxGetCurrent(&own); asked != CUDA_SUCCESS) return asked;
  if (const CUresult made = make_current(device); made != CUDA_SUCCESS) return made;
  CUfunction function = nullptr;
  CUresult result = function_of(kernel, function);
  if (result == CUDA_SUCCESS) result = cuFuncSetAttribute(function, attribute, value);
  const CUresult back = cuCtxSetCurrent(own);
  return result == CUDA_SUCCESS ? back : result;
}

}  // namespace

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* jitOptions,
                                void** jitOptionsValues, unsigned int numJitOptions,
                                cudaLibraryOption* libraryOptions, void** libraryOptionValues,
                                unsigned int numLibraryOptions) {
  return on_device([&] {
    return cuLibraryLoadData(reinterpret_cast<CUlibrary*>(library), code,
                             reinterpret_cast<CUjit_option*>(jitOptions), jitOptionsValues,
                             numJitOptions, reinterpret_cast<CUlibraryOption*>(libraryOptions),
                             libraryOptionValues, numLibraryOptions);
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* fileName,
                                    cudaJitOption* jitOptions, void** jitOptionsValues,
                                    unsigned int numJitOptions, cudaLibraryOption* libraryOptions,
                                    void** libraryOptionValues, unsigned int numLibraryOptions) {
  return on_device([&] {
    return cuLibraryLoadFromFile(reinterpret_cast<CUlibrary*>(library), fileName,
                                 reinterpret_cast<CUjit_option*>(jitOptions), jitOptionsValues,
                                 numJitOptions, reinterpret_cast<CUlibraryOption*>(libraryOptions),
                                 libraryOptionValues, numLibraryOptions);
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return on_device([&] { return cuLibraryUnload(as_library(library)); });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* pKernel, cudaLibrary_t library, const char* name) {
  return on_device([&] {
    return cuLibraryGetKernel(reinterpret_cast<CUkernel*>(pKernel), as_library(library), name);
  });
}

cudaError_t cudaLibraryGetKernelCount(unsigned int* count, cudaLibrary_t lib) {
  return on_device([&] { return cuLibraryGetKernelCount(count, as_library(lib)); });
}

cudaError_t cudaLibraryGetGlobal(void** dptr, size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  return on_device([&] {
    return cuLibraryGetGlobal(reinterpret_cast<CUdeviceptr*>(dptr), bytes, as_library(library),
                              name);
  });
}

cudaError_t cudaLibraryGetManaged(void** dptr, size_t* bytes, cudaLibrary_t library,
                                  const char* name) {
  return on_device([&] {
    return cuLibraryGetManaged(reinterpret_cast<CUdeviceptr*>(dptr), bytes, as_library(library),
                               name);
  });
}

cudaError_t cudaLibraryGetUnifiedFunction(void** fptr, cudaLibrary_t library, const char* symbol) {
  return on_device([&] { return cuLibraryGetUnifiedFunction(fptr, as_library(library), symbol); });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attr, int value,
                                            int device) {
  const auto attribute = static_cast<CUfunction_attribute>(attr);
  const RegisteredKernel* const registered = find_kernel(kernel);
  return on_device([&] {
    return registered == nullptr ? cuKernelSetAttribute(attribute, value, as_kernel(kernel), device)
                                 : set_attribute(*registered, attribute, value, device);
  });
}

namespace {

cudaError_t entry_point(const char* symbol, void** function, unsigned version,
                        unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  if (symbol == nullptr || function == nullptr) return done(cudaErrorInvalidValue);
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  const CUresult result =
      cuGetProcAddress(symbol, function, static_cast<int>(version), flags, &found);
  if (status != nullptr) *status = static_cast<cudaDriverEntryPointQueryResult>(found);
  // The driver's null pointer is the answer, with or without a status.
  return done(result == CUDA_ERROR_NOT_FOUND ? CUDA_SUCCESS : result);
}

}  // namespace

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** funcPtr, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* driverStatus) {
  return entry_point(symbol, funcPtr, CUDART_VERSION, flags, driverStatus);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** funcPtr,
                                             unsigned int cudaVersion, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* driverStatus) {
  return entry_point(symbol, funcPtr, cudaVersion, flags, driverStatus);
}
