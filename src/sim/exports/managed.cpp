// SPDX-License-Identifier: Apache-2.0
// Exported: managed memory. It is host memory that every device may use and that never moves:
// advice and prefetches are checked, kept, and take their place in the order, but change nothing.
#include "sim/machine/stream_access.hpp"

using ferry::sim::Advice;
using ferry::sim::Call;
using ferry::sim::Library;
using ferry::sim::Machine;
using ferry::sim::Need;
using ferry::sim::Submission;
using ferry::sim::Symbol;
using ferry::sim::Wait;

namespace {

CUresult check_location(const Machine& machine, const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return machine.has_device(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// How the older variants name a place: a device, or CU_DEVICE_CPU.
CUmemLocation location_of(CUdevice device) {
  CUmemLocation location{};
  location.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device == CU_DEVICE_CPU ? 0 : device;
  return location;
}

bool has_location(CUmem_advise advice) {
  return advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
         advice == CU_MEM_ADVISE_SET_ACCESSED_BY || advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

void take_advice(Advice& known, CUmem_advise advice, const CUmemLocation& location) {
  const int accessor =
      location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : int{CU_DEVICE_CPU};
  switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
      known.read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
      return;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      known.preferred = location;
      return;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      known.preferred = {};
      return;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
      known.accessed_by.insert(accessor);
      return;
    default:
      known.accessed_by.erase(accessor);
  }
}

CUresult advise(Symbol symbol, CUdeviceptr address, std::size_t bytes, CUmem_advise advice,
                const CUmemLocation& location) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    if (bytes == 0 || advice < CU_MEM_ADVISE_SET_READ_MOSTLY ||
        advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY || !call.machine.host.is_managed(address, bytes)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const CUresult place =
        has_location(advice) ? check_location(call.machine, location) : CUDA_SUCCESS;
    if (place != CUDA_SUCCESS) return place;
    call.machine.host.advice().change(address, bytes,
                                      [&](Advice& known) { take_advice(known, advice, location); });
    return CUDA_SUCCESS;
  });
}

CUresult prefetch(Symbol symbol, CUdeviceptr address, std::size_t bytes,
                  const CUmemLocation& location, unsigned flags, CUstream stream) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    if (bytes == 0 || flags != 0 || !call.machine.host.is_managed(address, bytes))
      return CUDA_ERROR_INVALID_VALUE;
    const CUresult place = check_location(call.machine, location);
    if (place != CUDA_SUCCESS) return place;
    call.machine.host.advice().change(address, bytes,
                                      [&](Advice& known) { known.prefetched = location; });
    // Contents do not change, so nothing is touched: whoever may read the memory still may.
    Submission submission{symbol, stream, Wait::no, {}, {}};
    submission.work = [](int) { return CUDA_SUCCESS; };
    return ferry::sim::submit(call, std::move(submission));
  });
}

}  // namespace

CUresult cuMemAllocManaged(CUdeviceptr* dptr, size_t bytesize, unsigned int flags) {
  return Library::get().call(
      Symbol::cuMemAllocManaged, Need::context,
      [&](Call& call) {
        if (dptr == nullptr || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
          return CUDA_ERROR_INVALID_VALUE;
        void* memory = nullptr;
        const CUresult result = call.machine.host.allocate_managed(
            &memory, bytesize, call.context->handle, call.context->device);
        if (result == CUDA_SUCCESS) *dptr = reinterpret_cast<std::uintptr_t>(memory);
        return result;
      },
      bytesize);
}

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device) {
  return advise(Symbol::cuMemAdvise, devPtr, count, advice, location_of(device));
}

CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                        CUmemLocation location) {
  return advise(Symbol::cuMemAdvise_v2, devPtr, count, advice, location);
}

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                            CUstream hStream) {
  return prefetch(Symbol::cuMemPrefetchAsync, devPtr, count, location_of(dstDevice), 0, hStream);
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                               unsigned int flags, CUstream hStream) {
  return prefetch(Symbol::cuMemPrefetchAsync_v2, devPtr, count, location, flags, hStream);
}
