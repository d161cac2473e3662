// SPDX-License-Identifier: Apache-2.0
// How fast engines go at which moment: at full pace, save in the windows that a test has chosen,
// where one is slower or stands still. Whole numbers throughout. Owned by the timeline; requires
// the library's lock.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/time/virtual_clock.hpp"
#include "sim/words/engine_window.hpp"

namespace ferry::sim {

class EnginePace {
 public:
  void set_windows(std::vector<EngineWindow> windows) { windows_ = std::move(windows); }

  // How many times slower than at full pace; 0: it stands still. Where windows overlap, the slowest
  // counts.
  [[nodiscard]] std::uint64_t slowdown(int device, EngineKind engine, Picoseconds moment) const;

  // When what takes `duration` at full pace ends if it begins at `moment`.
  [[nodiscard]] Picoseconds end_of(int device, EngineKind engine, Picoseconds moment,
                                   Picoseconds duration) const;

  // The first moment after this one at which a window begins or ends.
  [[nodiscard]] std::optional<Picoseconds> next_border(Picoseconds moment) const;

 private:
  std::vector<EngineWindow> windows_;
};

}  // namespace ferry::sim
