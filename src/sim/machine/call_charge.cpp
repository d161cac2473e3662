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

void CallCharge::spend(Picoseconds price) {
  machine_.engine.timeline().clock().spend(price);
  book_.add_cost(symbol_, price);
}

CallCharge::CallCharge(Machine& machine, CallBook& book, Symbol symbol)
    : machine_(machine), book_(book), symbol_(symbol), price_(price_of(symbol)) {
  const Profile* const profile = machine.profile();
  if (profile == nullptr) return;
  spend((profile->*price_.call).value);
  if (price_.each != nullptr) before_ = footprint_of(machine);
}

CallCharge::~CallCharge() {
  const Profile* const profile = machine_.profile();
  if (profile == nullptr || price_.each == nullptr) return;
  spend(growing_cost(*profile, price_, before_, footprint_of(machine_)));
}

}  // namespace ferry::sim
