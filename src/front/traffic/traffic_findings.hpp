// SPDX-License-Identifier: Apache-2.0
// Bytes that crossed the link and need not have, in one step of a training. It takes the contents
// of the copies to find them, so the program must have run with real values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "front/traffic/traffic_records.hpp"

namespace ferry::traffic {

// Smaller contents may be equal by chance: counters, flags, scalars.
inline constexpr Bytes kSmallestContents = 4_KiB;

// A copy among those of equal contents.
struct Stop {
  std::string phase;
  Way way = Way::to_device;
  bool widened = false;
  Caller caller;
  friend auto operator<=>(const Stop&, const Stop&) = default;
};

// The same bytes, moved more than once; as words of 32 bits and as floats of 16 they are the same.
struct Repeated {
  std::vector<Stop> stops;     // in the order of the copies
  std::uint64_t contents = 0;  // that took this route
  Bytes moved;
  Bytes needed;  // had each crossed once, in its smaller form
};

// Words of 32 bits whose lower halves are empty.
struct Widened {
  std::string phase;
  Way way = Way::to_device;
  Caller caller;
  std::uint64_t copies = 0;
  Bytes moved;  // half of them need not
};

// Gradients that cross the link in every micro-step, where they could be summed up on the device.
struct Accumulated {
  std::uint64_t micro_steps = 0;
  Bytes moved;   // over the link, in the backward passes of all
  Bytes needed;  // to the host, in the micro-step that sends least
};

struct Findings {
  bool has_contents = false;             // some copy's bytes are known and are not all zeros
  std::vector<Repeated> repeated;        // those that waste most first
  std::vector<Widened> widened;          // those that move most first
  std::vector<Accumulated> accumulated;  // one, or none
};

[[nodiscard]] Findings look_for_waste(const Records& records, std::uint64_t step);

}  // namespace ferry::traffic
