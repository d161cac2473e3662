// SPDX-License-Identifier: Apache-2.0
// Of the stream engine: waits and polls.
#include <algorithm>
#include <chrono>
#include <optional>

#include "sim/order/readiness.hpp"
#include "sim/order/stream_engine.hpp"
#include "sim/words/say_once.hpp"

namespace ferry::sim {

namespace {

// For waits that may never end, as on a device: nobody else would say what they wait for.
class LongWait {
 public:
  void look() {
    const auto now = std::chrono::steady_clock::now();
    if (!begun_) begun_ = now;
    if (now - *begun_ < std::chrono::seconds(5)) return;
    say_once(
        "a call has waited for 5 s for work that waits for a value in memory (cuStreamWaitValue): "
        "nothing queued writes it, and neither has the program");
  }

 private:
  std::optional<std::chrono::steady_clock::time_point> begun_;
};

}  // namespace

void StreamEngine::finish(Lock& lock, const Ticket& ticket) {
  LongWait wait;
  while (ticket && !ticket->done) {
    // Under `random` other streams move on too while this one is waited for.
    Ticket next = schedule_ == Schedule::random ? pick_ready() : nullptr;
    if (!next) next = next_towards(ticket);
    if (next) {
      run(lock, next);
    } else if (conditions_ > 0) {
      if (turns_.let_others_go_on(lock)) continue;
      // Host code may make a condition true when its moment has come. Nobody tells when the
      // program's own code does.
      if (const Ticket host = soonest_host_code(ready_operations(groups_), timeline_)) {
        wait_in_time(lock, host);
      } else {
        wait.look();
        changed_.wait_for(lock, std::chrono::milliseconds(1));
      }
    } else {
      changed_.wait(lock);
    }
  }
}

void StreamEngine::finish(Lock& lock, std::span<const Ticket> tickets) {
  // Time first: host code of other streams whose moment comes until then runs before what ends
  // then.
  for (const Ticket& ticket : tickets) wait_in_time(lock, ticket);
  if (schedule_ == Schedule::eager) progress(lock);
  // The newest first, like next_needed.
  while (const Ticket newest = newest_open(tickets)) finish(lock, newest);
  for (const Ticket& ticket : tickets) {
    if (ticket && ticket->behind_condition)
      observe(ticket->clock);  // it has learnt of more by running
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
  if (timeline_.profile() != nullptr) {
    const bool passed = std::all_of(tickets.begin(), tickets.end(), [&](const Ticket& ticket) {
      return !ticket || timeline_.has_passed(*ticket->time);
    });
    if (!passed) return false;
    if (schedule_ == Schedule::eager) progress(lock);
    for (const Ticket& ticket : tickets) {
      while (!is_done(ticket)) {
        const Ticket next = next_towards(ticket);
        if (!next) return false;  // it waits for the program itself, or for host code's moment
        run(lock, next);
      }
    }
    finish(lock, tickets);
    return true;
  }
  if (const auto waiting = std::find_if_not(tickets.begin(), tickets.end(), is_done);
      waiting != tickets.end()) {
    if (schedule_ != Schedule::lazy || ++polls < kPatience) return false;
    polls = 0;  // now: the polled object may go while a host function runs without the lock
    if (const Ticket next = next_towards(*waiting)) run(lock, next);
    if (!std::all_of(tickets.begin(), tickets.end(), is_done)) return false;
  } else {
    polls = 0;
  }
  finish(lock, tickets);
  return true;
}

bool StreamEngine::go_on_to_host_code(Lock& lock) {
  const std::vector<Ticket> waiting = waiting_host_code(groups_);
  return std::ranges::any_of(waiting, [&](const Ticket& ticket) { return advance(lock, ticket); });
}

// The newest first: what the program waits for by itself was likely queued last, and nothing but
// that needs to run.
bool StreamEngine::go_on(Lock& lock) {
  const std::vector<Ticket> ready = ready_operations(groups_);
  if (!ready.empty()) run(lock, ready.back());
  return !ready.empty();
}

// Runs what the tickets need; false when one of them has to wait for the program itself. Who asks
// has no clock that comes to the moment of host code, so that may be early.
bool StreamEngine::run_what_may(Lock& lock, std::span<const Ticket> tickets) {
  for (const Ticket& ticket : tickets) {
    while (!is_done(ticket)) {
      Ticket next = next_towards(ticket);
      if (!next && conditions_ > 0) {
        const std::vector<Ticket> early = ready_operations(groups_);
        if (!early.empty()) next = early.front();
      }
      if (!next) return false;
      run(lock, next);
    }
  }
  return true;
}

}  // namespace ferry::sim
