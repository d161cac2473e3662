// SPDX-License-Identifier: Apache-2.0
// The "[memory]" events of a Kineto trace, pulled out of the JSON as it streams by: nothing else of
// a trace of gigabytes is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "front/traces/byte_source.hpp"

namespace ferry::replay {

struct KinetoMemoryEvent {
  double time_us = 0;
  std::uint64_t address = 0;
  bool is_free = false;
  Bytes bytes;
  std::int32_t device_type = 0;
  std::int32_t device = 0;
  std::optional<Bytes> total_allocated;  // after the event, as the allocator counts
  std::optional<Bytes> total_reserved;
};

// In the order of the file. Events of no bytes are left out.
[[nodiscard]] Result<std::vector<KinetoMemoryEvent>, TraceError> read_kineto_events(
    ByteSource& source);

}  // namespace ferry::replay
