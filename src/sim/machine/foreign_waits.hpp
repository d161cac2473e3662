// SPDX-License-Identifier: Apache-2.0
// The records of shared events that this process made and has not reached yet, and the running of
// what is queued before them when another process waits. A program may record such an event, tell
// another process so, and wait for its answer without calling the driver: on a device the work goes
// on meanwhile. Owned by the machine; requires the library's lock.
#pragma once

#include <cstdint>
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
    open_.push_back(std::move(record));
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

  // For a child of fork: the end of its parent must be seen all the same.
  void leave() {
    for (const std::weak_ptr<SharedEvent>& recorded : recorded_) {
      if (const std::shared_ptr<SharedEvent> event = recorded.lock()) event->leave();
    }
  }

 private:
  void keep(const std::shared_ptr<SharedEvent>& event) {
    std::erase_if(recorded_, [&](const std::weak_ptr<SharedEvent>& known) {
      const std::shared_ptr<SharedEvent> there = known.lock();
      return there == nullptr || there == event;
    });
    recorded_.push_back(event);
  }

  std::vector<Record> open_;
  std::vector<std::weak_ptr<SharedEvent>> recorded_;  // each event once
};

}  // namespace ferry::sim
