// SPDX-License-Identifier: Apache-2.0
// The price of one call, charged to the calling thread's virtual clock: the fixed part before the
// call does anything, the part that grows with what it did when this object goes. Held by the gate;
// requires the library's lock at both ends.
#pragma once

#include "sim/machine/call_book.hpp"
#include "sim/machine/machine.hpp"
#include "sim/time/api_costs.hpp"

namespace ferry::sim {

class CallCharge {
 public:
  // `book` is told of the whole price.
  CallCharge(Machine& machine, CallBook& book, Symbol symbol);
  ~CallCharge();
  CallCharge(const CallCharge&) = delete;
  CallCharge& operator=(const CallCharge&) = delete;

 private:
  void spend(Picoseconds price);

  Machine& machine_;
  CallBook& book_;
  const Symbol symbol_;
  const Price& price_;
  Footprint before_;
};

}  // namespace ferry::sim
