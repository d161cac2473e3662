// SPDX-License-Identifier: Apache-2.0
#include "sim/time/link_share.hpp"

#include <algorithm>
#include <limits>

namespace ferry::sim {

namespace {

std::uint64_t value_of(const Figure& figure) {
  return static_cast<std::uint64_t>(figure.value);
}

// What a crossing could have of a free link, as its engine is just now.
std::uint64_t paced_limit(const LinkShare::Crossing& crossing) {
  if (crossing.slowdown == 0) return 0;
  return std::max<std::uint64_t>(1, crossing.limit / crossing.slowdown);
}

// The part of `rate` that is left where `wanted` in all has to fit in `capacity`.
std::uint64_t scaled(std::uint64_t rate, std::uint64_t capacity, std::uint64_t wanted) {
  if (wanted <= capacity || rate == 0) return rate;
  const Work part = Work{rate} * capacity / wanted;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(part));
}

}  // namespace

void LinkShare::begin(Picoseconds now, const Crossing& crossing) {
  move_on(now);
  crossings_.push_back(crossing);
  share(now);
}

void LinkShare::repace(Picoseconds now,
                       const std::function<std::uint64_t(std::uint64_t)>& slowdown) {
  move_on(now);
  for (Crossing& crossing : crossings_) crossing.slowdown = slowdown(crossing.id);
  share(now);
}

Picoseconds LinkShare::next_end() const {
  return std::min_element(crossings_.begin(), crossings_.end(),
                          [](const Crossing& a, const Crossing& b) { return a.end < b.end; })
      ->end;
}

std::vector<std::uint64_t> LinkShare::take_ended(Picoseconds now) {
  std::vector<std::uint64_t> ended;
  for (const Crossing& crossing : crossings_) {
    if (crossing.end <= now) ended.push_back(crossing.id);
  }
  if (ended.empty()) return ended;
  move_on(now);
  std::erase_if(crossings_, [&](const Crossing& crossing) { return crossing.end <= now; });
  share(now);
  return ended;
}

// Takes off what was moved since the last change.
void LinkShare::move_on(Picoseconds now) {
  for (Crossing& crossing : crossings_) {
    const Work moved = Work{crossing.rate} * static_cast<std::uint64_t>(now - now_);
    crossing.left -= std::min(crossing.left, moved);
  }
  now_ = now;
}

std::uint64_t LinkShare::wanted_of(int device, Direction direction) const {
  std::uint64_t wanted = 0;
  for (const Crossing& crossing : crossings_) {
    if (crossing.device == device && crossing.direction == direction)
      wanted += paced_limit(crossing);
  }
  return wanted;
}

std::uint64_t LinkShare::capacity_of(int device, Direction direction) const {
  const bool to_device = direction == Direction::to_device;
  const Direction other = to_device ? Direction::to_host : Direction::to_device;
  const bool duplex = wanted_of(device, other) > 0;
  if (to_device) return value_of(duplex ? profile_.duplex_to_device : profile_.to_device);
  return value_of(duplex ? profile_.duplex_to_host : profile_.to_host);
}

// Gives each crossing its rate, and from that its end.
void LinkShare::share(Picoseconds now) {
  std::uint64_t total = 0;
  for (Crossing& crossing : crossings_) {
    crossing.rate = scaled(paced_limit(crossing), capacity_of(crossing.device, crossing.direction),
                           wanted_of(crossing.device, crossing.direction));
    total += crossing.rate;
  }
  for (Crossing& crossing : crossings_) {
    crossing.rate = scaled(crossing.rate, value_of(profile_.host_memory), total);
    crossing.end = crossing.rate == 0 ? std::numeric_limits<Picoseconds>::max()
                                      : now + time_for(crossing.left, crossing.rate);
  }
}

}  // namespace ferry::sim
