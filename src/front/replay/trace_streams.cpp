// SPDX-License-Identifier: Apache-2.0
#include "front/replay/trace_streams.hpp"

#include <set>

namespace ferry::replay {

namespace {

// In order, so that runs are alike.
std::set<std::uint64_t> names_in(const DeviceTrace& trace) {
  std::set<std::uint64_t> names;
  for (const TraceBlock& block : trace.blocks) names.insert(block.stream);
  for (const TraceEvent& event : trace.events) names.insert(event.stream);
  return names;
}

}  // namespace

std::size_t count_streams(const DeviceTrace& trace) {
  return names_in(trace).size();
}

Result<std::unique_ptr<TraceStreams>> TraceStreams::open(Device& device, const DeviceTrace& trace) {
  std::unique_ptr<TraceStreams> streams(new TraceStreams(device));
  std::size_t number = 0;
  for (const std::uint64_t name : names_in(trace)) {
    if (number < kMost) {
      const Result<StreamRef> stream = device.create_stream();
      if (!stream) return stream.error();
      streams->owned_.push_back(*stream);
    }
    streams->streams_.emplace(name, streams->owned_[number % kMost]);
    ++number;
  }
  return streams;
}

TraceStreams::~TraceStreams() {
  // Nothing is left to be done where the device was lost.
  for (const StreamRef stream : owned_) static_cast<void>(device_.destroy_stream(stream));
}

}  // namespace ferry::replay
