// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/host_views.hpp"

#include <algorithm>

#include "base/bytes.hpp"

namespace ferry::sim {

std::byte* HostViews::view(std::uint64_t address, std::uint64_t bytes) {
  if (!physical_.with_data() || !addresses_.contains(address)) return nullptr;
  const std::uint64_t end = address + bytes;
  for (std::uint64_t at = address; at < end;) {
    const Mapping* const mapping = pages_.find_living(at);
    if (mapping == nullptr || mapping->block->shared() != nullptr) return nullptr;
    const std::uint64_t step = std::min(end, mapping->end()) - at;
    if (!show(*mapping, at, step)) return nullptr;
    at += step;
  }
  return addresses_.mirror_of(address);
}

// Shows the pages of the range frame by frame, whole frames where the mapping has them: the next
// view likely asks for their other bytes.
bool HostViews::show(const Mapping& mapping, std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t distance = mapping.start - mapping.offset;  // may wrap
  if (distance % kPageBytes != 0) return false;
  const std::uint64_t first = mapping.offset / kPageBytes * kPageBytes;
  const std::uint64_t last = align_up(mapping.offset + mapping.size, kPageBytes);
  for (std::uint64_t at = address - distance; at < address - distance + bytes;) {
    const std::uint64_t frame = at / kFrameBytes * kFrameBytes;
    const std::uint64_t start = std::max(first, frame);
    const std::uint64_t end = std::min(last, frame + kFrameBytes);
    const Piece piece{mapping.block->id, start, end - start};
    Piece& shown = shown_[start + distance];
    if (shown != piece) {
      if (!physical_.map_in_frame(*mapping.block, start, piece.bytes,
                                  addresses_.mirror_of(start + distance)))
        return false;
      shown = piece;
    }
    at = end;
  }
  return true;
}

}  // namespace ferry::sim
