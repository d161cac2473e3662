// SPDX-License-Identifier: Apache-2.0
// Exported: errors.
#include "sim/runtime/runtime_call.hpp"

using ferry::sim::runtime::last_error;

namespace {

struct Phrase {
  cudaError_t error;
  const char* text;
};

// Of the codes that the driver does not have.
constexpr Phrase kPhrases[] = {
    {cudaErrorInvalidConfiguration, "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "invalid device symbol"},
    {cudaErrorInvalidHostPointer, "invalid host pointer"},
    {cudaErrorInvalidDevicePointer, "invalid device pointer"},
    {cudaErrorInvalidTexture, "invalid texture reference"},
    {cudaErrorInvalidTextureBinding, "texture is not bound to a pointer"},
    {cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"},
    {cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"},
    {cudaErrorAddressOfConstant, "invalid address of constant"},
    {cudaErrorTextureFetchFailed, "fetch from texture failed"},
    {cudaErrorTextureNotBound, "cannot fetch from a texture that is not bound"},
    {cudaErrorSynchronizationError, "incorrect use of __syncthreads()"},
    {cudaErrorInvalidFilterSetting, "linear filtering not supported for non-float type"},
    {cudaErrorInvalidNormSetting,
     "read as normalized float not supported for 32-bit non float type"},
    {cudaErrorMixedDeviceExecution,
     "device emulation mode and device execution mode cannot be mixed"},
    {cudaErrorNotYetImplemented, "feature not yet implemented"},
    {cudaErrorMemoryValueTooLarge, "memory size or pointer value too large to fit in 32 bit"},
    {cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorInvalidSurface, "invalid surface reference"},
    {cudaErrorDuplicateVariableName, "duplicate global variable looked up by string name"},
    {cudaErrorDuplicateTextureName, "duplicate texture looked up by string name"},
    {cudaErrorDuplicateSurfaceName, "duplicate surface looked up by string name"},
    {cudaErrorIncompatibleDriverContext, "incompatible driver context"},
    {cudaErrorMissingConfiguration, "launch without a configuration"},
    {cudaErrorPriorLaunchFailure, "failure of an earlier launch"},
    {cudaErrorLaunchMaxDepthExceeded, "launch of a kernel from a kernel is nested too deeply"},
    {cudaErrorLaunchFileScopedTex, "kernel with textures of file scope launched by a kernel"},
    {cudaErrorLaunchFileScopedSurf, "kernel with surfaces of file scope launched by a kernel"},
    {cudaErrorSyncDepthExceeded, "synchronization in a kernel is nested too deeply"},
    {cudaErrorLaunchPendingCountExceeded, "too many launches by kernels are pending"},
    {cudaErrorInvalidDeviceFunction, "invalid device function"},
    {cudaErrorSoftwareValidityNotEstablished, "integrity checks of the software failed"},
    {cudaErrorStartupFailure, "startup failure in the CUDA runtime"},
};

}  // namespace

cudaError_t cudaGetLastError() {
  return last_error(true);
}

cudaError_t cudaPeekAtLastError() {
  return last_error(false);
}

// The runtime spells the names of the codes that it shares with the driver in its own way
// ("cudaErrorInvalidValue"); those come from the table of errors.
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define FERRY_RUNTIME_ERROR(name) \
  case name:                      \
    return #name;
#include "abi/runtime_errors.inc"
#undef FERRY_RUNTIME_ERROR
    default:
      return "unrecognized error code";
  }
}

const char* cudaGetErrorString(cudaError_t error) {
  for (const Phrase& phrase : kPhrases) {
    if (phrase.error == error) return phrase.text;
  }
  const char* text = nullptr;
  const auto same = static_cast<CUresult>(error);
  return cuGetErrorString(same, &text) == CUDA_SUCCESS && text != nullptr
             ? text
             : "unrecognized error code";
}
