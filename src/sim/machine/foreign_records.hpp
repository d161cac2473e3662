// SPDX-License-Identifier: Apache-2.0
// The records of other processes that work of this one waits for, until the host has seen that work
// complete: whose record it is must be told before this process can say so to anyone. A program may
// answer by a socket, and the recorder then uses its memory with no wait of its own. Owned by the
// machine; requires the library's lock.
//
// A record that this process makes behind such a wait says what it comes after: who sees it has
// seen that too, be it in a third process.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/machine/shared_event.hpp"
#include "sim/order/operation.hpp"

namespace ferry::sim {

// The host of this process has seen the record complete, and so what it says it comes after.
void see_record(SharedEvent& event, std::uint64_t number);

class ForeignRecords {
 public:
  // Of more waits that nobody sees the end of, the oldest are forgotten: their recorders may then
  // be told of a hazard that is none.
  static constexpr std::size_t kMostWaits = 1024;
  // A record says so many, the newest.
  static constexpr std::size_t kMostLinks = 64;

  struct Wait {
    std::shared_ptr<SharedEvent> event;
    std::uint64_t number = 0;
    Ticket ticket;
  };

  void add(Wait wait);
  // The host has seen complete what `seen` covers.
  void tell(const Clock& seen);
  // A new record of this process, which comes after what `clock` covers.
  void link(SharedEvent& event, std::uint64_t number, const Clock& clock) const;

 private:
  std::vector<Wait> waits_;
};

}  // namespace ferry::sim
