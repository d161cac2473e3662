// SPDX-License-Identifier: Apache-2.0
// Exported: virtual memory management. The rules are those of VirtualMemory.
#include "sim/machine/library.hpp"
#include "sim/machine/sharing.hpp"

using ferry::sim::Call;
using ferry::sim::Library;
using ferry::sim::Machine;
using ferry::sim::Mapping;
using ferry::sim::Need;
using ferry::sim::PageTable;
using ferry::sim::Symbol;
using ferry::sim::VirtualMemory;

namespace {

// Runs body(Call&) on a machine that has virtual memory management.
template <typename Body>
CUresult with_call(Symbol symbol, Body&& body, std::uint64_t bytes = 0) {
  return Library::get().call(
      symbol, Need::no_fault,
      [&](Call& call) {
        return call.machine.limits().virtual_memory ? body(call) : CUDA_ERROR_NOT_SUPPORTED;
      },
      bytes);
}

template <typename Body>
CUresult with_virtual_memory(Symbol symbol, Body&& body, std::uint64_t bytes = 0) {
  return with_call(
      symbol, [&](Call& call) { return body(call.machine.virtual_memory); }, bytes);
}

}  // namespace

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags option) {
  return with_virtual_memory(Symbol::cuMemGetAllocationGranularity, [&](VirtualMemory& memory) {
    return memory.granularity(granularity, prop, option);
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags) {
  return with_virtual_memory(
      Symbol::cuMemAddressReserve,
      [&](VirtualMemory& memory) { return memory.reserve(ptr, size, alignment, addr, flags); },
      size);
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size) {
  return with_virtual_memory(Symbol::cuMemAddressFree, [&](VirtualMemory& memory) {
    return memory.free_reservation(ptr, size);
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size,
                     const CUmemAllocationProp* prop, unsigned long long flags) {
  return with_virtual_memory(
      Symbol::cuMemCreate,
      [&](VirtualMemory& memory) { return memory.create(handle, size, prop, flags); }, size);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return with_virtual_memory(Symbol::cuMemRelease,
                             [&](VirtualMemory& memory) { return memory.release(handle); });
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  return with_virtual_memory(Symbol::cuMemMap, [&](VirtualMemory& memory) {
    return memory.map(ptr, size, offset, handle, flags);
  });
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
  return with_call(Symbol::cuMemUnmap, [&](Call& call) {
    Machine& machine = call.machine;
    std::vector<Mapping> ended;
    const PageTable::Run run = machine.pages.whole_mappings(ptr, size);
    for (auto mapping = run.first; mapping != run.last; ++mapping) ended.push_back(mapping->second);
    const CUresult result = machine.virtual_memory.unmap(ptr, size);
    if (result != CUDA_SUCCESS) return result;
    for (const Mapping& mapping : ended)
      machine.hazards.note_end({Symbol::cuMemUnmap, call.site}, mapping, machine.engine.seen());
    return CUDA_SUCCESS;
  });
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc* desc, size_t count) {
  return with_virtual_memory(Symbol::cuMemSetAccess, [&](VirtualMemory& memory) {
    return memory.set_access(ptr, size, desc, count);
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr ptr) {
  return with_virtual_memory(Symbol::cuMemGetAccess, [&](VirtualMemory& memory) {
    return memory.get_access(flags, location, ptr);
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* prop,
                                                CUmemGenericAllocationHandle handle) {
  return with_virtual_memory(
      Symbol::cuMemGetAllocationPropertiesFromHandle,
      [&](VirtualMemory& memory) { return memory.properties(prop, handle); });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* addr) {
  return with_virtual_memory(Symbol::cuMemRetainAllocationHandle, [&](VirtualMemory& memory) {
    return memory.retain(handle, reinterpret_cast<CUdeviceptr>(addr));
  });
}

CUresult cuMemExportToShareableHandle(void* shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType,
                                      unsigned long long flags) {
  return with_call(Symbol::cuMemExportToShareableHandle, [&](Call& call) {
    return ferry::sim::export_memory(call.machine, shareableHandle, handle, handleType, flags);
  });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* osHandle,
                                        CUmemAllocationHandleType shHandleType) {
  return with_call(Symbol::cuMemImportFromShareableHandle, [&](Call& call) {
    return ferry::sim::import_memory(call.machine, handle, osHandle, shHandleType);
  });
}
