// SPDX-License-Identifier: Apache-2.0
// Exported: streams and events.
#include "sim/runtime/runtime_call.hpp"

using ferry::sim::runtime::on_device;

cudaError_t cudaStreamCreate(cudaStream_t* pStream) {
  return on_device([&] { return cuStreamCreate(pStream, CU_STREAM_DEFAULT); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* pStream, unsigned int flags) {
  return on_device([&] { return cuStreamCreate(pStream, flags); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* pStream, unsigned int flags, int priority) {
  return on_device([&] { return cuStreamCreateWithPriority(pStream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return on_device([&] { return cuStreamDestroy(stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return on_device([&] { return cuStreamSynchronize(stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return on_device([&] { return cuStreamQuery(stream); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return on_device([&] { return cuStreamWaitEvent(stream, event, flags); });
}

cudaError_t cudaStreamGetPriority(cudaStream_t hStream, int* priority) {
  return on_device([&] { return cuStreamGetPriority(hStream, priority); });
}

cudaError_t cudaStreamGetFlags(cudaStream_t hStream, unsigned int* flags) {
  return on_device([&] { return cuStreamGetFlags(hStream, flags); });
}

cudaError_t cudaStreamGetId(cudaStream_t hStream, unsigned long long* streamId) {
  return on_device([&] { return cuStreamGetId(hStream, streamId); });
}

cudaError_t cudaStreamGetDevice(cudaStream_t hStream, int* device) {
  return on_device([&] { return cuStreamGetDevice(hStream, device); });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void* userData) {
  return on_device([&] { return cuLaunchHostFunc(stream, fn, userData); });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* userData, unsigned int flags) {
  // The two kinds of callback differ in the name of their error's type alone.
  const auto same = reinterpret_cast<CUstreamCallback>(callback);
  return on_device([&] { return cuStreamAddCallback(stream, same, userData, flags); });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return on_device([&] { return cuEventCreate(event, CU_EVENT_DEFAULT); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return on_device([&] { return cuEventCreate(event, flags); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return on_device([&] { return cuEventRecord(event, stream); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return on_device([&] { return cuEventRecordWithFlags(event, stream, flags); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return on_device([&] { return cuEventQuery(event); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return on_device([&] { return cuEventSynchronize(event); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return on_device([&] { return cuEventDestroy(event); });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return on_device([&] { return cuEventElapsedTime(ms, start, end); });
}
