// SPDX-License-Identifier: Apache-2.0
// Whether this build of the stand-in serves programs that are built with ThreadSanitizer (CMake's
// FERRY_SIM_THREAD_SANITIZER). Where it does not, nothing of it is in the library: the names here
// stand for nothing, and cost nothing.
#pragma once

#include "sim/order/operation.hpp"

#if FERRY_SIM_THREAD_SANITIZER
#include "sim/order/stream_fibers.hpp"
#include "sim/order/thread_sanitizer.hpp"
#else
#include <mutex>
#endif

namespace ferry::sim {

#if FERRY_SIM_THREAD_SANITIZER

using Quiet = QuietThread;
using Watching = StreamFibers;

#else

struct Quiet {
  Quiet() {}  // so that one that is only there to live counts as used
};

class Watching {
 public:
  struct Token {};

  void note_queued(const Operation&) {}
  template <typename Asked>
  void note_use(const Operation&, const Asked&) {}
  Token take_turn(const Operation&, bool) { return {}; }
  void run_host_code(std::unique_lock<std::mutex>& lock, const Operation& operation, Token) {
    lock.unlock();
    static_cast<void>(operation.work());
    lock.lock();
  }
  void note_seen(const Clock&) {}
};

#endif

}  // namespace ferry::sim
