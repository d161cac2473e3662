// SPDX-License-Identifier: Apache-2.0
// Vector clocks: which operations are known to have ended before which others may begin. A lane is
// a stream; its operations are counted from 1. Plain values; requires no lock of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ferry::sim {

using LaneNumber = std::uint32_t;

class Clock {
 public:
  // How many operations of `lane` come before.
  [[nodiscard]] std::uint64_t of(LaneNumber lane) const {
    return lane < counts_.size() ? counts_[lane] : 0;
  }
  // Whether the operation that is the `count`th of its lane comes before.
  [[nodiscard]] bool covers(LaneNumber lane, std::uint64_t count) const {
    return of(lane) >= count;
  }
  void set(LaneNumber lane, std::uint64_t count) {
    if (lane >= counts_.size()) counts_.resize(lane + std::size_t{1});
    counts_[lane] = count;
  }
  // Takes in everything that the other clock knows.
  void join(const Clock& other) {
    if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size());
    for (std::size_t i = 0; i < other.counts_.size(); ++i)
      counts_[i] = std::max(counts_[i], other.counts_[i]);
  }

 private:
  std::vector<std::uint64_t> counts_;  // by lane
};

// Gives lanes to streams. A lane is given again when the program has seen all its operations end,
// so that clocks stay short in programs that make and destroy streams for ever.
class Lanes {
 public:
  [[nodiscard]] LaneNumber open(const Clock& seen) {
    const auto free = std::find_if(closed_.begin(), closed_.end(), [&](LaneNumber lane) {
      return seen.covers(lane, counts_[lane]);
    });
    if (free == closed_.end()) {
      counts_.push_back(0);
      return static_cast<LaneNumber>(counts_.size() - 1);
    }
    const LaneNumber lane = *free;
    closed_.erase(free);
    return lane;
  }
  void close(LaneNumber lane) { closed_.push_back(lane); }

  // The number of the lane's next operation.
  [[nodiscard]] std::uint64_t next(LaneNumber lane) { return ++counts_[lane]; }

 private:
  std::vector<std::uint64_t> counts_;  // operations so far, by lane
  std::vector<LaneNumber> closed_;
};

}  // namespace ferry::sim
