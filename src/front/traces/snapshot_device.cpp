// SPDX-License-Identifier: Apache-2.0
#include "front/traces/snapshot_device.hpp"

#include <fmt/format.h>

#include <utility>

namespace ferry::replay {

Result<DeviceTrace, TraceError> SnapshotDevice::finish(int number, std::int64_t origin_us,
                                                       std::vector<std::string>& notes) {
  auto trace = history.finish(number, origin_us);
  if (!trace) return trace;
  if (trace->events.empty()) {
    notes.push_back(
        fmt::format("Device {}: the snapshot has no events, only the blocks that were live at its "
                    "end. They are "
                    "put in place once, which says nothing about fragmentation.",
                    number));
  }
  if (failures.count != 0) {
    notes.push_back(fmt::format(
        "Device {}: the recorded program ran out of memory {}, at entry {}: it asked for {} while "
        "{} was free. The request is not replayed.",
        number, failures.count == 1 ? "once" : fmt::format("{} times, last", failures.count),
        failures.last_entry, format_bytes(failures.last_asked), format_bytes(failures.last_free)));
  }
  for (std::string& note : describe_mending(history.counts(), number)) {
    notes.push_back(std::move(note));
  }
  if (!any_segment && reserve_changes.empty()) return trace;

  auto reserve = rebuild_reserve(segment_bytes, reserve_changes);
  if (!reserve) {
    return TraceError{fmt::format("device {}: its segments add up to more than {}", number,
                                  format_bytes(kMaxTraceLive)),
                      std::nullopt};
  }
  if (reserve->raised) {
    notes.push_back(fmt::format(
        "Device {}: more segments are given back than the snapshot accounts for; reserved memory "
        "is a lower bound.",
        number));
  }
  trace->recorded_peak_reserved = reserve->peak;
  trace->recorded_reserved = std::move(reserve->points);
  return trace;
}

}  // namespace ferry::replay
