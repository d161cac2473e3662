// SPDX-License-Identifier: Apache-2.0
// A segment: one address reservation, tiled without gaps by blocks. Pure bookkeeping over offsets;
// it knows neither the driver nor streams, so that every rule of placement can be tested against a
// model.
//
// A block is empty (addresses without memory), idle (memory that may be handed out), fenced (freed,
// but other streams may still use it) or live. Neighbouring idle blocks are always joined, and so
// are empty ones. Each idle block carries a stamp: the time of the latest free in it, on the
// owner's own clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "memory/size_bins.hpp"

namespace ferry {

enum class BlockState : std::uint8_t { empty, idle, fenced, live };

using BlockId = std::uint32_t;  // index of a block in its segment; reused after the block is gone
inline constexpr BlockId kNoBlock = ~BlockId{0};

struct Block {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t stamp = 0;      // idle: time of the latest free
  std::uint64_t requested = 0;  // live and fenced: bytes as asked for
  BlockId prev = kNoBlock;      // neighbours by address
  BlockId next = kNoBlock;
  BlockId bin_prev = kNoBlock;  // neighbours in the bin; idle blocks only
  BlockId bin_next = kNoBlock;
  BlockState state = BlockState::empty;

  [[nodiscard]] std::uint64_t end() const { return offset + size; }
};

// Where a request could go when no idle block is large enough.
struct Window {
  std::uint64_t offset = 0;
  std::uint64_t missing = 0;  // bytes of empty pages that must be committed first
  unsigned gaps = 0;          // in how many pieces
};

class Segment {
 public:
  // `page` is the unit of commitment. Requires: a power of two; `size` a multiple of it.
  Segment(std::uint64_t size, std::uint64_t page);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t page() const { return page_; }
  [[nodiscard]] const Block& block(BlockId id) const { return blocks_[id]; }
  [[nodiscard]] BlockId first() const { return first_; }
  [[nodiscard]] BlockId block_at(std::uint64_t offset) const;  // linear; for tests and reports

  // The smallest idle block of at least `size` bytes whose stamp is not after `newest`; kNoBlock
  // when there is none.
  [[nodiscard]] BlockId find_idle(std::uint64_t size,
                                  std::uint64_t newest = ~std::uint64_t{0}) const;

  // The place of `size` bytes among idle and empty blocks that needs the fewest new bytes, then the
  // fewest pieces, then the lowest address. Nothing when the addresses are used up. Linear in
  // blocks.
  [[nodiscard]] std::optional<Window> find_window(std::uint64_t size) const;

  // Makes [offset, offset + size) of an idle block live; the rest of it stays idle. The live
  // block's id.
  BlockId take(BlockId idle, std::uint64_t offset, std::uint64_t size);

  // Live or fenced -> idle, joined with idle neighbours. The id of the joined block.
  BlockId put_back(BlockId id, std::uint64_t stamp);

  // Live -> fenced.
  void fence(BlockId id);

  // Empty -> idle and back. Requires: page multiples, wholly inside one empty (idle) block.
  void commit(std::uint64_t offset, std::uint64_t size);
  void decommit(std::uint64_t offset, std::uint64_t size);

  void set_requested(BlockId id, std::uint64_t bytes) { blocks_[id].requested = bytes; }
  [[nodiscard]] std::size_t block_count() const { return blocks_.size() - free_ids_.size(); }

  // Recomputes every structural rule; the broken one in words, or empty.
  [[nodiscard]] std::string audit() const;

 private:
  BlockId new_block(std::uint64_t offset, std::uint64_t size, BlockState state);
  BlockId split_off(BlockId id, std::uint64_t offset);  // cuts the tail of a block at `offset`
  BlockId isolate(BlockId id, std::uint64_t offset, std::uint64_t size);
  BlockId set_state_and_join(BlockId id, BlockState state, std::uint64_t stamp);
  void absorb_next(BlockId id);
  void bin_insert(BlockId id);
  void bin_remove(BlockId id);

  std::uint64_t size_;
  std::uint64_t page_;
  BlockId first_ = kNoBlock;
  std::vector<Block> blocks_;
  std::vector<BlockId> free_ids_;
  std::array<BlockId, kBinCount> bins_;
  BinSet occupied_bins_;
};

}  // namespace ferry
