// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/range_allocator.hpp"

#include <algorithm>

#include "base/bytes.hpp"

namespace ferry::sim {

RangeAllocator::RangeAllocator(std::uint64_t start, std::uint64_t size)
    : free_{{start, start + size}}, size_(size), free_bytes_(size), cursor_(start) {}

std::optional<std::uint64_t> RangeAllocator::take(std::uint64_t size, std::uint64_t alignment) {
  if (size > free_bytes_) return std::nullopt;
  if (reuse_at_once_) {
    if (const auto again = take_latest(size, alignment)) return again;
  }
  // Twice round: first from the cursor to the end, then the whole range again, because the range in
  // which the cursor stands is only tried from the cursor on.
  auto range = free_.upper_bound(cursor_);
  if (range != free_.begin()) --range;
  for (std::uint64_t from : {cursor_, std::uint64_t{0}}) {
    for (; range != free_.end(); ++range) {
      const std::uint64_t start = align_up(std::max(range->first, from), alignment);
      if (start >= range->second || range->second - start < size) continue;
      carve(range, start, start + size);
      cursor_ = start + size;
      return start;
    }
    range = free_.begin();
  }
  return std::nullopt;
}

std::optional<std::uint64_t> RangeAllocator::take_latest(std::uint64_t size,
                                                         std::uint64_t alignment) {
  for (auto given = given_.rbegin(); given != given_.rend(); ++given) {
    const std::uint64_t start = *given;
    if (start % alignment != 0 || !take_at(start, size)) continue;
    given_.erase(std::next(given).base());
    return start;
  }
  return std::nullopt;
}

bool RangeAllocator::take_at(std::uint64_t start, std::uint64_t size) {
  auto range = free_.upper_bound(start);
  if (range == free_.begin()) return false;
  --range;
  if (start >= range->second || range->second - start < size) return false;
  carve(range, start, start + size);
  return true;
}

void RangeAllocator::give(std::uint64_t start, std::uint64_t size) {
  constexpr std::size_t kRemembered = 64;
  if (reuse_at_once_) {
    if (given_.size() == kRemembered) given_.erase(given_.begin());
    given_.push_back(start);
  }
  free_bytes_ += size;
  std::uint64_t end = start + size;
  auto next = free_.lower_bound(start);
  if (next != free_.end() && next->first == end) {
    end = next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->second == start) {
      previous->second = end;
      return;
    }
  }
  free_.emplace_hint(next, start, end);
}

void RangeAllocator::carve(FreeRanges::iterator range, std::uint64_t start, std::uint64_t end) {
  const auto [range_start, range_end] = *range;
  free_bytes_ -= end - start;
  if (end < range_end) free_.emplace_hint(std::next(range), end, range_end);
  if (range_start < start) {
    range->second = start;
  } else {
    free_.erase(range);
  }
}

}  // namespace ferry::sim
