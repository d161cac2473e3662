// SPDX-License-Identifier: Apache-2.0
// Which contexts may use the plain memory of which others. A context may use its own and that of
// every context on its device; of a context on another device only once it was enabled, save in
// copies. The rights stand in the page table, by device. Requires the library's lock.
#pragma once

#include "sim/machine/machine.hpp"

namespace ferry::sim {

// The link between any two devices carries peer access; a device is no peer of itself.
[[nodiscard]] inline bool can_access_peer(int device, int peer) {
  return device != peer;
}

// Errors: those of cuCtxEnablePeerAccess and cuCtxDisablePeerAccess.
[[nodiscard]] CUresult enable_peer_access(Machine& machine, Context& context, Context& peer);
[[nodiscard]] CUresult disable_peer_access(Machine& machine, Context& context, Context& peer);

// The rights of memory that belongs to a context.
[[nodiscard]] AccessRights rights_to_memory_of(Machine& machine, const Context& owner);

// Whose rights count for a copy that runs on `device` and names no contexts. Copies reach the plain
// memory of every device: the driver makes them through the host where there is no access.
[[nodiscard]] Reach reach_of_copy(Machine& machine, int device, std::uint64_t destination,
                                  std::uint64_t source);

// The context ends or begins anew: what it may use, and who may use its memory, is forgotten.
void forget_peers(Machine& machine, Context& context);

}  // namespace ferry::sim
