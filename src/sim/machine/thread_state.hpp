// SPDX-License-Identifier: Apache-2.0
// What the driver keeps for each thread of the program: its stack of current contexts, and whether
// it is inside a host function. Touched only by its own thread, so it needs no lock.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/machine/operator_scope.hpp"

namespace ferry::sim {

struct ThreadState {
  std::uint64_t number = 0;             // never reused, unlike the system's thread ids
  std::uint64_t generation = 0;         // of the machine that the stack belongs to
  std::vector<std::uint64_t> contexts;  // handles; the last is current
  bool in_host_function = false;
  int capture_mode = 0;          // a CUstreamCaptureMode: global
  OperatorScope operators;       // of a framework, which the thread is in
  std::optional<int> host_node;  // of the modelled host, on which it takes memory; see sim.h

  // The calling thread's. Goes when the thread ends, but never the main thread's: static
  // destructors may still call the driver.
  [[nodiscard]] static ThreadState& mine();
};

// Runs code of the program, which may not call the driver meanwhile. The thread is whichever made
// the work necessary.
template <typename Code>
void as_host_function(Code&& code) {
  ThreadState& thread = ThreadState::mine();
  thread.in_host_function = true;
  code();
  thread.in_host_function = false;
}

}  // namespace ferry::sim
