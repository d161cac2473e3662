// SPDX-License-Identifier: Apache-2.0
// Who crosses the links between host and devices at a time, and how fast each goes. A direction has
// one rate alone and another while the other direction of the same device is used too; all links
// together cannot exceed the host's memory. Rates change when a crossing begins or ends; what was
// moved until then is kept exactly. Owned by the timeline; requires the library's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/time/profile.hpp"
#include "sim/time/virtual_clock.hpp"

namespace ferry::sim {

enum class Direction : std::uint8_t { to_device, to_host };

class LinkShare {
 public:
  // `profile` outlives it.
  explicit LinkShare(const Profile& profile) : profile_(profile) {}

  struct Crossing {
    std::uint64_t id = 0;
    int device = 0;
    Direction direction = Direction::to_device;
    std::uint64_t limit = 0;     // bytes per second, however free the link is
    std::uint64_t slowdown = 1;  // of its engine just now, see EnginePace
    Work left = 0;
    std::uint64_t rate = 0;
    Picoseconds end = 0;  // at the present rate
  };

  // Requires: `now` never goes back, nor past the end of a crossing that was not taken.
  void begin(Picoseconds now, const Crossing& crossing);

  // Asks anew how slow each crossing's engine is: slowdown(id).
  void repace(Picoseconds now, const std::function<std::uint64_t(std::uint64_t)>& slowdown);

  [[nodiscard]] bool empty() const { return crossings_.empty(); }
  // When the next one ends if nothing else begins: never, where all stand still. Requires: not
  // empty.
  [[nodiscard]] Picoseconds next_end() const;
  // The ids of those that have ended by `now`, in the order in which they began.
  [[nodiscard]] std::vector<std::uint64_t> take_ended(Picoseconds now);

 private:
  void move_on(Picoseconds now);
  void share(Picoseconds now);
  [[nodiscard]] std::uint64_t capacity_of(int device, Direction direction) const;
  [[nodiscard]] std::uint64_t wanted_of(int device, Direction direction) const;

  const Profile& profile_;
  Picoseconds now_ = 0;
  std::vector<Crossing> crossings_;
};

}  // namespace ferry::sim
