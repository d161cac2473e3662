// SPDX-License-Identifier: Apache-2.0
#include "memory/heap.hpp"

#include <algorithm>

namespace ferry {

std::optional<Placement> Heap::take_idle(SpaceKind kind, std::uint64_t size, std::uint64_t newest) {
  for (std::uint32_t index = 0; index < spaces.size(); ++index) {
    if (spaces[index].kind != kind) continue;
    Segment& segment = space(index).segment();
    const BlockId idle = segment.find_idle(size, newest);
    if (idle != kNoBlock)
      return Placement{index, segment.take(idle, segment.block(idle).offset, size)};
  }
  return std::nullopt;
}

std::optional<std::pair<std::uint32_t, Window>> Heap::find_window(SpaceKind kind,
                                                                  std::uint64_t size) const {
  for (std::uint32_t index = 0; index < spaces.size(); ++index) {
    if (spaces[index].kind != kind) continue;
    if (const std::optional<Window> window = space(index).segment().find_window(size))
      return std::pair{index, *window};
  }
  return std::nullopt;
}

void Heap::return_empty_slabs(std::size_t size_class, bool keep_spares) {
  while (const std::optional<SlabHome> home = slabs.remove_empty(size_class, keep_spares)) {
    put_back(Placement{home->space, home->block}, clock.tick());
  }
}

void Heap::return_all_empty_slabs() {
  for (std::size_t size_class = 0; size_class < kSizeClasses; ++size_class)
    return_empty_slabs(size_class, false);
}

bool Heap::holds_memory() const {
  return std::any_of(spaces.begin(), spaces.end(),
                     [](const HeapSpace& entry) { return entry.space->committed() > 0; });
}

std::uint64_t Heap::idle_bytes() const {
  std::uint64_t bytes = 0;
  for (const HeapSpace& entry : spaces) {
    const Segment& segment = entry.space->segment();
    for (BlockId id = segment.first(); id != kNoBlock; id = segment.block(id).next) {
      if (segment.block(id).state == BlockState::idle) bytes += segment.block(id).size;
    }
  }
  return bytes;
}

}  // namespace ferry
