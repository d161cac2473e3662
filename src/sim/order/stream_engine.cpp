// SPDX-License-Identifier: Apache-2.0
#include "sim/order/stream_engine.hpp"

#include <algorithm>

namespace ferry::sim {

namespace {

bool is_ready(const Operation& operation) {
  if (operation.running) return false;
  return std::all_of(operation.after.begin(), operation.after.end(),
                     [](const Ticket& t) { return t->done; });
}

}  // namespace

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
  for (const auto& [number, stream] : group.streams) lanes_.close(stream->lane);
  std::erase_if(groups_, [&](const auto& owned) { return owned.get() == &group; });
}

Stream& StreamEngine::create_stream(StreamGroup& group, bool blocking) {
  const std::uint64_t number = next_stream_++;
  const LaneNumber lane = lanes_.open(seen_);
  return *group.streams.emplace(number, std::make_unique<Stream>(group, number, blocking, lane))
              .first->second;
}

void StreamEngine::destroy_stream(Stream& stream) {
  stream.destroyed = true;
  reap(stream);
}

void StreamEngine::reap(Stream& stream) {
  if (!stream.destroyed || !stream.queue.empty()) return;
  stream.group.gone.join(stream.clock);
  if (stream.blocking) stream.group.gone_blocking.join(stream.clock);
  depart(stream);
  lanes_.close(stream.lane);
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

// Gives an operation its place in the order of everything that is queued.
void StreamEngine::order(Stream& stream, Operation& operation, std::span<const Ticket> after) {
  operation.lane = stream.lane;
  operation.count = lanes_.next(stream.lane);
  operation.clock = seen_;
  operation.clock.join(stream.clock);
  for (const Ticket& earlier : after) {
    if (earlier) operation.clock.join(earlier->clock);
  }
  StreamGroup& group = stream.group;
  if (&stream == group.legacy) {
    operation.clock.join(group.gone_blocking);
    for (const auto& [number, other] : group.streams) {
      if (other->blocking) operation.clock.join(other->clock);
    }
  } else if (stream.blocking) {
    operation.clock.join(group.legacy->clock);
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
    if (!earlier->done) ticket->after.push_back(earlier);
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
  if (stream.newest) earlier_in_time.push_back(stream.newest->time);
  ticket->time = timeline_.add(load, earlier_in_time);
  stream.newest = ticket;
  order(stream, *ticket, after);
  ticket->number = next_operation_++;
  ticket->stream = &stream;
  stream.queue.push_back(ticket);
  ++pending_;
}

Ticket StreamEngine::enqueue(Stream& stream, std::function<int()> work,
                             std::span<const Ticket> after, const Load& load) {
  const Ticket ticket = std::make_shared<Operation>();
  ticket->work = std::move(work);
  append(stream, ticket, after, load);
  return ticket;
}

Ticket StreamEngine::enqueue_host_function(Stream& stream, std::function<void()> function) {
  const Ticket ticket = std::make_shared<Operation>();
  ticket->calls_host = true;
  ticket->work = [function = std::move(function)] {
    function();
    return 0;
  };
  Load load;
  if (const Profile* const profile = timeline_.profile())
    load.latency = profile->host_function.value;
  append(stream, ticket, {}, load);
  ++waiting_host_functions_;
  return ticket;
}

Ticket StreamEngine::mark_group(StreamGroup& group) {
  const Ticket mark = enqueue(*group.records, {}, unfinished(group));
  mark->clock.join(clock_of(group));
  group.records->clock = mark->clock;
  return mark;
}

// The operation to run next on the way to `target`, or null when that one is already running.
Ticket StreamEngine::next_needed(const Ticket& target) const {
  // Every step leads to an operation that was enqueued earlier, so the walk ends.
  Ticket at = target;
  while (true) {
    const Ticket& front = at->stream->queue.front();
    if (front != at) {
      at = front;
      continue;
    }
    const auto earlier =
        std::find_if(at->after.begin(), at->after.end(), [](const Ticket& t) { return !t->done; });
    if (earlier == at->after.end()) return at->running ? nullptr : at;
    at = *earlier;
  }
}

// One candidate for each stream whose oldest operation may run, in the order of enqueueing.
std::vector<Ticket> StreamEngine::ready() const {
  std::vector<Ticket> candidates;
  if (pending_ == 0) return candidates;
  for (const auto& group : groups_) {
    for (const auto& [number, stream] : group->streams) {
      if (!stream->queue.empty() && is_ready(*stream->queue.front()))
        candidates.push_back(stream->queue.front());
    }
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Ticket& a, const Ticket& b) { return a->number < b->number; });
  return candidates;
}

// Under `random` any that is ready, otherwise the oldest; null when none is.
Ticket StreamEngine::pick_ready() {
  const std::vector<Ticket> candidates = ready();
  if (candidates.empty()) return nullptr;
  if (schedule_ != Schedule::random) return candidates.front();
  return candidates[random_() % candidates.size()];
}

void StreamEngine::run(Lock& lock, const Ticket& ticket) {
  Stream& stream = *ticket->stream;
  StreamGroup& group = stream.group;
  if (group.fault == 0 && ticket->work) {
    if (ticket->calls_host) {
      ticket->running = true;
      observe(ticket->clock);  // host code that runs sees complete what came before
      lock.unlock();
      static_cast<void>(ticket->work());
      lock.lock();
    } else {
      group.fault = ticket->work();
    }
  }
  ticket->running = false;
  if (ticket->calls_host) --waiting_host_functions_;
  ticket->done = true;
  ticket->finished_at = ++ticks_;
  ticket->stream = nullptr;
  ticket->after.clear();
  ticket->work = nullptr;
  stream.queue.pop_front();
  --pending_;
  reap(stream);
  if (ticket->calls_host) changed_.notify_all();
}

void StreamEngine::finish(Lock& lock, const Ticket& ticket) {
  while (ticket && !ticket->done) {
    // Under `random` other streams move on too while this one is waited for.
    const Ticket next = schedule_ == Schedule::random ? pick_ready() : next_needed(ticket);
    if (next) {
      run(lock, next);
    } else {
      changed_.wait(lock);
    }
  }
}

void StreamEngine::finish(Lock& lock, std::span<const Ticket> tickets) {
  for (const Ticket& ticket : tickets) finish(lock, ticket);
  for (const Ticket& ticket : tickets) {
    if (ticket) wait_in_time(ticket);
  }
}

void StreamEngine::finish_all(Lock& lock) {
  std::vector<Ticket> all;
  for (const auto& group : groups_) {
    const std::vector<Ticket> lasts = unfinished(*group);
    all.insert(all.end(), lasts.begin(), lasts.end());
  }
  finish(lock, all);
}

std::vector<Ticket> StreamEngine::unfinished(Stream& stream) {
  std::vector<Ticket> open;
  const auto add = [&](const Ticket& ticket) {
    if (ticket && is_open(ticket)) open.push_back(ticket);
  };
  add(stream.newest);
  if (&stream != stream.group.legacy) return open;
  for (const auto& [number, other] : stream.group.streams) {
    if (other->blocking) add(other->newest);
  }
  for (const Ticket& ticket : stream.group.departed_blocking) add(ticket);
  return open;
}

std::vector<Ticket> StreamEngine::unfinished(StreamGroup& group) {
  std::vector<Ticket> open;
  const auto add = [&](const Ticket& ticket) {
    if (ticket && is_open(ticket)) open.push_back(ticket);
  };
  for (const auto& [number, stream] : group.streams) add(stream->newest);
  for (const Ticket& ticket : group.departed) add(ticket);
  return open;
}

bool StreamEngine::poll(Lock& lock, std::span<const Ticket> tickets, unsigned& polls) {
  const auto done = [](const Ticket& ticket) { return !ticket || ticket->done; };
  if (timeline_.profile() != nullptr) {
    for (const Ticket& ticket : tickets) {
      if (ticket && !timeline_.has_passed(*ticket->time)) return false;
    }
  } else if (const auto waiting = std::find_if_not(tickets.begin(), tickets.end(), done);
             waiting != tickets.end()) {
    if (schedule_ != Schedule::lazy || ++polls < kPatience) return false;
    polls = 0;  // now: the polled object may go while a host function runs without the lock
    if (const Ticket next = next_needed(*waiting)) run(lock, next);
    if (!std::all_of(tickets.begin(), tickets.end(), done)) return false;
    finish(lock, tickets);
    return true;
  }
  polls = 0;
  finish(lock, tickets);
  return true;
}

// How many operations may run now. Work that always kept up with the program would rarely show a
// missing wait, so stretches in which nothing runs alternate with stretches in which it catches up.
std::uint64_t StreamEngine::random_burst() {
  if (stretch_ == 0) {
    stretch_ = 1 + random_() % 16;
    stalled_ = random_() % 2 == 0;
  }
  --stretch_;
  return stalled_ ? 0 : random_() % 3;
}

void StreamEngine::progress(Lock& lock) {
  switch (schedule_) {
    case Schedule::lazy:
      return;
    case Schedule::eager:
      while (const Ticket next = pick_ready()) run(lock, next);
      return;
    case Schedule::random:
      for (std::uint64_t count = random_burst(); count > 0; --count) {
        const Ticket next = pick_ready();
        if (!next) return;
        run(lock, next);
      }
      return;
  }
}

}  // namespace ferry::sim
