// SPDX-License-Identifier: Apache-2.0
// Virtual time: whole picoseconds from the start of the machine, and the clock of each host thread.
// Nothing on this path is a floating-point number, so that two runs, compilers or machines give the
// same figures to the bit. Modelled, never measured. Owned by the timeline; requires the library's
// lock.
#pragma once

#include <cstdint>

namespace ferry::sim {

using Picoseconds = std::int64_t;  // 106 days

inline constexpr Picoseconds kPicosecondsPerNanosecond = 1'000;
inline constexpr Picoseconds kPicosecondsPerMicrosecond = 1'000'000;
inline constexpr std::uint64_t kPicosecondsPerSecond = 1'000'000'000'000;

// Bytes, counted in parts of 10^-12: a rate in bytes per second times picoseconds is a whole number
// of them. So progress is exact, and only the end of a transfer is rounded.
__extension__ using Work = unsigned __int128;

[[nodiscard]] constexpr Work work_of(std::uint64_t bytes) {
  return Work{bytes} * kPicosecondsPerSecond;
}

// How long work takes at a rate in bytes per second, rounded up once. Three days at most, so that
// sums of times do not run over. Requires: rate > 0.
[[nodiscard]] constexpr Picoseconds time_for(Work work, std::uint64_t rate) {
  constexpr Work kLongest = Work{1} << 58;
  const Work time = (work + rate - 1) / rate;
  return static_cast<Picoseconds>(time < kLongest ? time : kLongest);
}

// The clocks of the threads that use one machine. Each function is about the calling thread. A
// thread that comes new begins where the farthest of the others is.
class VirtualClock {
 public:
  VirtualClock();

  [[nodiscard]] Picoseconds now() { return mine(); }
  void spend(Picoseconds duration) { reach(mine() + duration); }
  // Never goes back.
  void reach(Picoseconds moment);
  // A thread that comes new begins at this moment, wherever the others are.
  void begin_at(Picoseconds moment);

 private:
  [[nodiscard]] Picoseconds& mine();

  std::uint64_t era_;  // tells the clocks of one machine from those of an earlier one
  Picoseconds latest_ = 0;
};

}  // namespace ferry::sim
