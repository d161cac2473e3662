// SPDX-License-Identifier: Apache-2.0
// The records of shared events that this process made and has not reached yet, and the running of
// what is queued before them when another process waits. A program may record such an event, tell
// another process so, and wait for its answer without calling the driver: on a device the work goes
// on meanwhile. When some process has seen such a record complete, it may have told this one, in a
// way that nobody here sees: the work before it counts as seen from this one's next call on.
// Owned by the machine; requires the library's lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "sim/machine/shared_event.hpp"
#include "sim/order/stream_engine.hpp"

namespace ferry::sim {

class ForeignWaits {
 public:
  struct Record {
    std::shared_ptr<SharedEvent> event;
    std::uint64_t number = 0;
    Ticket ticket;
  };

  void add(Record record) {
    keep(record.event);
    open_.push_back(record);
    auto unseen = std::ranges::find(unseen_, record.event, &Unseen::event);
    if (unseen == unseen_.end())
      unseen = unseen_.insert(unseen, {record.event, record.event->sights(), {}});
    // What is older the event does not remember.
    if (unseen->records.size() == SharedEvent::kRemembered) unseen->records.pop_front();
    unseen->records.push_back(std::move(record));
  }
  [[nodiscard]] bool any() const { return !open_.empty(); }

  // Runs what may run of the work that others wait for.
  void serve(Lock& lock, StreamEngine& engine) {
    forget_reached();
    const std::vector<Record> open = open_;  // more may come while host code runs
    for (const Record& record : open) {
      if (!record.ticket->done && record.event->is_asked_for(record.number))
        static_cast<void>(engine.advance(lock, record.ticket));
    }
    forget_reached();
  }
  void forget_reached() {
    std::erase_if(open_, [](const Record& record) { return record.ticket->done; });
  }

  // To be called at each call of the program.
  void take_seen(StreamEngine& engine) {
    if (unseen_.empty()) return;
    for (Unseen& unseen : unseen_) take_seen_of(unseen, engine);
    std::erase_if(unseen_, [](const Unseen& unseen) { return unseen.records.empty(); });
  }

  // For a child of fork: the end of its parent must be seen all the same.
  void leave() {
    for (const std::weak_ptr<SharedEvent>& recorded : recorded_) {
      if (const std::shared_ptr<SharedEvent> event = recorded.lock()) event->leave();
    }
  }

 private:
  // The records of one event that nobody is known to have seen.
  struct Unseen {
    std::shared_ptr<SharedEvent> event;
    std::uint64_t sights = 0;  // of the event, when it was last looked at
    std::deque<Record> records;
  };

  static void take_seen_of(Unseen& unseen, StreamEngine& engine) {
    std::deque<Record>& records = unseen.records;
    const std::uint64_t sights = unseen.event->sights();
    const auto is_seen = [&](const Record& record) {
      return is_covered(*record.ticket, engine.seen());
    };
    if (sights != unseen.sights) {
      unseen.sights = sights;
      for (const Record& record : records) {
        if (record.ticket->done && record.event->is_seen(record.number))
          engine.observe(record.ticket->clock);
      }
      std::erase_if(records, is_seen);
    }
    while (!records.empty() && is_seen(records.front())) records.pop_front();
  }

  void keep(const std::shared_ptr<SharedEvent>& event) {
    std::erase_if(recorded_, [&](const std::weak_ptr<SharedEvent>& known) {
      const std::shared_ptr<SharedEvent> there = known.lock();
      return there == nullptr || there == event;
    });
    recorded_.push_back(event);
  }

  std::vector<Record> open_;
  std::vector<Unseen> unseen_;
  std::vector<std::weak_ptr<SharedEvent>> recorded_;  // each event once
};

}  // namespace ferry::sim
