// SPDX-License-Identifier: Apache-2.0
#include "sim/time/engine_pace.hpp"

#include <algorithm>

namespace ferry::sim {

std::uint64_t EnginePace::slowdown(int device, EngineKind engine, Picoseconds moment) const {
  std::uint64_t slowest = 1;
  for (const EngineWindow& window : windows_) {
    if (window.engine != engine || window.device.value_or(device) != device) continue;
    if (moment < window.from || moment >= window.until) continue;
    if (window.slowdown == 0) return 0;
    slowest = std::max(slowest, window.slowdown);
  }
  return slowest;
}

Picoseconds EnginePace::end_of(int device, EngineKind engine, Picoseconds moment,
                               Picoseconds duration) const {
  for (auto border = next_border(moment); border; border = next_border(moment)) {
    const auto factor = static_cast<Picoseconds>(slowdown(device, engine, moment));
    const Picoseconds done = factor == 0 ? 0 : (*border - moment) / factor;
    if (factor != 0 && duration <= done) return moment + duration * factor;
    duration -= done;
    moment = *border;
  }
  return moment + duration;  // after the last border there is no window
}

std::optional<Picoseconds> EnginePace::next_border(Picoseconds moment) const {
  std::optional<Picoseconds> next;
  for (const EngineWindow& window : windows_) {
    for (const Picoseconds border : {window.from, window.until}) {
      if (border > moment && (!next || border < *next)) next = border;
    }
  }
  return next;
}

}  // namespace ferry::sim
