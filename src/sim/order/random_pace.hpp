// SPDX-License-Identifier: Apache-2.0
// How fast work goes on by itself under the random schedule. Work that always kept up with the
// program would rarely show a missing wait, so stretches in which nothing runs alternate with
// stretches in which it catches up. Owned by the stream engine.
#pragma once

#include <cstdint>
#include <random>

namespace ferry::sim {

class RandomPace {
 public:
  // How many operations may run at this chance.
  [[nodiscard]] std::uint64_t burst(std::mt19937_64& random) {
    if (left_ == 0) {
      left_ = 1 + random() % 16;
      stalled_ = random() % 2 == 0;
    }
    --left_;
    return stalled_ ? 0 : random() % 3;
  }

 private:
  std::uint64_t left_ = 0;  // chances until the pace may change
  bool stalled_ = false;
};

}  // namespace ferry::sim
