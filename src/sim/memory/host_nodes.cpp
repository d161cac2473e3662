// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/host_nodes.hpp"

#include <algorithm>
#include <vector>

namespace ferry::sim {

HostNodes::Pieces::const_iterator HostNodes::first_after(std::uint64_t address) const {
  const auto next = pieces_.upper_bound(address);
  if (next == pieces_.begin()) return next;
  const auto before = std::prev(next);
  return before->second.end > address ? before : next;
}

void HostNodes::forget(std::uint64_t start, std::uint64_t bytes) {
  const std::uint64_t end = start + bytes;
  auto at = first_after(start);
  while (at != pieces_.end() && at->first < end) {
    const std::uint64_t piece_start = at->first;
    const Piece piece = at->second;
    at = pieces_.erase(at);
    if (piece_start < start) pieces_[piece_start] = {start, piece.node};
    if (piece.end > end) pieces_[end] = piece;
  }
}

void HostNodes::place(std::uint64_t start, std::uint64_t bytes, int node) {
  if (bytes == 0) return;
  forget(start, bytes);
  pieces_[start] = {start + bytes, node};
}

void HostNodes::settle(std::uint64_t start, std::uint64_t bytes, int node) {
  const std::uint64_t end = start + bytes;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
  std::uint64_t at = start;
  for (auto piece = first_after(start); at < end; ++piece) {
    const bool is_last = piece == pieces_.end() || piece->first >= end;
    if (is_last || piece->first > at) gaps.emplace_back(at, is_last ? end : piece->first);
    if (is_last) break;
    at = piece->second.end;
  }
  for (const auto& [gap, gap_end] : gaps) pieces_[gap] = {gap_end, node};
}

std::uint64_t HostNodes::bytes_away(int node, std::uint64_t start, std::uint64_t bytes) const {
  const std::uint64_t end = start + bytes;
  std::uint64_t away = 0;
  for (auto piece = first_after(start); piece != pieces_.end() && piece->first < end; ++piece) {
    if (piece->second.node != node)
      away += std::min(end, piece->second.end) - std::max(start, piece->first);
  }
  return away;
}

}  // namespace ferry::sim
