// SPDX-License-Identifier: Apache-2.0
#include "memory/fence_clock.hpp"

namespace ferry {

Status FenceClock::mark(EventPool& events, StreamRef stream) {
  if (marked()) return {};
  const Result<EventHandle> event = events.record(stream);
  if (!event) return event.error();
  add_mark(*event);
  return {};
}

Status FenceClock::mark_if_few(EventPool& events, StreamRef stream) {
  return has_room(events) ? mark(events, stream) : Status();
}

bool FenceClock::has_room(EventPool& events) {
  if (marks_.size() >= kFewMarks) poll(events);
  return marks_.size() < kFewMarks;
}

Status FenceClock::mark_context(EventPool& events) {
  if (marked() || !has_room(events)) return {};
  const Result<EventHandle> event = events.record_context();
  if (!event) return event.error();
  add_mark(*event);
  return {};
}

void FenceClock::add_mark(EventHandle event) {
  marks_.push_back(Mark{now_, event});
  marked_ = now_;
}

void FenceClock::poll(EventPool& events) {
  while (!marks_.empty() && events.give_back_if_reached(marks_.front().event)) {
    passed_ = marks_.front().stamp;
    marks_.pop_front();
  }
}

void FenceClock::pass_all(EventPool& events) {
  for (const Mark& mark : marks_) events.give_back(mark.event);
  marks_.clear();
  marked_ = passed_ = now_;
}

}  // namespace ferry
