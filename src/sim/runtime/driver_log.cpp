// SPDX-License-Identifier: Apache-2.0
// Exported: the log of errors, which is the driver's. Needs no device.
#include "sim/runtime/runtime_call.hpp"

using ferry::sim::runtime::done;

cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t callbackFunc, void* userData,
                                     cudaLogsCallbackHandle* callback_out) {
  return done(cuLogsRegisterCallback(reinterpret_cast<CUlogsCallback>(callbackFunc), userData,
                                     callback_out));
}

cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle callback) {
  return done(cuLogsUnregisterCallback(callback));
}

cudaError_t cudaLogsCurrent(cudaLogIterator* iterator_out, unsigned int flags) {
  return done(cuLogsCurrent(iterator_out, flags));
}

cudaError_t cudaLogsDumpToFile(cudaLogIterator* iterator, const char* pathToFile,
                               unsigned int flags) {
  return done(cuLogsDumpToFile(iterator, pathToFile, flags));
}

cudaError_t cudaLogsDumpToMemory(cudaLogIterator* iterator, char* buffer, size_t* size,
                                 unsigned int flags) {
  return done(cuLogsDumpToMemory(iterator, buffer, size, flags));
}
