// SPDX-License-Identifier: Apache-2.0
// The stand-in's record of one process's copies and waits (src/sim/traffic/traffic_log.hpp), read.
// Plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"

namespace ferry::traffic {

enum class Way : std::uint8_t { to_device, to_host, on_device, between_devices, on_host };
inline constexpr std::size_t kWays = 5;
// As the record has them.
inline constexpr std::array<std::string_view, kWays> kWayNames{"to_device", "to_host", "on_device",
                                                               "between_devices", "on_host"};

// What part of the program a call belongs to.
struct Moment {
  std::string phase = "other";
  std::uint64_t step = 1;
  std::uint64_t micro_step = 0;  // of the step
  std::string range;             // the outermost of NVTX; empty outside any
};

// Where in the program.
struct Caller {
  std::string operation;  // of the framework; empty where none is known
  std::string place;      // a line of Python, or where a library called
  friend auto operator<=>(const Caller&, const Caller&) = default;
};

struct Contents {
  std::string digest;  // where `widened`, that of the upper halves of its words
  bool zero = false;
  bool widened = false;
};

struct Copy {
  Way way = Way::to_device;
  Bytes bytes;
  bool pinned = true;
  bool blocks = false;
  std::string call;
  Caller caller;
  std::size_t moment = 0;  // in Records::moments
  std::optional<std::int64_t> begin_ps;
  std::optional<std::int64_t> end_ps;
  std::optional<Contents> contents;
};

struct Wait {
  std::string call;
  Caller caller;
  std::size_t moment = 0;
};

struct MemorySample {
  std::int64_t at_ps = 0;
  Bytes in_use;     // of all devices
  Bytes allocated;  // in tensors, as far as that was told
};

struct PhaseBegin {
  std::int64_t at_ps = 0;
  std::string name;
  std::uint64_t step = 1;
};

struct Records {
  std::vector<Moment> moments;
  std::vector<Copy> copies;  // in the order in which they were queued
  std::vector<Wait> waits;
  std::vector<MemorySample> memory;
  std::vector<PhaseBegin> phases;
  std::uint64_t parameters = 0;  // of the trained model; 0: not told
  bool complete = false;         // the process came to its end

  [[nodiscard]] const Moment& moment_of(const Copy& copy) const { return moments[copy.moment]; }
  [[nodiscard]] const Moment& moment_of(const Wait& wait) const { return moments[wait.moment]; }
};

// A line that cannot be read, as the last one of a process that was killed, ends the record.
[[nodiscard]] Records read_records(std::istream& text);

}  // namespace ferry::traffic
