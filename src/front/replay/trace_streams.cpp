// SPDX-License-Identifier: Apache-2.0
#include "front/replay/trace_streams.hpp"

#include <set>

namespace ferry::replay {

Result<std::unique_ptr<TraceStreams>> TraceStreams::open(Device& device, const DeviceTrace& trace) {
  std::set<std::uint64_t> names;  // in order, so that runs are alike
  for (const TraceBlock& block : trace.blocks) names.insert(block.stream);
  for (const TraceEvent& event : trace.events) names.insert(event.stream);
  std::unique_ptr<TraceStreams> streams(new TraceStreams(device));
  for (const std::uint64_t name : names) {
    const Result<StreamRef> stream = device.create_stream();
    if (!stream) return stream.error();
    streams->streams_.emplace(name, *stream);
  }
  return streams;
}

TraceStreams::~TraceStreams() {
  // Nothing is left to be done where the device was lost.
  for (const auto& [name, stream] : streams_) static_cast<void>(device_.destroy_stream(stream));
}

}  // namespace ferry::replay
