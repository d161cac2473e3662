// SPDX-License-Identifier: Apache-2.0
// The last accesses to every byte, by position in one space in which each physical byte has one
// place. Remembers only what a later access can still collide with. Owned by the hazard checker.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "sim/hazards/touch.hpp"

namespace ferry::sim {

struct Collision {
  Toucher earlier;
  std::uint64_t start = 0;  // the common range, by position
  std::uint64_t end = 0;
};

class AccessMap {
 public:
  using Report = std::function<void(const Collision&)>;

  // Remembers an access to [start, end) by an operation that begins after everything in `before`,
  // and reports what it collides with: at most one collision for each access remembered there.
  void note(std::uint64_t start, std::uint64_t end, const Toucher& toucher, const Clock& before,
            const Report& report);

  // Reports every access to the range that is not in `before`, without remembering anything.
  void check_ended(std::uint64_t start, std::uint64_t end, const Clock& before,
                   const Report& report) const;

  // The memory is gone.
  void forget(std::uint64_t start, std::uint64_t end);

  // True when an operation outside `before` writes into the range.
  [[nodiscard]] bool is_written(std::uint64_t start, std::uint64_t end, const Clock& before) const;

  // Drops what no later access can collide with, because everything in `seen` is before it.
  void prune(const Clock& seen);

  [[nodiscard]] std::size_t size() const { return cells_.size(); }

 private:
  struct Cell {
    std::uint64_t end = 0;
    std::optional<Toucher> writer;
    std::vector<Toucher> readers;  // since the last write
  };
  using Cells = std::map<std::uint64_t, Cell>;  // by start, disjoint

  Cells::iterator split(std::uint64_t position);
  [[nodiscard]] Cells::const_iterator first_overlapping(std::uint64_t start) const;
  void note_read(std::uint64_t start, std::uint64_t end, const Toucher& toucher,
                 const Clock& before);

  Cells cells_;
};

}  // namespace ferry::sim
