// SPDX-License-Identifier: Apache-2.0
// Exported: plain device memory, events and pools between processes. Physical memory by descriptors
// is in virtual_memory.cpp.
#include "sim/machine/event_access.hpp"
#include "sim/machine/opened_memory.hpp"
#include "sim/machine/pool_sharing.hpp"

using ferry::sim::Call;
using ferry::sim::Library;
using ferry::sim::Need;
using ferry::sim::Symbol;

CUresult cuIpcGetMemHandle(CUipcMemHandle* pHandle, CUdeviceptr dptr) {
  return Library::get().call(Symbol::cuIpcGetMemHandle, Need::context, [&](Call& call) {
    return ferry::sim::get_memory_handle(call, pHandle, dptr);
  });
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* pdptr, CUipcMemHandle handle, unsigned int Flags) {
  return Library::get().call(Symbol::cuIpcOpenMemHandle_v2, Need::context, [&](Call& call) {
    return ferry::sim::open_memory_handle(call, pdptr, handle.reserved, Flags);
  });
}

CUresult cuIpcCloseMemHandle(CUdeviceptr dptr) {
  return Library::get().call(Symbol::cuIpcCloseMemHandle, Need::context, [&](Call& call) {
    return ferry::sim::close_memory_handle(call, dptr);
  });
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* pHandle, CUevent event) {
  return Library::get().call(Symbol::cuIpcGetEventHandle, Need::no_fault, [&](Call& call) {
    return ferry::sim::get_event_handle(call, pHandle, event);
  });
}

CUresult cuIpcOpenEventHandle(CUevent* phEvent, CUipcEventHandle handle) {
  return Library::get().call(Symbol::cuIpcOpenEventHandle, Need::context, [&](Call& call) {
    return ferry::sim::open_event_handle(call, phEvent, handle.reserved);
  });
}

CUresult cuMemPoolExportToShareableHandle(void* handle_out, CUmemoryPool pool,
                                          CUmemAllocationHandleType handleType,
                                          unsigned long long flags) {
  return Library::get().call(
      Symbol::cuMemPoolExportToShareableHandle, Need::no_fault, [&](Call& call) {
        return ferry::sim::export_pool(call.machine, handle_out, pool, handleType, flags);
      });
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool_out, void* handle,
                                            CUmemAllocationHandleType handleType,
                                            unsigned long long flags) {
  return Library::get().call(
      Symbol::cuMemPoolImportFromShareableHandle, Need::no_fault, [&](Call& call) {
        return ferry::sim::import_pool(call.machine, pool_out, handle, handleType, flags);
      });
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* shareData_out, CUdeviceptr ptr) {
  return Library::get().call(Symbol::cuMemPoolExportPointer, Need::no_fault, [&](Call& call) {
    return ferry::sim::export_pool_memory(call.machine, shareData_out, ptr);
  });
}

CUresult cuMemPoolImportPointer(CUdeviceptr* ptr_out, CUmemoryPool pool,
                                CUmemPoolPtrExportData* shareData) {
  return Library::get().call(Symbol::cuMemPoolImportPointer, Need::no_fault, [&](Call& call) {
    return ferry::sim::import_pool_memory(call.machine, ptr_out, pool, shareData);
  });
}
