// SPDX-License-Identifier: Apache-2.0
#include "memory/event_pool.hpp"

namespace ferry {

EventPool::~EventPool() {
  for (const EventHandle event : free_) {
    // At process exit the driver may be gone already; there is nobody left to tell.
    static_cast<void>(device_.destroy_event(event));
  }
}

Result<EventHandle> EventPool::take() {
  if (free_.empty()) return device_.create_event();
  const EventHandle event = free_.back();
  free_.pop_back();
  return event;
}

bool EventPool::give_back_if_reached(EventHandle event) {
  const Result<bool> reached = device_.query(event);
  if (!reached || !*reached) return false;
  give_back(event);
  return true;
}

Result<EventHandle> EventPool::record(StreamRef stream) {
  Result<EventHandle> event = take();
  if (!event) return event;
  return keep_if_recorded(*event, device_.record(*event, stream));
}

Result<EventHandle> EventPool::record_context() {
  Result<EventHandle> event = take();
  if (!event) return event;
  return keep_if_recorded(*event, device_.record_context(*event));
}

Result<EventHandle> EventPool::keep_if_recorded(EventHandle event, Status recorded) {
  if (recorded) return event;
  give_back(event);
  return recorded;
}

}  // namespace ferry
