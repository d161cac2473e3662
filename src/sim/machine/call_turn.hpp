// SPDX-License-Identifier: Apache-2.0
// The turn of one call under threads=turns: the call begins when no other thread comes before the
// moment at which it has paid its price, and goes back to the program when none comes before its
// end. Held by the gate; requires the library's lock at both ends, and releases it while it waits.
#pragma once

#include "sim/machine/machine.hpp"
#include "sim/words/symbols.hpp"

namespace ferry::sim {

class CallTurn {
 public:
  // `machine` is null where the threads are free.
  CallTurn(Machine* machine, Lock& lock, Symbol symbol);
  ~CallTurn();
  CallTurn(const CallTurn&) = delete;
  CallTurn& operator=(const CallTurn&) = delete;

  // The thread may not use the driver now, which was said.
  [[nodiscard]] bool refused() const { return refused_; }

 private:
  Machine* const machine_;
  Lock& lock_;
  bool refused_ = false;
};

}  // namespace ferry::sim
