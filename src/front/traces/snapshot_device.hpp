// SPDX-License-Identifier: Apache-2.0
// What a memory snapshot says about one device, collected by the reader, and what follows from it.
#pragma once

#include <string>
#include <vector>

#include "front/traces/history.hpp"
#include "front/traces/reserve_history.hpp"

namespace ferry::replay {

// The times that the recorded program was refused memory.
struct RecordedFailures {
  std::uint64_t count = 0;
  std::uint64_t last_entry = 0;
  Bytes last_asked;
  Bytes last_free;
};

struct SnapshotDevice {
  History history;
  std::vector<ReserveChange> reserve_changes;
  Bytes segment_bytes;
  bool any_segment = false;
  RecordedFailures failures;

  // Room for one more entry.
  [[nodiscard]] bool full() const {
    return history.full() || reserve_changes.size() >= kMaxTraceEvents;
  }

  // Ends the device; requires that it has a block. What had to be assumed is added to `notes`.
  [[nodiscard]] Result<DeviceTrace, TraceError> finish(int number, std::int64_t origin_us,
                                                       std::vector<std::string>& notes);
};

}  // namespace ferry::replay
