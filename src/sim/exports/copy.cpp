// SPDX-License-Identifier: Apache-2.0
// Exported: copies of one stretch of bytes.
#include <algorithm>
#include <optional>

#include "sim/exports/copies.hpp"
#include "sim/machine/peer_access.hpp"
#include "sim/machine/pointer_attributes.hpp"

namespace ferry::sim {

namespace {

// The copy as a graph describes it. Device memory is what lies among the device's addresses.
CUDA_MEMCPY3D params_of(const Machine& machine, const CopyRequest& request) {
  const auto type = [&](std::uint64_t address) {
    return machine.addresses.contains(address) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  };
  CUDA_MEMCPY3D params{};
  params.srcMemoryType = type(request.source);
  params.srcHost = reinterpret_cast<const void*>(request.source);
  params.srcDevice = request.source;
  params.dstMemoryType = type(request.destination);
  params.dstHost = reinterpret_cast<void*>(request.destination);
  params.dstDevice = request.destination;
  params.WidthInBytes = request.bytes;
  params.Height = 1;
  params.Depth = 1;
  return params;
}

// Without the code of kernels, device memory that an operator of a framework reads back, and that
// was not given to it, holds what a kernel was to write there. As elsewhere that reads as zeros,
// also where the operator itself copied there: it uses the same memory for one thing after another.
bool reads_what_a_skipped_kernel_wrote(const Call& call, const CopyRequest& request) {
  const Machine& machine = call.machine;
  const OperatorScope& operators = call.thread.operators;
  return operators.current() != nullptr && Library::get().kernels().skips_unknown() &&
         machine.addresses.contains(request.source) &&
         !machine.addresses.contains(request.destination) &&
         !operators.is_given(request.source, request.bytes);
}

CUresult submit_copy(Call& call, Symbol symbol, const CopyRequest& request, CUstream stream,
                     bool asynchronous, std::optional<Reach> reach = std::nullopt) {
  const auto [destination, source, bytes, device_destination, device_source] = request;
  if (bytes == 0) return CUDA_SUCCESS;
  Machine& machine = call.machine;
  if (destination == 0 || source == 0 || wraps(destination, bytes) || wraps(source, bytes) ||
      (device_destination && !is_device_side(machine, destination, bytes)) ||
      (device_source && !is_device_side(machine, source, bytes))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Submission submission{symbol, stream, Wait::no, {}, {}};
  submission.touches = {{source, bytes, AccessKind::read}, {destination, bytes, AccessKind::write}};
  if (!asynchronous) submission.wait = wait_of_plain_copy(machine, submission.touches);
  submission.work = [&machine, destination = destination, source = source, bytes = bytes,
                     reach](int device) {
    const Reach ends = reach ? *reach : reach_of_copy(machine, device, destination, source);
    return machine.operations.copy(ends, destination, source, bytes);
  };
  if (reads_what_a_skipped_kernel_wrote(call, request)) {
    submission.work = [&machine, destination = destination, bytes = bytes](int device) {
      return machine.operations.fill_rows(device, {destination, bytes}, 0, 1, bytes, 1);
    };
  }
  submission.node = CopyNode{params_of(machine, request)};
  return submit(call, std::move(submission));
}

}  // namespace

Wait wait_of_plain_copy(Machine& machine, std::span<const Touch> touches) {
  const auto is_on_device = [&](const Touch& touch) {
    return machine.addresses.contains(touch.address);
  };
  const auto is_pageable = [&](const Touch& touch) {
    return !is_on_device(touch) && !machine.host.covers(touch.address, touch.bytes);
  };
  const auto lands_on_device = [&](const Touch& touch) {
    return touch.kind == AccessKind::read || is_on_device(touch);
  };
  if (std::ranges::any_of(touches, [&](const Touch& touch) {
        return is_on_device(touch) && has_sync_memops(machine, touch.address);
      })) {
    return Wait::until_done;
  }
  if (std::ranges::all_of(touches, is_on_device)) return Wait::no;
  const bool leaves_early =
      std::ranges::any_of(touches, is_pageable) && std::ranges::all_of(touches, lands_on_device);
  return leaves_early ? Wait::until_read : Wait::until_done;
}

CUresult copy(Symbol symbol, const CopyRequest& request, CUstream stream, bool asynchronous) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    return submit_copy(call, symbol, request, stream, asynchronous);
  });
}

namespace {

// Between the memory of two contexts; neither needs access to the other's.
CUresult copy_peer(Symbol symbol, CUcontext destination, CUcontext source,
                   const CopyRequest& request, CUstream stream, bool asynchronous) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    const Context* const to = call.machine.contexts.find(value_of(destination));
    const Context* const from = call.machine.contexts.find(value_of(source));
    if (to == nullptr || from == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return submit_copy(call, symbol, request, stream, asynchronous,
                       Reach(to->device, from->device));
  });
}

}  // namespace

}  // namespace ferry::sim

using ferry::sim::address_of;
using ferry::sim::copy;
using ferry::sim::copy_peer;
using ferry::sim::Symbol;

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) {
  return copy(Symbol::cuMemcpy, {dst, src, ByteCount}, nullptr, false);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream) {
  return copy(Symbol::cuMemcpyAsync, {dst, src, ByteCount}, hStream, true);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount) {
  return copy(Symbol::cuMemcpyHtoD_v2, {dstDevice, address_of(srcHost), ByteCount, true, false},
              nullptr, false);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount,
                              CUstream hStream) {
  return copy(Symbol::cuMemcpyHtoDAsync_v2,
              {dstDevice, address_of(srcHost), ByteCount, true, false}, hStream, true);
}

CUresult cuMemcpyDtoH_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy(Symbol::cuMemcpyDtoH_v2, {address_of(dstHost), srcDevice, ByteCount, false, true},
              nullptr, false);
}

CUresult cuMemcpyDtoHAsync_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                              CUstream hStream) {
  return copy(Symbol::cuMemcpyDtoHAsync_v2,
              {address_of(dstHost), srcDevice, ByteCount, false, true}, hStream, true);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy(Symbol::cuMemcpyDtoD_v2, {dstDevice, srcDevice, ByteCount, true, true}, nullptr,
              false);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                              CUstream hStream) {
  return copy(Symbol::cuMemcpyDtoDAsync_v2, {dstDevice, srcDevice, ByteCount, true, true}, hStream,
              true);
}

CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                      CUcontext srcContext, size_t ByteCount) {
  return copy_peer(Symbol::cuMemcpyPeer, dstContext, srcContext,
                   {dstDevice, srcDevice, ByteCount, true, true}, nullptr, false);
}

CUresult cuMemcpyPeer_ptds(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                           CUcontext srcContext, size_t ByteCount) {
  return copy_peer(Symbol::cuMemcpyPeer_ptds, dstContext, srcContext,
                   {dstDevice, srcDevice, ByteCount, true, true}, CU_STREAM_PER_THREAD, false);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                           CUcontext srcContext, size_t ByteCount, CUstream hStream) {
  return copy_peer(Symbol::cuMemcpyPeerAsync, dstContext, srcContext,
                   {dstDevice, srcDevice, ByteCount, true, true}, hStream, true);
}

CUresult cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) {
  return copy(Symbol::cuMemcpy_ptds, {dst, src, ByteCount}, CU_STREAM_PER_THREAD, false);
}

CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount) {
  return copy(Symbol::cuMemcpyHtoD_v2_ptds,
              {dstDevice, address_of(srcHost), ByteCount, true, false}, CU_STREAM_PER_THREAD,
              false);
}

CUresult cuMemcpyDtoH_v2_ptds(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy(Symbol::cuMemcpyDtoH_v2_ptds,
              {address_of(dstHost), srcDevice, ByteCount, false, true}, CU_STREAM_PER_THREAD,
              false);
}

CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy(Symbol::cuMemcpyDtoD_v2_ptds, {dstDevice, srcDevice, ByteCount, true, true},
              CU_STREAM_PER_THREAD, false);
}
