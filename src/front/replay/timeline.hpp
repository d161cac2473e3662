// SPDX-License-Identifier: Apache-2.0
// Memory over the events of one pass, thinned out while it is recorded: a trace of millions of
// events leaves a few thousand samples, and no peak is lost.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "front/replay/replay_result.hpp"

namespace ferry::replay {

class Timeline {
 public:
  // `events`: how many are to come. With few of them nothing is left out.
  explicit Timeline(std::uint64_t events);

  // In order of `sample.event`.
  void add(const Sample& sample);
  // Adds to the calls of the event; in order of events.
  void mark(std::uint32_t event, std::uint64_t calls);

  [[nodiscard]] std::vector<Sample> take_samples();
  [[nodiscard]] std::vector<CallMark> take_marks() { return std::move(marks_); }

 private:
  // Of the events that share one step of the picture, what a drawn line must pass through.
  struct Bucket {
    std::uint64_t index = 0;
    Sample first, least_live, most_live, most_reserved, last;
  };
  void flush();

  std::uint64_t width_;  // events in a bucket
  std::optional<Bucket> bucket_;
  std::vector<Sample> samples_;
  std::vector<CallMark> marks_;
};

}  // namespace ferry::replay
