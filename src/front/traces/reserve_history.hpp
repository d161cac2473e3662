// SPDX-License-Identifier: Apache-2.0
// What the recorded allocator had reserved from the driver over time, rebuilt from what it holds at
// the end and the changes that led there. A snapshot says only these two.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "front/traces/trace.hpp"

namespace ferry::replay {

struct ReserveChange {
  std::uint32_t event = 0;  // how many events of the device came before it
  bool grows = false;
  Bytes bytes;  // at most kMaxTraceBlock
};

struct ReserveHistory {
  std::vector<RecordedReserved> points;  // the first at the start, one more for each change
  Bytes peak;
  bool raised =
      false;  // the changes took more away than there was; all points were lifted above zero
};

// Nothing when a sum leaves 64 bits.
[[nodiscard]] std::optional<ReserveHistory> rebuild_reserve(
    Bytes at_end, const std::vector<ReserveChange>& changes);

}  // namespace ferry::replay
