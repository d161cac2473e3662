// SPDX-License-Identifier: Apache-2.0
// A recorded allocation history, whatever file it came from: the blocks, which of them were live at
// the start, and the events in order. Readers make it; the replay and its reports only know this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/status.hpp"

namespace ferry::replay {

struct TraceBlock {
  Bytes bytes;               // as requested; where the file has only rounded sizes, as rounded
  std::uint64_t stream = 0;  // the stream that allocated it, as the file names it; 0 is the default
};

struct TraceEvent {
  enum class Kind : std::uint8_t { allocate, free };
  Kind kind = Kind::allocate;
  std::uint32_t block = 0;   // index into DeviceTrace::blocks
  std::uint64_t stream = 0;  // the stream of this call
  std::int64_t time_us = 0;  // since the file's first event, never falling; 0 where it has no times
};

// A point of the recorded allocator's own reserved memory, for the picture. `event` counts the
// events before it.
struct RecordedReserved {
  std::uint32_t event = 0;
  Bytes reserved;
};

// Every event names a block; a block is allocated at most once (never, if it is in `start`) and
// freed at most once, after that.
struct DeviceTrace {
  int device = 0;  // as the file numbers it; -1 is the host in a Kineto trace without a GPU
  std::vector<TraceBlock> blocks;
  std::vector<std::uint32_t> start;  // blocks live before the first event, in address order
  std::vector<TraceEvent> events;
  Bytes peak_live;  // of requested bytes, the start set included
  std::optional<Bytes> recorded_peak_reserved;
  std::vector<RecordedReserved> recorded_reserved;  // empty where nothing was recorded
};

// "device 0", "the host"; "Device 0", "The host" where a sentence begins.
[[nodiscard]] std::string device_name(int device);
[[nodiscard]] std::string device_title(int device);

struct Trace {
  std::string name;                  // the file's name without folders
  std::string format;                // "PyTorch snapshot", "RMM log", "Kineto trace"
  std::vector<DeviceTrace> devices;  // in order of their numbers; those without any block are left
                                     // out, and at least one is there
  std::vector<std::string> notes;    // what the reader had to assume, in sentences
};

// Why a file could not be read: one sentence that follows the file's name ("is empty", "holds …"),
// with the offset in the (decompressed) stream where it broke.
struct TraceError {
  std::string message;
  std::optional<std::uint64_t> offset{};
  bool nothing_to_replay = false;  // nothing is wrong with the file, but it holds no allocations
  [[nodiscard]] std::string describe() const;  // "…, at byte 1234"
};

inline constexpr Bytes kMaxTraceFile = 4_GiB;
inline constexpr Bytes kMaxTraceStream = 8_GiB;

// Reads a file of any known format, told by its content. Refuses files over `kMaxTraceFile` and
// compressed ones that grow beyond `kMaxTraceStream`.
[[nodiscard]] Result<Trace, TraceError> read_trace(const std::string& path);

// The same for bytes that are in memory already.
[[nodiscard]] Result<Trace, TraceError> read_trace_bytes(std::string_view bytes,
                                                         const std::string& name);

// Fills in peak_live from blocks, start and events. Stays at the largest value on overflow.
void compute_peak_live(DeviceTrace& trace);

}  // namespace ferry::replay
