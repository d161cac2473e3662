// SPDX-License-Identifier: Apache-2.0
// Hands out ranges of numbers (addresses, offsets) from one big range. The search goes on from
// where the last one ended, so a range that was given back is handed out again as late as possible:
// a stale address then shows as an error instead of silently hitting its successor. On request it
// is the other way round, against programs that keep stale addresses. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ferry::sim {

class RangeAllocator {
 public:
  RangeAllocator(std::uint64_t start, std::uint64_t size);

  // Nothing when no free range is large enough. Requires: size > 0, alignment a power of two.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t alignment);
  // Exactly [start, +size): false when any of it is taken or outside.
  [[nodiscard]] bool take_at(std::uint64_t start, std::uint64_t size);
  // Requires: the range was taken.
  void give(std::uint64_t start, std::uint64_t size);

  // A range that is given back from now on serves the next request that it can serve.
  void set_reuse_at_once(bool at_once) { reuse_at_once_ = at_once; }

  [[nodiscard]] bool all_free() const { return free_bytes_ == size_; }

 private:
  using FreeRanges = std::map<std::uint64_t, std::uint64_t>;  // start to end

  [[nodiscard]] std::optional<std::uint64_t> take_latest(std::uint64_t size,
                                                         std::uint64_t alignment);
  void carve(FreeRanges::iterator range, std::uint64_t start, std::uint64_t end);

  FreeRanges free_;
  std::uint64_t size_;
  std::uint64_t free_bytes_;
  std::uint64_t cursor_;
  bool reuse_at_once_ = false;
  std::vector<std::uint64_t> given_;  // where ranges that were given back begin, the latest last
};

}  // namespace ferry::sim
