// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/call_charge.hpp"

namespace ferry::sim {

namespace {

Footprint footprint_of(Machine& machine) {
  Footprint footprint;
  for (int device = 0; device < machine.devices(); ++device)
    footprint.device_bytes += machine.physical.in_use(device).count;
  footprint.host_bytes = machine.host.bytes();
  footprint.mappings = machine.pages.mappings().size();
  footprint.access_changes = machine.virtual_memory.access_changes();
  return footprint;
}

}  // namespace

CallCharge::CallCharge(Machine& machine, Symbol symbol)
    : machine_(machine), price_(price_of(symbol)) {
  Timeline& timeline = machine.engine.timeline();
  const Profile* const profile = timeline.profile();
  if (profile == nullptr) return;
  timeline.clock().spend((profile->*price_.call).value);
  if (price_.each != nullptr) before_ = footprint_of(machine);
}

CallCharge::~CallCharge() {
  Timeline& timeline = machine_.engine.timeline();
  const Profile* const profile = timeline.profile();
  if (profile == nullptr || price_.each == nullptr) return;
  timeline.clock().spend(growing_cost(*profile, price_, before_, footprint_of(machine_)));
}

}  // namespace ferry::sim
