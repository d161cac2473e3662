// SPDX-License-Identifier: Apache-2.0
// Snapshots for tests, as values that a test can change before it writes them.
#pragma once

#include <cstdint>

#include "front/traces/pickle/pickle_writer.hpp"

namespace ferry::replay::testing {

inline constexpr std::int64_t kSampleBase = 0x7f0000000000;

inline Py entry(const char* action, std::int64_t address, std::int64_t size, std::int64_t time,
                int stream = 0) {
  return Py::Dict{
      {"action", action}, {"addr", address}, {"size", size}, {"stream", stream}, {"time_us", time}};
}

inline Py block(std::int64_t address, std::int64_t size, std::int64_t requested,
                const char* state) {
  return Py::Dict{
      {"address", address}, {"size", size}, {"requested_size", requested}, {"state", state}};
}

inline Py segment(int device, std::int64_t address, std::int64_t total, Py::List blocks,
                  int stream = 0) {
  return Py::Dict{{"device", device},
                  {"address", address},
                  {"total_size", total},
                  {"stream", stream},
                  {"blocks", Py(std::move(blocks))}};
}

inline Py snapshot(Py::List segments, Py::List traces) {
  return Py::Dict{{"segments", Py(std::move(segments))}, {"device_traces", Py(std::move(traces))}};
}

// One device: a block that lives all along, one that is freed in the history, one that is allocated
// in it and stays, one that comes and goes.
inline Py sample_snapshot() {
  return snapshot({segment(0, kSampleBase, 2 << 20,
                           {block(kSampleBase, 4096, 4000, "active_allocated"),
                            block(kSampleBase + 4096, 8192, 0, "inactive"),
                            block(kSampleBase + 12288, 512, 500, "active_allocated"),
                            block(kSampleBase + 12800, (2 << 20) - 12800, 0, "inactive")})},
                  {Py(Py::List{entry("free_requested", kSampleBase + 4096, 8000, 100),
                               entry("free_completed", kSampleBase + 4096, 8000, 100),
                               entry("alloc", kSampleBase + 12288, 500, 110),
                               entry("alloc", kSampleBase + 4096, 7000, 120),
                               entry("free_requested", kSampleBase + 4096, 7000, 130),
                               entry("free_completed", kSampleBase + 4096, 7000, 130)})});
}

}  // namespace ferry::replay::testing
