// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/host_views.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "base/bytes.hpp"

namespace ferry::sim {

HostViews::~HostViews() {
  if (mirror_ != nullptr) munmap(mirror_, addresses_.size());
}

bool HostViews::open_mirror() {
  if (mirror_ != nullptr) return true;
  void* const mapped = mmap(nullptr, addresses_.size(), PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return false;
  madvise(mapped, addresses_.size(), MADV_DONTDUMP);
  mirror_ = static_cast<std::byte*>(mapped);
  return true;
}

std::byte* HostViews::view(std::uint64_t address, std::uint64_t bytes) {
  if (!physical_.with_data() || !addresses_.contains(address) || !open_mirror()) return nullptr;
  const std::uint64_t end = address + bytes;
  for (std::uint64_t at = address; at < end;) {
    const Mapping* const mapping = pages_.find_living(at);
    if (mapping == nullptr || mapping->block->shared() != nullptr) return nullptr;
    const std::uint64_t step = std::min(end, mapping->end()) - at;
    if (!show(*mapping, at, step)) return nullptr;
    at += step;
  }
  return in_mirror(address);
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
      if (!physical_.map_in_frame(*mapping.block, start, piece.bytes, in_mirror(start + distance)))
        return false;
      shown = piece;
    }
    at = end;
  }
  return true;
}

}  // namespace ferry::sim
