// SPDX-License-Identifier: Apache-2.0
// What is known of a recording of a real program, and whether a reader finds it out.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <ostream>
#include <string>

#include "front/traces/trace.hpp"
#include "front/traces/trace_check.hpp"

namespace ferry::replay::testing {

struct Expected {
  const char* file;
  int device;
  std::size_t blocks_at_start;
  std::uint64_t live_at_start;
  std::size_t allocations;
  std::size_t frees;
  std::uint64_t peak_live;
  std::optional<std::uint64_t> peak_reserved;
  std::int64_t span_us;
};

inline void PrintTo(const Expected& expected, std::ostream* out) {
  *out << expected.file;
}

inline void check_recording(const std::string& path, const Expected& expected) {
  const auto begin = std::chrono::steady_clock::now();
  auto trace = read_trace(path);
  const auto took = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(trace) << trace.error().describe();
  EXPECT_EQ(broken_promise(*trace), "");
  ASSERT_EQ(trace->devices.size(), 1U);
  const DeviceTrace& device = trace->devices[0];
  EXPECT_EQ(device.device, expected.device);
  EXPECT_EQ(device.start.size(), expected.blocks_at_start);
  Bytes start;
  for (const std::uint32_t block : device.start) start += device.blocks[block].bytes;
  EXPECT_EQ(start, Bytes{expected.live_at_start});
  std::size_t allocations = 0;
  for (const TraceEvent& event : device.events) {
    allocations += event.kind == TraceEvent::Kind::allocate ? 1 : 0;
  }
  EXPECT_EQ(allocations, expected.allocations);
  EXPECT_EQ(device.events.size() - allocations, expected.frees);
  EXPECT_EQ(device.peak_live, Bytes{expected.peak_live});
  EXPECT_EQ(device.recorded_peak_reserved.has_value(), expected.peak_reserved.has_value());
  if (expected.peak_reserved) {
    EXPECT_EQ(device.recorded_peak_reserved, Bytes{*expected.peak_reserved});
  }
  EXPECT_EQ(device.events.empty() ? 0 : device.events.back().time_us, expected.span_us);
  // A fraction of a second; the bound leaves room for sanitizers and a busy machine.
  EXPECT_LT(took, std::chrono::seconds(20));
}

}  // namespace ferry::replay::testing
