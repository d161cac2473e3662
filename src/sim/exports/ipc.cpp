// SPDX-License-Identifier: Apache-2.0
// Exported: plain device memory and events between processes, by handles of 64 bytes.
#include "sim/machine/event_access.hpp"
#include "sim/machine/opened_memory.hpp"

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
