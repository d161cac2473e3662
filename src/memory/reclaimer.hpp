// SPDX-License-Identifier: Apache-2.0
// Physical memory of a pool: committing it where a request needs it, moving idle chunks there when
// the limit or the device is reached, and giving it back.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/pool_state.hpp"

namespace ferry {

class Reclaimer {
 public:
  explicit Reclaimer(PoolState& state) : state_(state) {}

  // Makes [offset, offset + size) of a heap's space committed. New chunks while the limit and the
  // device allow, else idle chunks whose fence has passed are moved in. Error out_of_memory: not
  // enough of those; what was created for the request is given back.
  [[nodiscard]] Status commit(Heap& heap, std::uint32_t space, std::uint64_t offset,
                              std::uint64_t size);

  // Returns idle chunks whose fence has passed to the driver until at most `keep` bytes are held.
  // Private pools keep theirs.
  [[nodiscard]] Status release_down_to(std::uint64_t keep);

  // Asks for the fences of all heaps and of freed blocks; what has passed becomes idle. Does not
  // block.
  void poll_fences();

  // Whether memory that is free waits for queued work, so that waiting for the device would help.
  [[nodiscard]] bool has_waiting() const;

  // Waits for the device: every fence has passed afterwards. Blocks the host.
  [[nodiscard]] Status synchronize();

 private:
  struct IdleChunk {
    Space* space;
    std::uint64_t offset;
    std::uint64_t size;
    std::uint64_t block_size;
  };
  // Where chunks must stay: the request's own window.
  struct Window {
    const Space* space;
    std::uint64_t begin;
    std::uint64_t end;
  };

  [[nodiscard]] std::vector<IdleChunk> idle_chunks(const Window& except) const;
  [[nodiscard]] Result<std::vector<Chunk>> detach_idle(std::uint64_t bytes, const Window& except);
  [[nodiscard]] Status move_idle_into(Space& space, const std::vector<Gap>& gaps,
                                      std::uint64_t bytes, const Window& window);
  [[nodiscard]] Status release(const std::vector<Chunk>& chunks);
  [[nodiscard]] Status commit_new(Space& space, const Gap& gap, std::vector<Gap>& created);
  [[nodiscard]] Status give_back(Space& space, const std::vector<Gap>& created);
  void free_pending(std::size_t index);

  PoolState& state_;
};

}  // namespace ferry
