// SPDX-License-Identifier: Apache-2.0
#include "memory/segment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"

namespace ferry {

Segment::Segment(std::uint64_t size, std::uint64_t page) : size_(size), page_(page) {
  bins_.fill(kNoBlock);
  first_ = new_block(0, size, BlockState::empty);
}

BlockId Segment::block_at(std::uint64_t offset) const {
  BlockId id = first_;
  while (id != kNoBlock && blocks_[id].end() <= offset) id = blocks_[id].next;
  return id;
}

BlockId Segment::find_idle(std::uint64_t size, std::uint64_t newest) const {
  // Only the request's own bin can hold blocks that are too small; the first bin with a block that
  // fits holds the smallest such block.
  for (std::size_t bin = occupied_bins_.next(bin_of(size)); bin < kBinCount;
       bin = occupied_bins_.next(bin + 1)) {
    BlockId best = kNoBlock;
    for (BlockId id = bins_[bin]; id != kNoBlock; id = blocks_[id].bin_next) {
      const Block& block = blocks_[id];
      if (block.size < size || block.stamp > newest) continue;
      if (block.size == size) return id;
      if (best == kNoBlock || block.size < blocks_[best].size) best = id;
    }
    if (best != kNoBlock) return best;
  }
  return kNoBlock;
}

namespace {

// Bytes of whole pages that [from, to) of an empty block touches.
std::uint64_t pages_touched(std::uint64_t from, std::uint64_t to, std::uint64_t page) {
  return from >= to ? 0 : align_up(to, page) - align_down(from, page);
}

bool better(const Window& a, const Window& b) {
  if (a.missing != b.missing) return a.missing < b.missing;
  if (a.gaps != b.gaps) return a.gaps < b.gaps;
  return a.offset < b.offset;
}

}  // namespace

std::optional<Window> Segment::find_window(std::uint64_t size) const {
  std::optional<Window> best;
  const auto consider = [&](BlockId from, std::uint64_t offset) {
    Window window{offset, 0, 0};
    for (BlockId id = from; id != kNoBlock && blocks_[id].offset < offset + size;
         id = blocks_[id].next) {
      if (blocks_[id].state != BlockState::empty) continue;
      window.missing += pages_touched(std::max(offset, blocks_[id].offset),
                                      std::min(offset + size, blocks_[id].end()), page_);
      ++window.gaps;
    }
    if (!best || better(window, *best)) best = window;
  };
  BlockId stretch = first_;
  while (stretch != kNoBlock) {
    // A stretch: neighbouring blocks that are idle or empty.
    BlockId last = kNoBlock;
    std::uint64_t stretch_end = blocks_[stretch].offset;
    for (BlockId id = stretch; id != kNoBlock && blocks_[id].state <= BlockState::idle;
         id = blocks_[id].next) {
      last = id;
      stretch_end = blocks_[id].end();
    }
    if (last == kNoBlock) {
      stretch = blocks_[stretch].next;
      continue;
    }
    const std::uint64_t stretch_begin = blocks_[stretch].offset;
    if (stretch_end - stretch_begin >= size) {
      // An optimal window starts where a block starts or ends where one ends.
      for (BlockId id = stretch, back = stretch;; id = blocks_[id].next) {
        if (blocks_[id].offset + size <= stretch_end) consider(id, blocks_[id].offset);
        if (blocks_[id].end() >= stretch_begin + size) {
          const std::uint64_t offset = blocks_[id].end() - size;
          while (blocks_[back].end() <= offset) back = blocks_[back].next;
          if (blocks_[id].state == BlockState::idle || blocks_[id].end() == stretch_end)
            consider(back, offset);
        }
        if (id == last) break;
      }
    }
    stretch = blocks_[last].next;
  }
  return best;
}

BlockId Segment::take(BlockId idle, std::uint64_t offset, std::uint64_t size) {
  bin_remove(idle);
  const BlockId id = isolate(idle, offset, size);
  blocks_[id].state = BlockState::live;
  return id;
}

BlockId Segment::put_back(BlockId id, std::uint64_t stamp) {
  blocks_[id].requested = 0;
  return set_state_and_join(id, BlockState::idle, stamp);
}

void Segment::fence(BlockId id) {
  blocks_[id].state = BlockState::fenced;
}

void Segment::commit(std::uint64_t offset, std::uint64_t size) {
  set_state_and_join(isolate(block_at(offset), offset, size), BlockState::idle, 0);
}

void Segment::decommit(std::uint64_t offset, std::uint64_t size) {
  const BlockId idle = block_at(offset);
  bin_remove(idle);
  set_state_and_join(isolate(idle, offset, size), BlockState::empty, 0);
}

// Cuts [offset, offset + size) out of a block that is in no bin. The pieces left and right of it
// keep the block's state and stamp, and go into a bin when they are idle.
BlockId Segment::isolate(BlockId id, std::uint64_t offset, std::uint64_t size) {
  const bool idle = blocks_[id].state == BlockState::idle;
  if (blocks_[id].end() > offset + size) {
    const BlockId rest = split_off(id, offset + size);
    if (idle) bin_insert(rest);
  }
  if (blocks_[id].offset == offset) return id;
  const BlockId middle = split_off(id, offset);
  if (idle) bin_insert(id);
  return middle;
}

BlockId Segment::set_state_and_join(BlockId id, BlockState state, std::uint64_t stamp) {
  blocks_[id].state = state;
  blocks_[id].stamp = stamp;
  if (const BlockId next = blocks_[id].next; next != kNoBlock && blocks_[next].state == state) {
    if (state == BlockState::idle) bin_remove(next);
    absorb_next(id);
  }
  if (const BlockId prev = blocks_[id].prev; prev != kNoBlock && blocks_[prev].state == state) {
    if (state == BlockState::idle) bin_remove(prev);
    absorb_next(prev);
    id = prev;
  }
  if (state == BlockState::idle) bin_insert(id);
  return id;
}

// Joins the next block into `id`; neither is in a bin. The result carries the later stamp.
void Segment::absorb_next(BlockId id) {
  const BlockId gone = blocks_[id].next;
  blocks_[id].size += blocks_[gone].size;
  blocks_[id].stamp = std::max(blocks_[id].stamp, blocks_[gone].stamp);
  blocks_[id].next = blocks_[gone].next;
  if (blocks_[gone].next != kNoBlock) blocks_[blocks_[gone].next].prev = id;
  blocks_[gone] = Block{};
  free_ids_.push_back(gone);
}

BlockId Segment::new_block(std::uint64_t offset, std::uint64_t size, BlockState state) {
  BlockId id;
  if (free_ids_.empty()) {
    id = static_cast<BlockId>(blocks_.size());
    blocks_.emplace_back();
  } else {
    id = free_ids_.back();
    free_ids_.pop_back();
  }
  blocks_[id].offset = offset;
  blocks_[id].size = size;
  blocks_[id].state = state;
  return id;
}

BlockId Segment::split_off(BlockId id, std::uint64_t offset) {
  const BlockId tail = new_block(offset, blocks_[id].end() - offset, blocks_[id].state);
  Block& head = blocks_[id];
  head.size = offset - head.offset;
  blocks_[tail].stamp = head.stamp;
  blocks_[tail].prev = id;
  blocks_[tail].next = head.next;
  if (head.next != kNoBlock) blocks_[head.next].prev = tail;
  head.next = tail;
  return tail;
}

void Segment::bin_insert(BlockId id) {
  const std::size_t bin = bin_of(blocks_[id].size);
  blocks_[id].bin_prev = kNoBlock;
  blocks_[id].bin_next = bins_[bin];
  if (bins_[bin] != kNoBlock) blocks_[bins_[bin]].bin_prev = id;
  bins_[bin] = id;
  occupied_bins_.insert(bin);
}

void Segment::bin_remove(BlockId id) {
  Block& block = blocks_[id];
  const std::size_t bin = bin_of(block.size);
  if (block.bin_prev != kNoBlock) {
    blocks_[block.bin_prev].bin_next = block.bin_next;
  } else {
    bins_[bin] = block.bin_next;
    if (block.bin_next == kNoBlock) occupied_bins_.erase(bin);
  }
  if (block.bin_next != kNoBlock) blocks_[block.bin_next].bin_prev = block.bin_prev;
  block.bin_prev = block.bin_next = kNoBlock;
}

std::string Segment::audit() const {
  std::uint64_t expected = 0;
  std::size_t seen = 0;
  std::size_t idle_blocks = 0;
  BlockId prev = kNoBlock;
  for (BlockId id = first_; id != kNoBlock; prev = id, id = blocks_[id].next, ++seen) {
    const Block& block = blocks_[id];
    if (block.offset != expected)
      return fmt::format("block at {:#x} does not start where its neighbour ends ({:#x})",
                         block.offset, expected);
    if (block.prev != prev)
      return fmt::format("block at {:#x} has a wrong left neighbour", block.offset);
    if (block.size == 0) return fmt::format("block at {:#x} is zero bytes long", block.offset);
    if (prev != kNoBlock && blocks_[prev].state == block.state && block.state <= BlockState::idle) {
      return fmt::format("free blocks at {:#x} and {:#x} are not joined", blocks_[prev].offset,
                         block.offset);
    }
    if (block.state == BlockState::empty &&
        (block.offset % page_ != 0 || block.size % page_ != 0)) {
      return fmt::format("empty block at {:#x} is not made of whole pages", block.offset);
    }
    idle_blocks += block.state == BlockState::idle;
    expected = block.end();
  }
  if (expected != size_)
    return fmt::format("blocks end at {:#x}, the segment at {:#x}", expected, size_);
  if (seen != block_count())
    return fmt::format("{} blocks in the chain, {} in the table", seen, block_count());
  std::size_t binned = 0;
  for (std::size_t bin = 0; bin < kBinCount; ++bin) {
    if (occupied_bins_.contains(bin) != (bins_[bin] != kNoBlock))
      return fmt::format("bin {} is marked wrongly", bin);
    for (BlockId id = bins_[bin]; id != kNoBlock; id = blocks_[id].bin_next, ++binned) {
      if (blocks_[id].state != BlockState::idle || bin_of(blocks_[id].size) != bin) {
        return fmt::format("block at {:#x} is in the wrong bin", blocks_[id].offset);
      }
      if (binned > idle_blocks) return "a bin's list has a circle";
    }
  }
  if (binned != idle_blocks) return fmt::format("{} idle blocks, {} in bins", idle_blocks, binned);
  return {};
}

}  // namespace ferry
