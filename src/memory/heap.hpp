// SPDX-License-Identifier: Apache-2.0
// A heap: the memory of one stream. Its spaces hold the blocks that were allocated for the stream,
// its clock tells when memory freed on it may leave it. A heap outlives its stream: what it holds
// then serves the others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "memory/fence_clock.hpp"
#include "memory/slab_cache.hpp"
#include "memory/space.hpp"

namespace ferry {

// What a space is for. Slabs and single blocks never share a chunk.
enum class SpaceKind : std::uint8_t { slabs, blocks };

// A live block of a space.
struct Placement {
  std::uint32_t space = 0;
  BlockId block = kNoBlock;
};

struct HeapSpace {
  SpaceKind kind = SpaceKind::blocks;
  std::unique_ptr<Space> space;
};

struct Heap {
  Heap(StreamRef stream_ref, std::uint64_t stream_key) : stream(stream_ref), key(stream_key) {}

  StreamRef stream;
  std::uint64_t key;               // of the stream, as its thread named it
  bool ended = false;              // the stream is gone, or about to go
  std::uint64_t private_pool = 0;  // that it belongs to; its memory serves no other heap then
  FenceClock clock;
  SlabCache slabs;
  std::vector<HeapSpace> spaces;  // never shrinks: its indices are handed out

  [[nodiscard]] Space& space(std::uint32_t index) { return *spaces[index].space; }
  [[nodiscard]] const Space& space(std::uint32_t index) const { return *spaces[index].space; }

  [[nodiscard]] DeviceAddress address_of(const Placement& placement) const {
    const Space& home = space(placement.space);
    return home.address(home.segment().block(placement.block).offset);
  }

  // The best idle block whose stamp is not after `newest`, made live with `size` bytes of it.
  [[nodiscard]] std::optional<Placement> take_idle(SpaceKind kind, std::uint64_t size,
                                                   std::uint64_t newest);

  // The space with room for `size` bytes, and where. Nothing when all addresses are in use.
  [[nodiscard]] std::optional<std::pair<std::uint32_t, Window>> find_window(
      SpaceKind kind, std::uint64_t size) const;

  // Makes a live or fenced block idle, as freed at `stamp` of the clock.
  void put_back(const Placement& placement, std::uint64_t stamp) {
    space(placement.space).segment().put_back(placement.block, stamp);
  }

  // Gives the memory of slabs without live blocks back to their space. With `keep_spares`, of
  // `size_class` only, and a class keeps one slab at hand.
  void return_empty_slabs(std::size_t size_class, bool keep_spares);
  void return_all_empty_slabs();

  [[nodiscard]] bool is_private() const { return private_pool != 0; }
  [[nodiscard]] std::uint64_t idle_bytes() const;  // linear
  [[nodiscard]] bool holds_memory() const;
};

}  // namespace ferry
