// SPDX-License-Identifier: Apache-2.0
// What a replay found out: plain data, made by the engine, printed as a table, as JSON and as a
// page.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "driver/call_counters.hpp"
#include "front/traces/trace.hpp"

namespace ferry::replay {

// One passage through the events of one device. The first begins with rebuilding the start set.
struct PassResult {
  CallTallies calls;     // the pool's own, not the tool's
  double driver_ms = 0;  // under the cost table; modelled
  // Most the pool held after an event, or within one where that was more than ever before. The most
  // of all passes is DeviceResult's.
  Bytes peak_reserved;
};

// Memory after an event of the first pass; the samples are in order and thinned out for long
// traces, never dropping a peak.
struct Sample {
  std::uint32_t event = 0;  // how many events came before
  Bytes live;               // requested bytes
  Bytes reserved;           // held by the pool, as in PassResult
};

// Driver calls made while serving one event of the first pass.
struct CallMark {
  std::uint32_t event = 0;
  std::uint64_t calls = 0;
};

struct DeviceResult {
  int device = 0;  // as the file numbers it
  std::uint64_t events = 0;
  Bytes peak_live;
  std::optional<Bytes> recorded_peak_reserved;
  // DeviceTrace's, for the picture; empty where nothing was recorded.
  std::vector<RecordedReserved> recorded_reserved;
  Bytes peak_reserved;  // over all passes
  // The same with unlimited memory, where --capacity min has found it out on the way.
  std::optional<Bytes> unlimited_peak_reserved;
  std::optional<Bytes> min_capacity;  // found by --capacity min
  std::optional<Bytes> capacity;      // the limit it ran under; nothing when unlimited
  bool completed = false;
  std::string error;  // why not: the out-of-memory report, or a failed check
  bool out_of_memory = false;
  std::vector<PassResult> passes;
  double pair_ns_p50 =
      0;  // nanoseconds of Ferry's own code per allocate and free; 0 when not measured
  double pair_ns_p99 = 0;
  std::vector<Sample> timeline;
  std::vector<CallMark> marks;
};

struct FileResult {
  std::string name;  // without folders
  std::string path;  // as given
  std::string format;
  std::vector<std::string> notes;      // the reader's
  std::string error;                   // why the file could not be replayed; empty when it was
  bool nothing_to_replay = false;      // because it holds no allocations
  bool host_memory_exhausted = false;  // because this machine's memory did not suffice
  std::vector<DeviceResult> devices;   // in the order of the file
  // Index of the device whose figures are the file's own: see worst_device().
  std::size_t worst_device = 0;
};

struct ReplayReport {
  std::string costs;     // name of the cost table
  std::string driver;    // which driver served: "stand-in (modelled)", "CUDA 13.0"
  std::string schedule;  // of the stand-in; empty on a real driver
  std::uint64_t seed = 0;
  // Why nothing was replayed, or the page could not be written; empty when all went well.
  std::string error;
  std::vector<std::string> notes;  // on the choice of the files
  std::vector<FileResult> files;

  [[nodiscard]] bool anything_replayed() const {
    return std::any_of(files.begin(), files.end(),
                       [](const FileResult& file) { return !file.devices.empty(); });
  }
};

}  // namespace ferry::replay
