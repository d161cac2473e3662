// SPDX-License-Identifier: Apache-2.0
// Queued work as ThreadSanitizer is to see it: each stream is a fiber, which touches the host's
// memory when its operations run, and comes after what their clocks say and nothing else. So host
// code that uses a buffer in flight is a data race, named with its line, under every schedule.
// Where there is no sanitizer, nothing here does anything.
//
// Owned by the engine; requires the library's lock, and calling threads that are quiet.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/order/operation.hpp"
#include "sim/order/thread_sanitizer.hpp"

namespace ferry::sim {

class StreamFibers {
 public:
  // More streams at once share fibers: the sanitizer cannot have very many.
  static constexpr std::size_t kMostFibers = 256;
  // Of each lane's operations, so many of the last can be waited for exactly; a wait for an older
  // one counts as a wait for the oldest of these.
  static constexpr std::size_t kMostEnds = 1024;

  explicit StreamFibers(const Sanitizer* sanitizer_used = sanitizer())
      : sanitizer_(sanitizer_used) {}
  ~StreamFibers();
  StreamFibers(const StreamFibers&) = delete;
  StreamFibers& operator=(const StreamFibers&) = delete;

  [[nodiscard]] bool is_on() const { return sanitizer_ != nullptr; }

  // The calling thread has queued the operation: it comes after what the thread has done so far.
  void note_queued(Operation& operation);
  // `asked()`: what an operation that is queued will do with the host's memory.
  template <typename Asked>
  void note_use(const Operation& operation, const Asked& asked) {
    if (is_on()) uses_[&operation] = asked();
  }

  // The operation's turn has come, and its clock is final. It touches its memory, unless it is
  // skipped. What it is waited for by, for run_host_code; null without a sanitizer.
  using Token = std::shared_ptr<char>;
  Token take_turn(Operation& operation, bool skipped);

  // Runs the operation's work, which is the program's own code, without the lock: by a thread of
  // its own, as on a device. The stack of the calling one would be shared with the fiber.
  void run_host_code(std::unique_lock<std::mutex>& lock, const Operation& operation,
                     const Token& turn);

  // The calling thread has waited for what `clock` covers.
  void note_seen(const Clock& clock);

 private:
  struct End {
    std::uint64_t count = 0;  // of the operation in its lane
    Token token;
  };

  [[nodiscard]] void* fiber_of(LaneNumber lane);
  // What stands for everything that the clock covers, but for what is in `except`.
  [[nodiscard]] std::vector<void*> tokens_of(const Clock& clock, LaneNumber except) const;
  void say_by_thread(void (*say)(void*), std::span<void* const> tokens);

  const Sanitizer* const sanitizer_;
  std::vector<void*> fibers_;
  std::unordered_map<const Operation*, HostUse> uses_;  // of what has not had its turn
  std::vector<std::deque<End>> ends_;                   // by lane, the last ones
};

}  // namespace ferry::sim
