// SPDX-License-Identifier: Apache-2.0
// The clock of one stream's frees: each free is a tick, events mark ticks on the stream, and a tick
// has passed when the work queued before it is known to be finished.
//
// Memory freed at a tick serves its own stream at once (stream order protects it); any other use,
// by another stream or by unmapping, must wait until the tick has passed.
#pragma once

#include <cstdint>
#include <deque>

#include "memory/event_pool.hpp"

namespace ferry {

class FenceClock {
 public:
  [[nodiscard]] std::uint64_t now() const { return now_; }
  std::uint64_t tick() { return ++now_; }

  // Whether a tick has passed; nothing has while the clock is held.
  [[nodiscard]] bool passed(std::uint64_t stamp) const {
    return passed_ >= held_until_ && stamp <= passed_;
  }
  // The latest that has passed. Requires: passed(0).
  [[nodiscard]] std::uint64_t passed_stamp() const { return passed_; }

  // Work that no free has announced may use the heap's memory, old frees included: from now on
  // nothing has passed before everything queued up to now is done.
  void hold() { held_until_ = tick(); }

  // Whether an event already stands for everything up to now (or nothing needs one).
  [[nodiscard]] bool marked() const { return marked_ == now_; }

  // Marks now with an event on `stream`. Requires: `stream` is the clock's own and still exists.
  [[nodiscard]] Status mark(EventPool& events, StreamRef stream);

  // The same while few marks wait to be reached. Otherwise the newest ticks stay without one until
  // there is room: a stream far behind its host would need an event for every free.
  [[nodiscard]] Status mark_if_few(EventPool& events, StreamRef stream);

  // Marks now with an event that covers the whole context: for a stream that may be gone. Not while
  // many marks wait.
  [[nodiscard]] Status mark_context(EventPool& events);

  [[nodiscard]] std::size_t waiting_marks() const { return marks_.size(); }

  // Asks the driver which marks have been reached. Does not block.
  void poll(EventPool& events);

  // The device is known to be idle: everything up to now has passed.
  void pass_all(EventPool& events);

 private:
  struct Mark {
    std::uint64_t stamp;
    EventHandle event;
  };

  void add_mark(EventHandle event);
  [[nodiscard]] bool has_room(EventPool& events);

  static constexpr std::size_t kFewMarks = 8;

  std::uint64_t now_ = 0;
  std::uint64_t marked_ = 0;
  std::uint64_t passed_ = 0;
  std::uint64_t held_until_ = 0;
  std::deque<Mark> marks_;  // oldest first
};

}  // namespace ferry
