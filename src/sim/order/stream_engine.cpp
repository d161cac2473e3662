// SPDX-License-Identifier: Apache-2.0
#include "sim/order/stream_engine.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "sim/order/readiness.hpp"

namespace ferry::sim {

StreamEngine::StreamEngine(Schedule schedule, std::uint64_t seed,
                           std::shared_ptr<const Profile> profile)
    : schedule_(schedule), random_(seed), timeline_(std::move(profile)) {}

StreamEngine::~StreamEngine() {
  // Unlinked first: a long chain of work that never ran would otherwise be freed recursively.
  for (const auto& group : groups_) {
    for (const auto& [number, stream] : group->streams) {
      for (const Ticket& ticket : stream->queue) ticket->after.clear();
    }
  }
}

StreamGroup& StreamEngine::create_group() {
  StreamGroup& group = *groups_.emplace_back(std::make_unique<StreamGroup>());
  group.legacy = &create_stream(group, false);
  group.records = &create_stream(group, false);
  return group;
}

void StreamEngine::destroy_group(Lock& lock, StreamGroup& group) {
  finish(lock, group);
  observe(clock_of(group));
  for (const auto& [number, stream] : group.streams) {
    if (!stream->inner) lanes_.close(stream->lane);
  }
  std::erase_if(groups_, [&](const auto& owned) { return owned.get() == &group; });
}

Stream& StreamEngine::create_stream(StreamGroup& group, bool blocking) {
  return add_stream(group, blocking, lanes_.open(seen_));
}

Stream& StreamEngine::create_inner_stream(StreamGroup& group, LaneNumber lane_of_caller) {
  Stream& stream = add_stream(group, false, lane_of_caller);
  stream.inner = true;
  return stream;
}

Stream& StreamEngine::add_stream(StreamGroup& group, bool blocking, LaneNumber lane) {
  const std::uint64_t number = next_stream_++;
  Stream& stream =
      *group.streams.emplace(number, std::make_unique<Stream>(group, number, blocking, lane))
           .first->second;
  if (group.gates != nullptr) {
    const Ticket gate = group.gates->newest;
    stream.clock = group.gates->clock;
    if (gate) enqueue(stream, {}, std::span(&gate, 1));
  }
  return stream;
}

void StreamEngine::destroy_stream(Stream& stream) {
  stream.destroyed = true;
  reap(stream);
}

void StreamEngine::reap(Stream& stream) {
  if (!stream.destroyed || !stream.queue.empty()) return;
  stream.group.gone.join(stream.clock);
  if (stream.blocking) stream.group.gone_blocking.join(stream.clock);
  if (!stream.inner) {
    depart(stream);
    lanes_.close(stream.lane);
  }
  stream.group.streams.erase(stream.number);
}

// Keeps what a stream that goes has still to do in virtual time.
void StreamEngine::depart(Stream& stream) {
  const auto keep = [&](std::vector<Ticket>& departed) {
    std::erase_if(departed, [&](const Ticket& ticket) { return !is_open(ticket); });
    if (stream.newest && is_open(stream.newest)) departed.push_back(stream.newest);
  };
  keep(stream.group.departed);
  if (stream.blocking) keep(stream.group.departed_blocking);
}

bool StreamEngine::is_open(const Ticket& ticket) {
  return !ticket->done || !timeline_.has_passed(*ticket->time);
}

bool StreamEngine::has_ended(const Ticket& ticket) {
  if (timeline_.profile() == nullptr) return ticket->done;
  // Virtual time does not know how long a condition holds work back.
  return timeline_.has_passed(*ticket->time) && (ticket->done || conditions_ == 0);
}

// Gives an operation its place in the order of everything that is queued.
void StreamEngine::order(Stream& stream, Operation& operation, std::span<const Ticket> after) {
  operation.lane = stream.lane;
  operation.count = lanes_.next(stream.lane);
  operation.clock = clock_before_next(stream);
  for (const Ticket& earlier : after) {
    if (earlier) operation.clock.join(earlier->clock);
  }
  operation.clock.set(stream.lane, operation.count);
  stream.clock = operation.clock;
}

Clock StreamEngine::clock_of(const Stream& stream) {
  Clock clock = stream.clock;
  if (&stream != stream.group.legacy) return clock;
  clock.join(stream.group.gone_blocking);
  for (const auto& [number, other] : stream.group.streams) {
    if (other->blocking) clock.join(other->clock);
  }
  return clock;
}

Clock StreamEngine::clock_before_next(const Stream& stream) const {
  Clock clock = seen_;
  clock.join(clock_of(stream));
  if (stream.blocking && &stream != stream.group.legacy) clock.join(stream.group.legacy->clock);
  return clock;
}

Clock StreamEngine::clock_of(const StreamGroup& group) {
  Clock clock = group.gone;
  for (const auto& [number, stream] : group.streams) clock.join(stream->clock);
  return clock;
}

Clock StreamEngine::clock_of_all() const {
  Clock clock = seen_;
  for (const auto& group : groups_) clock.join(clock_of(*group));
  return clock;
}

void StreamEngine::append(Stream& stream, const Ticket& ticket, std::span<const Ticket> after,
                          const Load& load) {
  std::vector<TimedTaskRef> earlier_in_time;
  const auto add = [&](const Ticket& earlier) {
    if (!earlier) return;
    // What has run may still lie ahead in virtual time.
    earlier_in_time.push_back(earlier->time);
    if (earlier->done) return;
    ticket->after.push_back(earlier);
    if (earlier->behind_condition) ticket->behind_condition = true;
  };
  for (const Ticket& earlier : after) add(earlier);
  StreamGroup& group = stream.group;
  if (&stream == group.legacy) {
    for (const auto& [number, other] : group.streams) {
      if (other->blocking) add(other->newest);
    }
    for (const Ticket& earlier : group.departed_blocking) add(earlier);
  } else if (stream.blocking) {
    add(group.legacy->newest);
  }
  if (stream.newest) {
    earlier_in_time.push_back(stream.newest->time);
    if (!stream.newest->done && stream.newest->behind_condition) ticket->behind_condition = true;
  }
  ticket->time = timeline_.add(load, earlier_in_time);
  stream.newest = ticket;
  order(stream, *ticket, after);
  ticket->number = next_operation_++;
  ticket->stream = &stream;
  stream.queue.push_back(ticket);
  ++pending_;
  watching_.note_queued(*ticket);
}

Ticket StreamEngine::enqueue(Stream& stream, std::function<int()> work,
                             std::span<const Ticket> after, std::function<bool()> may_begin,
                             const Load& load) {
  const Ticket ticket = std::make_shared<Operation>();
  ticket->work = std::move(work);
  ticket->may_begin = std::move(may_begin);
  ticket->behind_condition = ticket->may_begin != nullptr;
  if (ticket->may_begin) ++conditions_;
  append(stream, ticket, after, load);
  return ticket;
}

Ticket StreamEngine::enqueue_host_code(Stream& stream, std::function<int()> work,
                                       bool despite_fault) {
  const Ticket ticket = std::make_shared<Operation>();
  ticket->calls_host = true;
  ticket->despite_fault = despite_fault;
  ticket->work = std::move(work);
  Load load;
  if (const Profile* const profile = timeline_.profile())
    load.latency = profile->host_function.value;
  append(stream, ticket, {}, load);
  ++waiting_host_functions_;
  return ticket;
}

Ticket StreamEngine::enqueue_host_function(Stream& stream, std::function<void()> function) {
  const auto work = [function = std::move(function)] {
    function();
    return 0;
  };
  return enqueue_host_code(stream, work, false);
}

Ticket StreamEngine::enqueue_callback(Stream& stream, std::function<void(int fault)> callback) {
  // The fault as it is when the turn comes; another thread may run work while the callback runs.
  const auto work = [&group = stream.group, callback = std::move(callback)] {
    callback(group.fault);
    return 0;
  };
  return enqueue_host_code(stream, work, true);
}

Ticket StreamEngine::mark_group(StreamGroup& group) {
  const Ticket mark = enqueue(*group.records, {}, unfinished(group));
  mark->clock.join(clock_of(group));
  group.records->clock = mark->clock;
  return mark;
}

void StreamEngine::hold_group(StreamGroup& group, const Ticket& after) {
  std::vector<Stream*> streams;
  for (const auto& [number, stream] : group.streams) {
    if (!stream->destroyed) streams.push_back(stream.get());
  }
  for (Stream* const stream : streams) enqueue(*stream, {}, std::span(&after, 1));
  if (group.gates == nullptr) {
    Stream& gates = create_stream(group, false);
    group.gates = &gates;
    enqueue(gates, {}, std::span(&after, 1));
  }
}

std::vector<std::size_t> StreamEngine::order_of_members(std::size_t count) {
  std::vector<std::size_t> turns(count);
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  if (schedule_ == Schedule::lazy) std::reverse(turns.begin(), turns.end());
  if (schedule_ == Schedule::random) std::shuffle(turns.begin(), turns.end(), random_);
  return turns;
}

// Under `random` any that is ready, under `eager` the first in time, otherwise the oldest; null
// when none is.
Ticket StreamEngine::pick_ready() {
  if (pending_ == 0) return nullptr;
  std::vector<Ticket> candidates = ready_operations(groups_);
  const bool timed = timeline_.profile() != nullptr;
  if (timed) leave_timely(candidates, timeline_);
  if (candidates.empty()) return nullptr;
  if (schedule_ == Schedule::random) return candidates[random_() % candidates.size()];
  return timed && schedule_ == Schedule::eager ? first_in_time(candidates) : candidates.front();
}

// The same, but where a condition stands in the way, any work may be what makes it true. Null when
// nothing here can go on.
Ticket StreamEngine::next_towards(const Ticket& target) {
  Ticket next = next_needed(target);
  if (!next && conditions_ > 0) next = pick_ready();
  return next;
}

void StreamEngine::run(Lock& lock, const Ticket& ticket) {
  Stream& stream = *ticket->stream;
  StreamGroup& group = stream.group;
  if (ticket->behind_condition) place(*ticket, finished_, seen_);
  const bool skipped = group.fault != 0 && !ticket->despite_fault;
  const Watching::Token turn = watching_.take_turn(*ticket, skipped);
  if (!skipped && ticket->work) {
    if (ticket->calls_host) {
      ticket->running = true;
      seen_.join(ticket->clock);  // host code that runs sees complete what came before
      if (on_seen_) on_seen_();
      watching_.run_host_code(lock, *ticket, turn);
    } else {
      running_ = ticket.get();
      group.fault = ticket->work();
    }
  }
  ticket->running = false;
  if (ticket->calls_host) --waiting_host_functions_;
  ticket->done = true;
  finished_.set(ticket->lane, ticket->count);
  ticket->finished_at = ++ticks_;
  ticket->stream = nullptr;
  ticket->after.clear();
  ticket->work = nullptr;
  if (ticket->may_begin) --conditions_;
  ticket->may_begin = nullptr;
  ticket->reason = nullptr;
  stream.queue.pop_front();
  --pending_;
  reap(stream);
  if (ticket->calls_host) changed_.notify_all();
}

void StreamEngine::progress(Lock& lock) {
  if (schedule_ == Schedule::lazy) return;
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t left = schedule_ == Schedule::eager ? kAll : pace_.burst(random_);
  for (; left > 0; --left) {
    const Ticket next = pick_ready();
    if (!next) return;
    run(lock, next);
  }
}

}  // namespace ferry::sim
