// SPDX-License-Identifier: Apache-2.0
// How the physical memory of one pool is divided: blocks, each tiled by pieces that are live, freed
// or were never used. `Release` says what a freed piece waits for; only the user of this class can
// judge it. What was imported from another pool is only counted. Knows no addresses, streams or
// devices. Owned by a memory pool; requires the library's lock. Release: a value that can be
// copied.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "sim/memory/physical_memory.hpp"

namespace ferry::sim {

// An amount, and the highest it has been since the last reset.
struct WatermarkedBytes {
  std::uint64_t current = 0;
  std::uint64_t high = 0;

  void add(std::uint64_t bytes) {
    current += bytes;
    high = std::max(high, current);
  }
  void reset() { high = current; }
};

struct PoolPlace {
  std::shared_ptr<PhysicalBlock> block;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

template <typename Release>
class PoolSpace {
 public:
  static constexpr std::uint64_t kAlignment = 512;

  struct Taken {
    PoolPlace place;
    std::vector<Release> replaced;  // of the freed pieces that it covers, in whole or in part
  };

  void add(std::shared_ptr<PhysicalBlock> block) {
    const std::uint64_t id = block->id;
    reserved_.add(block->size);
    Chunk& chunk = chunks_[id];
    chunk.free = block->size;
    chunk.pieces.emplace(0, Piece{block->size, false, std::nullopt});
    chunk.block = std::move(block);
  }

  // The smallest stretch of free pieces that is large enough, made only of what was never used and
  // of what `may_use(release)` allows. Requires: bytes > 0.
  template <typename MayUse>
  [[nodiscard]] std::optional<Taken> take(std::uint64_t bytes, MayUse&& may_use) {
    const std::uint64_t size = align_up(bytes, kAlignment);
    std::optional<Stretch> best;
    for (auto& [id, chunk] : chunks_) {
      if (chunk.free < size) continue;
      Stretch stretch{&chunk, 0, 0};
      const auto close = [&] {
        if (stretch.size >= size && (!best || stretch.size < best->size)) best = stretch;
        stretch.size = 0;
      };
      for (const auto& [offset, piece] : chunk.pieces) {
        if (piece.live || (piece.release && !may_use(*piece.release))) {
          close();
          continue;
        }
        if (stretch.size == 0) stretch.offset = offset;
        stretch.size += piece.size;
      }
      close();
    }
    if (!best) return std::nullopt;
    return carve(*best, size);
  }

  // Requires: `place` was taken and not given since.
  void give(const PoolPlace& place, Release release) {
    Chunk& chunk = chunks_.at(place.block->id);
    Piece& piece = chunk.pieces.at(place.offset);
    chunk.free += piece.size;
    piece.live = false;
    piece.release = std::move(release);
    used_.current -= piece.size;
  }

  // Lets go of blocks of which nothing is live and whose frees all have `ended(release)`, as long
  // as `keep` bytes or more remain. The releases of what went.
  template <typename Ended>
  std::vector<Release> shrink(std::uint64_t keep, Ended&& ended) {
    std::vector<Release> gone;
    for (auto chunk = chunks_.begin(); chunk != chunks_.end();) {
      const std::uint64_t size = chunk->second.block->size;
      if (reserved_.current - size < keep || !is_idle(chunk->second, ended)) {
        ++chunk;
        continue;
      }
      for (auto& [offset, piece] : chunk->second.pieces) {
        if (piece.release) gone.push_back(std::move(*piece.release));
      }
      reserved_.current -= size;
      chunk = chunks_.erase(chunk);
    }
    return gone;
  }

  // Memory of another pool that this one has too.
  void count_import(std::uint64_t bytes) {
    reserved_.add(bytes);
    used_.add(bytes);
  }
  // Requires: it was counted.
  void uncount_import(std::uint64_t bytes) {
    reserved_.current -= bytes;
    used_.current -= bytes;
  }

  template <typename Visit>
  void for_each_block(Visit&& visit) const {
    for (const auto& [id, chunk] : chunks_) visit(chunk.block);
  }

  [[nodiscard]] const WatermarkedBytes& reserved() const { return reserved_; }
  [[nodiscard]] const WatermarkedBytes& used() const { return used_; }
  void reset_reserved_high() { reserved_.reset(); }
  void reset_used_high() { used_.reset(); }

 private:
  struct Piece {
    std::uint64_t size = 0;
    bool live = false;
    std::optional<Release> release;  // none while live, and where nothing was freed yet
  };
  struct Chunk {
    std::shared_ptr<PhysicalBlock> block;
    std::map<std::uint64_t, Piece> pieces;  // by offset; they tile the block
    std::uint64_t free = 0;                 // bytes of pieces that are not live
  };
  struct Stretch {
    Chunk* chunk = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };

  Taken carve(const Stretch& stretch, std::uint64_t size) {
    auto& pieces = stretch.chunk->pieces;
    Taken taken{{stretch.chunk->block, stretch.offset, size}, {}};
    const std::uint64_t end = stretch.offset + size;
    for (auto piece = pieces.find(stretch.offset); piece != pieces.end() && piece->first < end;) {
      const std::uint64_t piece_end = piece->first + piece->second.size;
      if (piece->second.release) taken.replaced.push_back(*piece->second.release);
      if (piece_end > end) {
        pieces.emplace(end, Piece{piece_end - end, false, std::move(piece->second.release)});
      }
      piece = pieces.erase(piece);
    }
    pieces.emplace(stretch.offset, Piece{size, true, std::nullopt});
    stretch.chunk->free -= size;
    used_.add(size);
    return taken;
  }

  template <typename Ended>
  [[nodiscard]] static bool is_idle(const Chunk& chunk, Ended&& ended) {
    return std::all_of(chunk.pieces.begin(), chunk.pieces.end(), [&](const auto& entry) {
      return !entry.second.live && (!entry.second.release || ended(*entry.second.release));
    });
  }

  std::map<std::uint64_t, Chunk> chunks_;  // by the block's id
  WatermarkedBytes reserved_;
  WatermarkedBytes used_;
};

}  // namespace ferry::sim
