// SPDX-License-Identifier: Apache-2.0
// Running figures of a device pool, with peaks and totals that can be set back, as those of
// torch.cuda.memory_stats can. Owned by the pool's state and guarded by its mutex.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace ferry {

struct Figure {
  std::uint64_t now = 0;
  std::uint64_t peak = 0;
  std::uint64_t added = 0;
  std::uint64_t removed = 0;

  void add(std::uint64_t amount) {
    now += amount;
    added += amount;
    peak = std::max(peak, now);
  }
  void remove(std::uint64_t amount) {
    now -= amount;
    removed += amount;
  }
  void reset_peak() { peak = now; }
  void reset_totals() { added = removed = 0; }
};

// One figure over all requests, and those of small and large ones.
struct SplitFigure {
  static constexpr std::size_t kAll = 0;
  static constexpr std::size_t kSmall = 1;
  static constexpr std::size_t kLarge = 2;
  // The largest small request, as torch draws the line.
  static constexpr std::uint64_t kLargestSmall = std::uint64_t{1} << 20;

  std::array<Figure, 3> of;

  void add(std::uint64_t requested, std::uint64_t amount) {
    of[kAll].add(amount);
    of[part(requested)].add(amount);
  }
  void remove(std::uint64_t requested, std::uint64_t amount) {
    of[kAll].remove(amount);
    of[part(requested)].remove(amount);
  }
  static constexpr std::size_t part(std::uint64_t requested) {
    return requested <= kLargestSmall ? kSmall : kLarge;
  }
};

struct PoolFigures {
  SplitFigure allocations;  // live blocks
  SplitFigure allocated_bytes;
  SplitFigure requested_bytes;
  SplitFigure active;  // live blocks, and freed ones that queued work may still use
  SplitFigure active_bytes;
  Figure chunks;
  Figure reserved_bytes;

  void allocated(std::uint64_t requested, std::uint64_t size) {
    allocations.add(requested, 1);
    allocated_bytes.add(requested, size);
    requested_bytes.add(requested, requested);
    active.add(requested, 1);
    active_bytes.add(requested, size);
  }
  // The user gave it back; it stays active until deactivated.
  void freed(std::uint64_t requested, std::uint64_t size) {
    allocations.remove(requested, 1);
    allocated_bytes.remove(requested, size);
    requested_bytes.remove(requested, requested);
  }
  void deactivated(std::uint64_t requested, std::uint64_t size) {
    active.remove(requested, 1);
    active_bytes.remove(requested, size);
  }

  template <typename Visitor>
  void for_each(const Visitor& visit) {
    for (SplitFigure* const split :
         {&allocations, &allocated_bytes, &requested_bytes, &active, &active_bytes}) {
      for (Figure& figure : split->of) visit(figure);
    }
    visit(chunks);
    visit(reserved_bytes);
  }
};

}  // namespace ferry
