// SPDX-License-Identifier: Apache-2.0
// What must hold of every trace, whichever reader made it and from whatever bytes.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "front/traces/history.hpp"
#include "front/traces/trace.hpp"

namespace ferry::replay::testing {

// Empty when all holds, else what does not.
inline std::string broken_promise(const DeviceTrace& device) {
  enum class State { unborn, live, freed };
  std::vector<State> states(device.blocks.size(), State::unborn);
  std::uint64_t live = 0;
  for (const TraceBlock& block : device.blocks) {
    if (block.bytes > kMaxTraceBlock) return "a block is too large";
  }
  for (const std::uint32_t block : device.start) {
    if (block >= states.size()) return "a start block does not exist";
    if (states[block] != State::unborn) return "a start block is there twice";
    states[block] = State::live;
    live += device.blocks[block].bytes.count;
  }
  std::uint64_t peak = live;
  std::int64_t time = 0;
  for (const TraceEvent& event : device.events) {
    if (event.block >= states.size()) return "an event names no block";
    if (event.time_us < time) return "time runs backwards";
    time = event.time_us;
    State& state = states[event.block];
    const std::uint64_t bytes = device.blocks[event.block].bytes.count;
    if (event.kind == TraceEvent::Kind::allocate) {
      if (state != State::unborn) return "a block is allocated twice";
      state = State::live;
      live += bytes;
      peak = std::max(peak, live);
    } else {
      if (state != State::live) return "a block that is not live is freed";
      state = State::freed;
      live -= bytes;
    }
  }
  if (std::find(states.begin(), states.end(), State::unborn) != states.end()) {
    return "a block is never allocated";
  }
  if (device.peak_live != Bytes{peak}) return "the peak of live bytes is wrong";
  if (!device.recorded_peak_reserved && !device.recorded_reserved.empty()) {
    return "reserved memory has points and no peak";
  }
  std::uint32_t at = 0;
  Bytes reserved;
  for (const RecordedReserved& point : device.recorded_reserved) {
    if (point.event < at || point.event > device.events.size()) return "a point is out of order";
    at = point.event;
    reserved = std::max(reserved, point.reserved);
  }
  if (device.recorded_peak_reserved && *device.recorded_peak_reserved != reserved) {
    return "the peak of reserved memory is not that of its points";
  }
  return {};
}

inline std::string broken_promise(const Trace& trace) {
  if (trace.devices.empty()) return "no device";
  if (trace.format.empty()) return "no format";
  for (std::size_t i = 0; i < trace.devices.size(); ++i) {
    if (i > 0 && trace.devices[i - 1].device >= trace.devices[i].device) {
      return "devices are out of order";
    }
    if (trace.devices[i].blocks.empty()) return "a device without blocks";
    if (std::string broken = broken_promise(trace.devices[i]); !broken.empty()) return broken;
  }
  return {};
}

}  // namespace ferry::replay::testing
