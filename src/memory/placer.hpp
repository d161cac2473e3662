// SPDX-License-Identifier: Apache-2.0
// Finds memory for a request: where a block comes from, and in which order the sources are asked.
#pragma once

#include <cstdint>
#include <optional>

#include "memory/pool_state.hpp"
#include "memory/reclaimer.hpp"

namespace ferry {

class Placer {
 public:
  Placer(PoolState& state, Reclaimer& reclaimer) : state_(state), reclaimer_(reclaimer) {}

  // A block of at least `bytes` for the stream of heap `user`; `requested` is left to the caller.
  // Blocks the host only when memory is short. Requires: bytes > 0. Errors: out_of_memory, driver
  // errors.
  [[nodiscard]] Result<LiveBlock> find(std::uint32_t user, std::uint64_t bytes);

 private:
  // A place that a block fits into once its missing pages are committed.
  struct Opening {
    std::uint32_t heap = 0;
    std::uint32_t space = 0;
    Window window;
  };

  [[nodiscard]] Result<LiveBlock> allocate_in_slab(std::uint32_t user, std::uint64_t bytes);
  [[nodiscard]] Result<LiveBlock> place(std::uint32_t user, SpaceKind kind, std::uint64_t size);
  [[nodiscard]] std::optional<LiveBlock> take_idle(std::uint32_t heap, std::uint32_t user,
                                                   SpaceKind kind, std::uint64_t size,
                                                   std::uint64_t newest);
  [[nodiscard]] std::optional<LiveBlock> borrow(std::uint32_t user, SpaceKind kind,
                                                std::uint64_t size);
  [[nodiscard]] Result<LiveBlock> grow(std::uint32_t user, SpaceKind kind, std::uint64_t size);
  [[nodiscard]] Result<LiveBlock> grow_anywhere(std::uint32_t user, SpaceKind kind,
                                                std::uint64_t size);
  [[nodiscard]] Result<LiveBlock> fill(const Opening& opening, std::uint32_t user,
                                       std::uint64_t size);
  [[nodiscard]] bool a_capture_is_on(std::uint32_t user) const;
  [[nodiscard]] Status add_space(Heap& heap, SpaceKind kind, std::uint64_t size);

  PoolState& state_;
  Reclaimer& reclaimer_;
};

}  // namespace ferry
