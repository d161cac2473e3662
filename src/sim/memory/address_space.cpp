// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/address_space.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "sim/memory/frame_window.hpp"

namespace ferry::sim {

namespace {

constexpr std::uint64_t kLargestSpace = std::uint64_t{32} << 40;
constexpr std::uint64_t kSmallestSpace = std::uint64_t{8} << 30;

}  // namespace

AddressSpace::AddressSpace() {
  for (std::uint64_t size = kLargestSpace; size >= kSmallestSpace; size /= 2) {
    void* const mapped =
        mmap(nullptr, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) continue;
    madvise(mapped, 2 * size, MADV_DONTDUMP);
    start_ = reinterpret_cast<std::uintptr_t>(mapped);
    size_ = size;
    free_.emplace(start_, size_);
    return;
  }
}

AddressSpace::~AddressSpace() {
  if (size_ > 0) munmap(reinterpret_cast<void*>(start_), 2 * size_);
}

std::optional<std::uint64_t> AddressSpace::take(std::uint64_t size, std::uint64_t alignment,
                                                std::uint64_t hint) {
  if (size > size_) return std::nullopt;
  size = align_up(size, kFrameBytes);
  alignment = std::max(alignment, kFrameBytes);
  if (hint != 0 && hint % alignment == 0 && free_->take_at(hint, size)) return hint;
  return free_->take(size, alignment);
}

void AddressSpace::give(std::uint64_t start, std::uint64_t size) {
  free_->give(start, align_up(size, kFrameBytes));
}

}  // namespace ferry::sim
