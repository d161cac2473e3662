// SPDX-License-Identifier: Apache-2.0
// The streams that stand for those of a trace. Each is one of its own that synchronises with no
// other, the trace's default stream too: else the legacy default stream's rules would order work
// that the allocator has to order, and hide that it did not. Owns the streams.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "driver/device.hpp"
#include "front/traces/trace.hpp"

namespace ferry::replay {

class TraceStreams {
 public:
  // Programs have dozens of streams at most; a log that names more (handles that were reused, or
  // a hostile file) is replayed on so many, which only adds order.
  static constexpr std::size_t kMost = 256;

  // One stream for each that the trace names, or for every kMost-th. Requires: `device` outlives
  // the result.
  [[nodiscard]] static Result<std::unique_ptr<TraceStreams>> open(Device& device,
                                                                  const DeviceTrace& trace);
  ~TraceStreams();
  TraceStreams(const TraceStreams&) = delete;
  TraceStreams& operator=(const TraceStreams&) = delete;

  // Requires: the trace names this stream.
  [[nodiscard]] StreamRef of(std::uint64_t trace_stream) const {
    return streams_.find(trace_stream)->second;
  }
  [[nodiscard]] std::size_t count() const { return owned_.size(); }

 private:
  explicit TraceStreams(Device& device) : device_(device) {}

  Device& device_;
  std::vector<StreamRef> owned_;
  std::unordered_map<std::uint64_t, StreamRef> streams_;  // by the trace's name
};

// How many streams the trace names.
[[nodiscard]] std::size_t count_streams(const DeviceTrace& trace);

}  // namespace ferry::replay
