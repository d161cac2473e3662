// SPDX-License-Identifier: Apache-2.0
// Events for reuse: creating one costs a driver call, and fences come and go all the time.
#pragma once

#include <vector>

#include "driver/device.hpp"

namespace ferry {

class EventPool {
 public:
  // Requires: `device` outlives the pool.
  explicit EventPool(Device& device) : device_(device) {}
  ~EventPool();
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  [[nodiscard]] Device& device() const { return device_; }

  // An event that nobody waits for any more.
  [[nodiscard]] Result<EventHandle> take();
  void give_back(EventHandle event) { free_.push_back(event); }
  void give_back(const std::vector<EventHandle>& events) {
    free_.insert(free_.end(), events.begin(), events.end());
  }

  // Whether the work that an event captured has finished; the event is given back then. A query
  // that the driver does not answer counts as not finished: nothing is reused on a guess.
  [[nodiscard]] bool give_back_if_reached(EventHandle event);

  // An event that captures the work queued so far on `stream`, or in the whole context.
  [[nodiscard]] Result<EventHandle> record(StreamRef stream);
  [[nodiscard]] Result<EventHandle> record_context();

 private:
  [[nodiscard]] Result<EventHandle> keep_if_recorded(EventHandle event, Status recorded);

  Device& device_;
  std::vector<EventHandle> free_;
};

}  // namespace ferry
