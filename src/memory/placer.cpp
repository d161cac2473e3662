// SPDX-License-Identifier: Apache-2.0
#include "memory/placer.hpp"

#include <algorithm>

namespace ferry {

namespace {

// Smaller requests never take memory of another stream: they would splinter what that stream needs
// again.
constexpr std::uint64_t kSmallestBorrowed = std::uint64_t{1} << 20;

// Addresses are cheap: room for twice the device, so that fragments of it never matter. A heap that
// outgrows its space gets another one. But they are not endless: in a crowd of streams, each next
// few get half as much.
constexpr std::uint64_t kLargestReservation = std::uint64_t{128} << 30;
constexpr std::uint64_t kSlabReservation = std::uint64_t{4} << 30;
constexpr std::size_t kHeapsOfOneSize = 8;
constexpr std::size_t kMostHalvings = 7;

}  // namespace

Result<LiveBlock> Placer::find(std::uint32_t user, std::uint64_t bytes) {
  if (Bytes{bytes} > kLargestRequest) return Status(Code::out_of_memory, "device pool");
  if (bytes <= kLargestSlabBlock) return allocate_in_slab(user, bytes);
  return place(user, SpaceKind::blocks, align_up(bytes, kBlockAlignment));
}

Result<LiveBlock> Placer::allocate_in_slab(std::uint32_t user, std::uint64_t bytes) {
  Heap& heap = *state_.heaps[user];
  const std::size_t size_class = class_of(bytes);
  std::optional<SlabSlot> slot = heap.slabs.take(size_class);
  if (!slot && !state_.pending.empty()) {
    const ApartFromCaptures apart(state_);
    reclaimer_.poll_fences();
    slot = heap.slabs.take(size_class);
  }
  if (!slot) {
    const Result<LiveBlock> home = place(user, SpaceKind::slabs, slab_bytes(size_class));
    if (!home) return home.error();
    const DeviceAddress base = heap.address_of(Placement{home->space, home->id});
    heap.slabs.add(size_class, SlabHome{home->space, home->id, base});
    slot = heap.slabs.take(size_class);
  }
  return LiveBlock{.heap = user,
                   .user = user,
                   .id = slot->slab,
                   .slot = slot->index,
                   .size = kClassSizes[size_class]};
}

// The order in which memory is found: what the stream has idle, what freed blocks and other streams
// have to spare, new memory, and at last, after waiting for the device, whatever is free anywhere.
Result<LiveBlock> Placer::place(std::uint32_t user, SpaceKind kind, std::uint64_t size) {
  constexpr std::uint64_t kAnyTime = ~std::uint64_t{0};
  if (const auto block = take_idle(user, user, kind, size, kAnyTime)) return *block;
  // What cannot fit beside the live blocks is refused before anything is taken or waited for.
  const std::uint64_t live = state_.stats.allocated_bytes.count;
  if (size > state_.budget() || live > state_.budget() - size)
    return Status(Code::out_of_memory, "device pool");
  const ApartFromCaptures apart(state_);
  bool waited = false;
  for (;;) {
    reclaimer_.poll_fences();
    if (const auto block = take_idle(user, user, kind, size, kAnyTime)) return *block;
    if (const auto block = borrow(user, kind, size)) return *block;
    Result<LiveBlock> grown = grow(user, kind, size);
    if (grown || grown.error().code() != Code::out_of_memory) return grown;
    if (waited || a_capture_is_on(user)) return grow_anywhere(user, kind, size);
    ++state_.stats.num_alloc_retries;
    FERRY_TRY(reclaimer_.synchronize());
    waited = true;
  }
}

std::optional<LiveBlock> Placer::take_idle(std::uint32_t heap_index, std::uint32_t user,
                                           SpaceKind kind, std::uint64_t size,
                                           std::uint64_t newest) {
  const std::optional<Placement> found = state_.heaps[heap_index]->take_idle(kind, size, newest);
  if (!found) return std::nullopt;
  return LiveBlock{
      .heap = heap_index, .user = user, .space = found->space, .id = found->block, .size = size};
}

std::optional<LiveBlock> Placer::borrow(std::uint32_t user, SpaceKind kind, std::uint64_t size) {
  if (kind != SpaceKind::blocks || size < kSmallestBorrowed) return std::nullopt;
  if (state_.heaps[user]->is_private()) return std::nullopt;
  std::optional<bool> may_mark;
  for (std::uint32_t index = 0; index < state_.heaps.size(); ++index) {
    if (index == user || state_.heaps[index]->is_private()) continue;
    FenceClock& clock = state_.heaps[index]->clock;
    if (!clock.marked() && !may_mark) may_mark = !a_capture_is_on(user);
    if (!clock.marked() && *may_mark) {
      // Frees without a mark: the stream may be gone, so an event of the whole context stands for
      // it. Drivers without such events leave the memory where it is until the device is waited
      // for.
      static_cast<void>(clock.mark_context(state_.events));
      clock.poll(state_.events);
    }
    if (!clock.passed(0)) continue;
    if (const auto block = take_idle(index, user, kind, size, clock.passed_stamp())) return block;
  }
  return std::nullopt;
}

bool Placer::a_capture_is_on(std::uint32_t user) const {
  return state_.captures(state_.heaps[user]->stream) || state_.captures_anything();
}

Result<LiveBlock> Placer::grow(std::uint32_t user, SpaceKind kind, std::uint64_t size) {
  Heap& heap = *state_.heaps[user];
  auto found = heap.find_window(kind, size);
  if (!found) {
    FERRY_TRY(add_space(heap, kind, size));
    found = heap.find_window(kind, size);
  }
  return fill(Opening{user, found->first, found->second}, user, size);
}

// The last resort, when every fence has passed: the opening that needs the least new memory,
// wherever it is. Slabs stay in their own heap, which knows them by its own spaces, and private
// pools in theirs.
Result<LiveBlock> Placer::grow_anywhere(std::uint32_t user, SpaceKind kind, std::uint64_t size) {
  std::optional<Opening> best;
  for (std::uint32_t index = 0; index < state_.heaps.size(); ++index) {
    const bool closed = kind == SpaceKind::slabs || state_.heaps[index]->is_private() ||
                        state_.heaps[user]->is_private();
    if (closed && index != user) continue;
    for (const SpaceKind any : {SpaceKind::blocks, SpaceKind::slabs}) {
      const auto found = state_.heaps[index]->find_window(any, size);
      if (!found || (best && best->window.missing <= found->second.missing)) continue;
      best = Opening{index, found->first, found->second};
    }
  }
  if (!best) return Status(Code::out_of_memory, "device pool");
  return fill(*best, user, size);
}

Result<LiveBlock> Placer::fill(const Opening& opening, std::uint32_t user, std::uint64_t size) {
  Heap& heap = *state_.heaps[opening.heap];
  FERRY_TRY(reclaimer_.commit(heap, opening.space, opening.window.offset, size));
  Segment& segment = heap.space(opening.space).segment();
  const std::uint64_t offset = opening.window.offset;
  const BlockId block = segment.take(segment.block_at(offset), offset, size);
  return LiveBlock{
      .heap = opening.heap, .user = user, .space = opening.space, .id = block, .size = size};
}

Status Placer::add_space(Heap& heap, SpaceKind kind, std::uint64_t size) {
  const std::uint64_t page = state_.device.granularity().count;
  const std::uint64_t smallest = align_up(size, page);
  const std::uint64_t generous = kind == SpaceKind::slabs
                                     ? kSlabReservation
                                     : std::min(state_.total_memory.count * 2, kLargestReservation);
  const std::uint64_t wished =
      generous >> std::min(state_.heaps.size() / kHeapsOfOneSize, kMostHalvings);
  Result<std::unique_ptr<Space>> space =
      Space::reserve(state_.device, std::max(smallest, align_up(wished, page)), smallest);
  if (!space) return space.error();
  FERRY_TRY((*space)->open_to(state_.peers));
  heap.spaces.push_back(HeapSpace{kind, std::move(space).value()});
  return {};
}

}  // namespace ferry
