// SPDX-License-Identifier: Apache-2.0
// The streams that stand for those of a trace. Each is one of its own that synchronises with no
// other, the trace's default stream too: else the legacy default stream's rules would order work
// that the allocator has to order, and hide that it did not. Owns the streams.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "driver/device.hpp"
#include "front/replay/trace.hpp"

namespace ferry::replay {

class TraceStreams {
 public:
  // One stream for each that the trace names. Requires: `device` outlives the result.
  [[nodiscard]] static Result<std::unique_ptr<TraceStreams>> open(Device& device,
                                                                  const DeviceTrace& trace);
  ~TraceStreams();
  TraceStreams(const TraceStreams&) = delete;
  TraceStreams& operator=(const TraceStreams&) = delete;

  // Requires: the trace names this stream.
  [[nodiscard]] StreamRef of(std::uint64_t trace_stream) const {
    return streams_.find(trace_stream)->second;
  }
  [[nodiscard]] std::size_t count() const { return streams_.size(); }

 private:
  explicit TraceStreams(Device& device) : device_(device) {}

  Device& device_;
  std::unordered_map<std::uint64_t, StreamRef> streams_;
};

}  // namespace ferry::replay
