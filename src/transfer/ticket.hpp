// SPDX-License-Identifier: Apache-2.0
// The handle of submitted copies: complete when all of them have run. A plain holder of events; the
// engine that made it outlives it.
#pragma once

#include <utility>
#include <vector>

#include "driver/device.hpp"

namespace ferry {

class CopyEngine;

class Ticket {
 public:
  Ticket(Ticket&& other) noexcept
      : engine_(other.engine_), events_(std::exchange(other.events_, {})) {}
  Ticket& operator=(Ticket&&) = delete;
  // Gives the events back; the copies go on.
  ~Ticket();

  // Whether all copies have run. Never blocks.
  [[nodiscard]] Result<bool> is_complete() const;

  // Blocks the host until all copies have run.
  [[nodiscard]] Status wait() const;

  // Lets work queued on `stream` from now on come after the copies. Never blocks.
  [[nodiscard]] Status wait_on(StreamRef stream) const;

  [[nodiscard]] const std::vector<EventHandle>& events() const { return events_; }

 private:
  friend class CopyEngine;
  Ticket(CopyEngine& engine, std::vector<EventHandle> events)
      : engine_(engine), events_(std::move(events)) {}

  CopyEngine& engine_;
  std::vector<EventHandle> events_;
};

}  // namespace ferry
