// SPDX-License-Identifier: Apache-2.0
// Exported: copies and fills. The kind of a copy says on which side the caller expects the device;
// the driver's function of that kind holds it to that.
#include "sim/runtime/primary_contexts.hpp"
#include "sim/runtime/runtime_call.hpp"

using ferry::sim::runtime::address_of;
using ferry::sim::runtime::on_device;
using ferry::sim::runtime::primary_context;

namespace {

CUresult copy_async(void* dst, const void* src, size_t count, cudaMemcpyKind kind,
                    CUstream stream) {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return cuMemcpyHtoDAsync(address_of(dst), src, count, stream);
    case cudaMemcpyDeviceToHost:
      return cuMemcpyDtoHAsync(dst, address_of(src), count, stream);
    case cudaMemcpyDeviceToDevice:
      return cuMemcpyDtoDAsync(address_of(dst), address_of(src), count, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return cuMemcpyAsync(address_of(dst), address_of(src), count, stream);
  }
  return static_cast<CUresult>(cudaErrorInvalidMemcpyDirection);
}

CUresult copy(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return cuMemcpyHtoD(address_of(dst), src, count);
    case cudaMemcpyDeviceToHost:
      return cuMemcpyDtoH(dst, address_of(src), count);
    case cudaMemcpyDeviceToDevice:
      return cuMemcpyDtoD(address_of(dst), address_of(src), count);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return cuMemcpy(address_of(dst), address_of(src), count);
  }
  return static_cast<CUresult>(cudaErrorInvalidMemcpyDirection);
}

struct Rows {
  void* destination;
  size_t destination_pitch;
  const void* source;
  size_t source_pitch;
  size_t width;
  size_t height;
};

void set_type(CUmemorytype& type, bool known, bool device) {
  type = CU_MEMORYTYPE_UNIFIED;
  if (known) type = device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

// What the driver would find out later, or not at all.
CUresult judge(const Rows& rows, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return static_cast<CUresult>(cudaErrorInvalidMemcpyDirection);
  if (rows.width > rows.destination_pitch || rows.width > rows.source_pitch)
    return static_cast<CUresult>(cudaErrorInvalidPitchValue);
  return CUDA_SUCCESS;
}

CUDA_MEMCPY2D params_of(const Rows& rows, cudaMemcpyKind kind) {
  CUDA_MEMCPY2D params{};
  const bool known = kind != cudaMemcpyDefault;
  set_type(params.srcMemoryType, known,
           kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice);
  set_type(params.dstMemoryType, known,
           kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice);
  params.srcHost = rows.source;
  params.srcDevice = address_of(rows.source);
  params.srcPitch = rows.source_pitch;
  params.dstHost = rows.destination;
  params.dstDevice = address_of(rows.destination);
  params.dstPitch = rows.destination_pitch;
  params.WidthInBytes = rows.width;
  params.Height = rows.height;
  return params;
}

template <typename Call>
cudaError_t copy_rows(const Rows& rows, cudaMemcpyKind kind, Call&& call) {
  return on_device([&] {
    const CUresult judged = judge(rows, kind);
    return judged == CUDA_SUCCESS ? call(params_of(rows, kind)) : judged;
  });
}

template <typename Call>
cudaError_t between(int destination, int source, Call&& call) {
  return on_device([&] {
    CUcontext to = nullptr;
    CUcontext from = nullptr;
    if (const CUresult found = primary_context(destination, to); found != CUDA_SUCCESS)
      return found;
    if (const CUresult found = primary_context(source, from); found != CUDA_SUCCESS) return found;
    return call(to, from);
  });
}

}  // namespace

cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  return on_device([&] { return copy(dst, src, count, kind); });
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return on_device([&] { return copy_async(dst, src, count, kind, stream); });
}

cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
  return copy_rows({dst, dpitch, src, spitch, width, height}, kind,
                   [](const CUDA_MEMCPY2D& params) { return cuMemcpy2DUnaligned(&params); });
}

cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return copy_rows({dst, dpitch, src, spitch, width, height}, kind,
                   [&](const CUDA_MEMCPY2D& params) { return cuMemcpy2DAsync(&params, stream); });
}

cudaError_t cudaMemcpyPeer(void* dst, int dstDevice, const void* src, int srcDevice, size_t count) {
  return between(dstDevice, srcDevice, [&](CUcontext to, CUcontext from) {
    return cuMemcpyPeer(address_of(dst), to, address_of(src), from, count);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int dstDevice, const void* src, int srcDevice,
                                size_t count, cudaStream_t stream) {
  return between(dstDevice, srcDevice, [&](CUcontext to, CUcontext from) {
    return cuMemcpyPeerAsync(address_of(dst), to, address_of(src), from, count, stream);
  });
}

cudaError_t cudaMemset(void* devPtr, int value, size_t count) {
  return on_device(
      [&] { return cuMemsetD8(address_of(devPtr), static_cast<unsigned char>(value), count); });
}

cudaError_t cudaMemsetAsync(void* devPtr, int value, size_t count, cudaStream_t stream) {
  return on_device([&] {
    return cuMemsetD8Async(address_of(devPtr), static_cast<unsigned char>(value), count, stream);
  });
}

cudaError_t cudaMemset2D(void* devPtr, size_t pitch, int value, size_t width, size_t height) {
  return on_device([&] {
    return cuMemsetD2D8(address_of(devPtr), pitch, static_cast<unsigned char>(value), width,
                        height);
  });
}

cudaError_t cudaMemset2DAsync(void* devPtr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return on_device([&] {
    return cuMemsetD2D8Async(address_of(devPtr), pitch, static_cast<unsigned char>(value), width,
                             height, stream);
  });
}
