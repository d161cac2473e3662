// SPDX-License-Identifier: Apache-2.0
#include "sim/order/readiness.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>

namespace ferry::sim {

namespace {

// What is queued in a poisoned group waits for nothing.
bool is_met(const Operation& operation) {
  return !operation.may_begin || operation.stream->group.fault != 0 || operation.may_begin();
}

// How far a stream's queue is looked at for what its operations come after.
constexpr std::size_t kLookAhead = 8;

// Of other streams, the newest operation that has to run before `target`, as far as the front of
// its queue tells; null where the front itself may run and is newer.
Ticket newest_before(const Ticket& target) {
  const std::deque<Ticket>& queue = target->stream->queue;
  const Ticket& front = queue.front();
  Ticket newest = newest_open(front->after);
  const bool front_waits = newest != nullptr;
  for (std::size_t i = 1; i < kLookAhead && queue[i - 1] != target; ++i) {
    const Ticket other = newest_open(queue[i]->after);
    if (other && (!newest || other->number > newest->number)) newest = other;
  }
  return newest && (front_waits || newest->number > front->number) ? newest : nullptr;
}

bool is_ready(const Operation& operation) {
  return !operation.running && std::ranges::all_of(operation.after, is_done) && is_met(operation);
}

}  // namespace

bool is_done(const Ticket& ticket) {
  return !ticket || ticket->done;
}

Ticket newest_open(std::span<const Ticket> tickets) {
  Ticket newest;
  for (const Ticket& ticket : tickets) {
    if (!is_done(ticket) && (!newest || ticket->number > newest->number)) newest = ticket;
  }
  return newest;
}

Ticket next_needed(const Ticket& target) {
  // Every step leads to an operation that was enqueued earlier, so the walk ends.
  Ticket at = target;
  while (const Ticket earlier = newest_before(at)) at = earlier;
  const Ticket& front = at->stream->queue.front();
  return front->running || !is_met(*front) ? nullptr : front;
}

std::vector<Ticket> waiting_host_code(std::span<const std::unique_ptr<StreamGroup>> groups) {
  std::vector<Ticket> waiting;
  for (const auto& group : groups) {
    for (const auto& [number, stream] : group->streams) {
      std::ranges::copy_if(stream->queue, std::back_inserter(waiting), [](const Ticket& ticket) {
        return ticket->calls_host && !ticket->running;
      });
    }
  }
  std::ranges::sort(waiting, {}, [](const Ticket& ticket) { return ticket->number; });
  return waiting;
}

std::vector<Ticket> ready_operations(std::span<const std::unique_ptr<StreamGroup>> groups) {
  std::vector<Ticket> candidates;
  for (const auto& group : groups) {
    for (const auto& [number, stream] : group->streams) {
      if (!stream->queue.empty() && is_ready(*stream->queue.front()))
        candidates.push_back(stream->queue.front());
    }
  }
  std::ranges::sort(candidates, {}, [](const Ticket& ticket) { return ticket->number; });
  return candidates;
}

void leave_timely(std::vector<Ticket>& candidates, Timeline& timeline) {
  std::erase_if(candidates, [&](const Ticket& ticket) {
    return ticket->calls_host && !timeline.has_passed(*ticket->time);
  });
}

Ticket first_in_time(std::span<const Ticket> candidates) {
  return *std::ranges::min_element(candidates, {}, [](const Ticket& ticket) {
    return std::tuple(ticket->calls_host, ticket->calls_host ? ticket->time->end : 0,
                      ticket->number);
  });
}

Ticket soonest_host_code(std::vector<Ticket> candidates, Timeline& timeline) {
  std::erase_if(candidates, [](const Ticket& ticket) { return !ticket->calls_host; });
  if (candidates.empty()) return nullptr;
  const auto has_end = [](const Ticket& ticket) { return ticket->time->ended; };
  while (std::ranges::none_of(candidates, has_end)) timeline.advance(*timeline.next_moment());
  std::erase_if(candidates, std::not_fn(has_end));
  return first_in_time(candidates);
}

void place(Operation& operation, const Clock& finished, const Clock& seen) {
  Stream& stream = *operation.stream;
  operation.clock.join(stream.placed);
  for (const Ticket& earlier : operation.after) operation.clock.join(earlier->clock);
  if (operation.may_begin) {
    const Clock* const reason = operation.reason ? operation.reason() : nullptr;
    operation.clock.join(reason == nullptr ? finished : *reason);
    operation.clock.join(seen);
  }
  stream.placed = operation.clock;
  stream.clock.join(operation.clock);
}

}  // namespace ferry::sim
