// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/peer_access.hpp"

namespace ferry::sim {

namespace {

void renew_rights(Machine& machine, const Context& owner) {
  const AccessRights rights = rights_to_memory_of(machine, owner);
  for (auto& [start, mapping] : machine.pages.mappings()) {
    if (mapping.is_plain() && mapping.context == owner.handle) mapping.rights = rights;
  }
}

}  // namespace

CUresult enable_peer_access(Machine& machine, Context& context, Context& peer) {
  if (&context == &peer) return CUDA_ERROR_INVALID_CONTEXT;
  if (!can_access_peer(context.device, peer.device)) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  if (!context.peers.insert(peer.handle).second) return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  renew_rights(machine, peer);
  return CUDA_SUCCESS;
}

CUresult disable_peer_access(Machine& machine, Context& context, Context& peer) {
  if (context.peers.erase(peer.handle) == 0) return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  renew_rights(machine, peer);
  return CUDA_SUCCESS;
}

AccessRights rights_to_memory_of(Machine& machine, const Context& owner) {
  AccessRights rights;
  rights.set(owner.device, Access::read_write);
  machine.contexts.for_each([&](const Context& other) {
    if (other.peers.contains(owner.handle)) rights.set(other.device, Access::read_write);
  });
  return rights;
}

Reach reach_of_copy(Machine& machine, int device, std::uint64_t destination, std::uint64_t source) {
  const auto owner = [&](std::uint64_t address) {
    const Mapping* const mapping = machine.pages.find(address);
    return mapping != nullptr && mapping->is_plain() ? mapping->block->device : device;
  };
  return {owner(destination), owner(source)};
}

void forget_peers(Machine& machine, Context& context) {
  machine.contexts.for_each([&](Context& other) { other.peers.erase(context.handle); });
  const std::set<std::uint64_t> used = std::move(context.peers);
  context.peers.clear();
  for (const std::uint64_t handle : used) {
    if (const Context* const peer = machine.contexts.find(handle)) renew_rights(machine, *peer);
  }
}

}  // namespace ferry::sim
