// SPDX-License-Identifier: Apache-2.0
#include "transfer/ticket.hpp"

#include "driver/outside_captures.hpp"
#include "transfer/copy_engine.hpp"

namespace ferry {

Ticket::~Ticket() {
  if (!events_.empty()) engine_.give_back(events_);
}

Result<bool> Ticket::is_complete() const {
  const OutsideCaptures outside(engine_.device_.driver());
  for (const EventHandle event : events_) {
    const Result<bool> reached = engine_.device_.query(event);
    if (!reached || !*reached) return reached;
  }
  return true;
}

Status Ticket::wait() const {
  const OutsideCaptures outside(engine_.device_.driver());
  for (const EventHandle event : events_) FERRY_TRY(engine_.device_.synchronize(event));
  return {};
}

Status Ticket::wait_on(StreamRef stream) const {
  FERRY_TRY(refuse_capturing(engine_.device_, stream));
  for (const EventHandle event : events_) FERRY_TRY(engine_.device_.wait(stream, event));
  return {};
}

}  // namespace ferry
