// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/call_turn.hpp"

#include "sim/time/api_costs.hpp"

namespace ferry::sim {

CallTurn::CallTurn(Machine* machine, Lock& lock, Symbol symbol) : machine_(machine), lock_(lock) {
  if (machine_ == nullptr) return;
  Turns& turns = machine_->engine.turns();
  if (!turns.may_call()) {
    turns.complain_of_outsider(row_of(symbol).name);
    refused_ = true;
    return;
  }
  const Picoseconds price = (machine_->profile()->*price_of(symbol).call).value;
  turns.reach(lock_, machine_->engine.timeline().clock().now() + price);
}

CallTurn::~CallTurn() {
  if (machine_ != nullptr && !refused_) machine_->engine.turns().catch_up(lock_);
}

}  // namespace ferry::sim
