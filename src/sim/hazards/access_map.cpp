// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/access_map.hpp"

#include <algorithm>

namespace ferry::sim {

namespace {

// May `later`, which begins after everything in `before`, run at the same time as `earlier`?
bool may_overlap(const Toucher& earlier, const Toucher& later, const Clock& before) {
  if (is_same_operation(earlier, later)) return earlier.member != later.member;
  return !is_ordered(earlier, before);
}

}  // namespace

AccessMap::Cells::const_iterator AccessMap::first_overlapping(std::uint64_t start) const {
  auto cell = cells_.upper_bound(start);
  if (cell != cells_.begin() && std::prev(cell)->second.end > start) --cell;
  return cell;
}

// The first cell that starts at or after `position`, once no cell crosses it.
AccessMap::Cells::iterator AccessMap::split(std::uint64_t position) {
  const auto next = cells_.lower_bound(position);
  if (next == cells_.begin()) return next;
  const auto crossing = std::prev(next);
  if (crossing->second.end <= position) return next;
  Cell tail = crossing->second;
  crossing->second.end = position;
  return cells_.emplace_hint(next, position, std::move(tail));
}

void AccessMap::note(std::uint64_t start, std::uint64_t end, const Toucher& toucher,
                     const Clock& before, const Report& report) {
  const auto check = [&](const Toucher& earlier, std::uint64_t cell_start, std::uint64_t cell_end) {
    if (may_overlap(earlier, toucher, before))
      report({earlier, std::max(start, cell_start), std::min(end, cell_end)});
  };
  for (auto at = first_overlapping(start); at != cells_.end() && at->first < end; ++at) {
    const Cell& cell = at->second;
    if (cell.writer) check(*cell.writer, at->first, cell.end);
    if (toucher.kind == AccessKind::read) continue;
    for (const Toucher& reader : cell.readers) check(reader, at->first, cell.end);
  }
  if (toucher.kind == AccessKind::read) {
    note_read(start, end, toucher, before);
    return;
  }
  // A write stands for everything before it: what is ordered after it is ordered after them, too.
  const auto last = split(end);
  cells_.erase(split(start), last);
  cells_.emplace(start, Cell{end, toucher, {}});
}

void AccessMap::note_read(std::uint64_t start, std::uint64_t end, const Toucher& toucher,
                          const Clock& before) {
  split(end);
  std::uint64_t covered = start;
  for (auto at = split(start); covered < end;) {
    const std::uint64_t next = at == cells_.end() ? end : std::min(end, at->first);
    if (covered < next) {
      at = std::next(cells_.emplace_hint(at, covered, Cell{next, std::nullopt, {toucher}}));
      covered = next;
      continue;
    }
    std::vector<Toucher>& readers = at->second.readers;
    std::erase_if(readers,
                  [&](const Toucher& earlier) { return !may_overlap(earlier, toucher, before); });
    readers.push_back(toucher);
    covered = at->second.end;
    ++at;
  }
}

void AccessMap::check_ended(std::uint64_t start, std::uint64_t end, const Clock& before,
                            const Report& report) const {
  for (auto at = first_overlapping(start); at != cells_.end() && at->first < end; ++at) {
    const auto check = [&](const Toucher& earlier) {
      if (!is_ordered(earlier, before))
        report({earlier, std::max(start, at->first), std::min(end, at->second.end)});
    };
    if (at->second.writer) check(*at->second.writer);
    for (const Toucher& reader : at->second.readers) check(reader);
  }
}

void AccessMap::forget(std::uint64_t start, std::uint64_t end) {
  const auto last = split(end);
  cells_.erase(split(start), last);
}

bool AccessMap::is_written(std::uint64_t start, std::uint64_t end, const Clock& before) const {
  for (auto at = first_overlapping(start); at != cells_.end() && at->first < end; ++at) {
    if (at->second.writer && !is_ordered(*at->second.writer, before)) return true;
  }
  return false;
}

void AccessMap::prune(const Clock& seen) {
  for (auto at = cells_.begin(); at != cells_.end();) {
    Cell& cell = at->second;
    if (cell.writer && is_ordered(*cell.writer, seen)) cell.writer.reset();
    std::erase_if(cell.readers, [&](const Toucher& reader) { return is_ordered(reader, seen); });
    at = cell.writer || !cell.readers.empty() ? std::next(at) : cells_.erase(at);
  }
}

}  // namespace ferry::sim
