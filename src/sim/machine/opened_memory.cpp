// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/opened_memory.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "sim/machine/sharing.hpp"
#include "sim/machine/stream_access.hpp"

namespace ferry::sim {

namespace {

using Entries = std::map<std::uint64_t, OpenedMemory::Opened>;

// By cuda.h, the memory of one device of another process may be opened by one context only for each
// device.
bool another_context_has_some(Machine& machine, const IpcHandle& handle, const Context& context,
                              int owner) {
  return std::ranges::any_of(machine.opened.all(), [&](const auto& entry) {
    const OpenedMemory::Opened& opened = entry.second;
    if (opened.handle.process != handle.process || opened.context == context.handle) return false;
    const Context* const other = machine.contexts.find(opened.context);
    return other != nullptr && other->device == context.device &&
           machine.pages.find(entry.first)->block->device == owner;
  });
}

CUresult map_offer(Call& call, CUdeviceptr* out, const IpcHandle& handle, const Offer& offer,
                   const std::shared_ptr<PhysicalBlock>& block) {
  Machine& machine = call.machine;
  const std::uint64_t addresses = align_up(offer.size, kFrameBytes);
  const auto start = machine.addresses.take(addresses, kFrameBytes);
  if (!start) return CUDA_ERROR_MAP_FAILED;
  Mapping mapping;
  mapping.start = *start;
  mapping.size = offer.size;
  mapping.block = block;
  mapping.offset = offer.offset;
  mapping.rights.set(block->device, Access::read_write);
  // As if peer access had been enabled.
  mapping.rights.set(call.context->device, Access::read_write);
  mapping.kind = Mapping::Kind::opened;
  mapping.context = call.context->handle;
  machine.pages.add(std::move(mapping));
  machine.opened.all().emplace(*start,
                               OpenedMemory::Opened{handle, call.context->handle, offer.size, 1});
  *out = *start;
  return CUDA_SUCCESS;
}

void unmap(Machine& machine, Entries::iterator entry) {
  const auto mapping = machine.pages.mappings().find(entry->first);
  machine.pages.remove(mapping, std::next(mapping));
  machine.addresses.give(entry->first, align_up(entry->second.bytes, kFrameBytes));
  machine.opened.all().erase(entry);
}

}  // namespace

CUresult get_memory_handle(Call& call, void* out, CUdeviceptr address) {
  Machine& machine = call.machine;
  Mapping* const mapping = machine.pages.find_living(address);
  if (out == nullptr || mapping == nullptr || mapping->kind != Mapping::Kind::allocation)
    return CUDA_ERROR_INVALID_VALUE;
  if (!make_shareable(machine, mapping->block, SharedKind::allocated))
    return CUDA_ERROR_OUT_OF_MEMORY;
  const auto offer = machine.physical.offer(*mapping->block, mapping->offset, mapping->size);
  if (!offer) return CUDA_ERROR_OUT_OF_MEMORY;
  const SealedFile& file = mapping->block->shared()->memory().file();
  write_ipc_handle({SharedKind::allocated, getpid(), file.descriptor(), file.id(), *offer}, out);
  return CUDA_SUCCESS;
}

CUresult open_memory_handle(Call& call, CUdeviceptr* out, const void* bytes, unsigned flags) {
  Machine& machine = call.machine;
  const auto handle = read_ipc_handle(bytes, SharedKind::allocated);
  if (out == nullptr || !handle || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<SealedFile> file;
  if (const CUresult result = open_file_of(*handle, "cuIpcOpenMemHandle", file);
      result != CUDA_SUCCESS) {
    return result;
  }
  auto memory = SharedMemory::open(std::move(file));
  const auto offer = memory ? memory->find(handle->offer) : std::nullopt;
  if (!offer) return CUDA_ERROR_INVALID_HANDLE;  // freed, or its process has ended
  int device = 0;
  if (check_usable(machine, memory->description(), device) != CUDA_SUCCESS)
    return CUDA_ERROR_MAP_FAILED;
  for (auto& [address, opened] : machine.opened.all()) {
    if (opened.handle != *handle || opened.context != call.context->handle) continue;
    ++opened.times;
    *out = address;
    return CUDA_SUCCESS;
  }
  if (another_context_has_some(machine, *handle, *call.context, device))
    return CUDA_ERROR_INVALID_CONTEXT;
  const auto block =
      machine.physical.adopt(std::move(memory), offer->block_start, offer->block_size, device);
  return map_offer(call, out, *handle, *offer, block);
}

CUresult close_memory_handle(Call& call, CUdeviceptr address) {
  Machine& machine = call.machine;
  auto entry = machine.opened.all().find(address);
  if (entry == machine.opened.all().end()) return CUDA_ERROR_INVALID_VALUE;
  if (entry->second.times > 1) {
    --entry->second.times;
    return CUDA_SUCCESS;
  }
  const std::uint64_t context = entry->second.context;
  const Mapping ended = *machine.pages.find(address);
  const Clock seen = machine.engine.seen();
  machine.engine.finish(call.lock, *machine.contexts.find(context)->streams);
  if (const CUresult fault = fault_of(call, context); fault != CUDA_SUCCESS) return fault;
  entry = machine.opened.all().find(address);  // host code may have run meanwhile
  if (entry == machine.opened.all().end()) return CUDA_ERROR_INVALID_VALUE;
  unmap(machine, entry);
  machine.hazards.note_end({Symbol::cuIpcCloseMemHandle, call.site}, ended, seen);
  return CUDA_SUCCESS;
}

void close_all_of(Machine& machine, std::uint64_t context) {
  Entries& all = machine.opened.all();
  for (auto entry = all.begin(); entry != all.end();) {
    const auto next = std::next(entry);
    if (entry->second.context == context) {
      machine.hazards.forget_users(*machine.pages.find(entry->first));
      unmap(machine, entry);
    }
    entry = next;
  }
}

}  // namespace ferry::sim
