// SPDX-License-Identifier: Apache-2.0
#include "transfer/ticket.hpp"

#include "transfer/copy_engine.hpp"

namespace ferry {

Ticket::~Ticket() {
  if (!events_.empty()) engine_.give_back(events_);
}

Result<bool> Ticket::is_complete() const {
  for (const EventHandle event : events_) {
    const Result<bool> reached = engine_.device_.query(event);
    if (!reached || !*reached) return reached;
  }
  return true;
}

Status Ticket::wait() const {
  for (const EventHandle event : events_) FERRY_TRY(engine_.device_.synchronize(event));
  return {};
}

Status Ticket::wait_on(StreamRef stream) const {
  for (const EventHandle event : events_) FERRY_TRY(engine_.device_.wait(stream, event));
  return {};
}

}  // namespace ferry
