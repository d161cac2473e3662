// SPDX-License-Identifier: Apache-2.0
// How large chunks of physical memory are made. Creating one is expensive per call, so requests get
// chunks as large as themselves and the pool grows in steps; but a chunk that one live block
// touches cannot move, so no chunk is a large part of what the pool may hold. The constants were
// chosen by replaying recorded training runs (see ARCHITECTURE.md, "Chunk sizes").
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bytes.hpp"

namespace ferry {

struct GrowthPolicy {
  std::uint64_t page = 0;    // granularity of physical memory
  std::uint64_t budget = 0;  // most the pool may ever hold: its limit, or the device's memory

  static constexpr std::uint64_t kLargestChunk = std::uint64_t{128} << 20;
  static constexpr std::uint64_t kLargestStep = std::uint64_t{64} << 20;
  static constexpr std::uint64_t kLargeRequest = std::uint64_t{32} << 20;
  static constexpr std::uint64_t kChunksInBudget = 1024;
  static constexpr std::uint64_t kStepDivisor = 64;  // of the memory held so far

  // No chunk is larger than this.
  [[nodiscard]] constexpr std::uint64_t chunk_ceiling() const {
    return std::clamp(align_down(budget / kChunksInBudget, page), page, kLargestChunk);
  }

  // How much to commit at least for a request that misses `missing` bytes, where `committed` are
  // held and the last step was `last`. A run of small requests doubles the step and so costs few
  // calls; a single one wastes nothing, and large requests get what they need.
  [[nodiscard]] constexpr std::uint64_t next_step(std::uint64_t missing, std::uint64_t committed,
                                                  std::uint64_t last) const {
    if (missing >= kLargeRequest) return 0;
    const std::uint64_t most =
        std::min({align_down(committed / kStepDivisor, page), kLargestStep, chunk_ceiling()});
    return std::min(most, std::max(2 * last, missing));
  }

  // The size of the next chunk of a gap, so that its chunks are as few and as equal as the ceiling
  // allows.
  [[nodiscard]] constexpr std::uint64_t chunk_for(std::uint64_t gap) const {
    const std::uint64_t pieces = (gap + chunk_ceiling() - 1) / chunk_ceiling();
    return std::min(gap, align_up((gap + pieces - 1) / pieces, page));
  }
};

}  // namespace ferry
