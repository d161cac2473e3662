// SPDX-License-Identifier: Apache-2.0
// What is queued: operations in streams, streams in groups, one group for each context. Plain state
// that the stream engine owns and changes; to be looked at under the library's lock.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "sim/order/clock.hpp"
#include "sim/time/timeline.hpp"

namespace ferry::sim {

class Stream;

// The unit of order: one entry of one stream.
struct Operation {
  std::uint64_t number = 0;   // grows in the order of enqueueing
  Stream* stream = nullptr;   // null once done
  std::function<int()> work;  // returns a CUresult; empty: only a point in the order
  // Asked again and again until it holds; empty: always. It may not hold before other work has
  // run, or before the program's own code has written to memory.
  std::function<bool()> may_begin;
  // Asked once, when it begins: what made the condition true. Null: nobody knows, so it comes after
  // everything that has run.
  std::function<const Clock*()> reason;
  // It has a condition, or comes after an operation with one that was still waiting: what it comes
  // after besides is known only when it runs.
  bool behind_condition = false;
  bool despite_fault = false;  // runs in a poisoned group too
  bool calls_host = false;     // runs without the lock
  bool running = false;
  bool done = false;
  std::uint64_t finished_at = 0;  // ticks of the engine; 0 while not done
  std::vector<std::shared_ptr<Operation>> after;
  LaneNumber lane = 0;      // of its stream
  std::uint64_t count = 0;  // in its lane, from 1
  Clock clock;              // itself, and what is known to have ended before it begins
  TimedTaskRef time;        // when it begins and ends in virtual time
};
using Ticket = std::shared_ptr<Operation>;

// True when the operation is known to have ended by what `clock` knows.
[[nodiscard]] inline bool is_covered(const Operation& operation, const Clock& clock) {
  return clock.covers(operation.lane, operation.count);
}

// The streams of one context. A failed operation poisons the group: what is queued in it no longer
// runs, and `fault` stays until the group goes.
struct StreamGroup {
  int fault = 0;
  Clock gone;                 // the operations of streams that are no more
  Clock gone_blocking;        // those that the default stream comes after
  Stream* legacy = nullptr;   // the default stream, ordered with all blocking ones
  Stream* records = nullptr;  // holds the marks that cover the whole group
  Stream* gates = nullptr;    // holds what the group's later streams come after; null: nothing
  // The newest operations of streams that are no more, while they lie in the future.
  std::vector<Ticket> departed;
  std::vector<Ticket> departed_blocking;
  std::map<std::uint64_t, std::unique_ptr<Stream>>
      streams;  // by number; destroyed ones until they are empty
};

class Stream {
 public:
  Stream(StreamGroup& owner, std::uint64_t stream_number, bool is_blocking, LaneNumber its_lane)
      : group(owner), number(stream_number), blocking(is_blocking), lane(its_lane) {}

  StreamGroup& group;
  const std::uint64_t number;
  const bool blocking;
  const LaneNumber lane;
  Clock clock;   // of its newest operation
  Clock placed;  // of its newest operation that got its place in the order when it ran
  bool destroyed = false;
  // Of a stream that others make for work of their own (StreamEngine::create_inner_stream).
  bool inner = false;
  unsigned polls = 0;  // queries in a row that found it unfinished
  std::deque<Ticket> queue;
  Ticket newest;  // done or not; null before the first
};

}  // namespace ferry::sim
