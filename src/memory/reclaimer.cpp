// SPDX-License-Identifier: Apache-2.0
#include "memory/reclaimer.hpp"

#include <algorithm>

namespace ferry {

namespace {

std::uint64_t total(const std::vector<Gap>& gaps) {
  std::uint64_t bytes = 0;
  for (const Gap& gap : gaps) bytes += gap.size;
  return bytes;
}

// Lengthens a gap into the empty pages that follow it, up to `size`.
void extend(Gap& gap, const Space& space, std::uint64_t size) {
  const Segment& segment = space.segment();
  const std::uint64_t room = segment.block(segment.block_at(gap.offset)).end() - gap.offset;
  gap.size = std::max(gap.size, std::min(room, size));
}

// Takes chunks for a gap out of `chunks` (largest first) that fit into it one after the other.
std::vector<Chunk> fitting(std::vector<Chunk>& chunks, std::uint64_t gap) {
  std::vector<Chunk> chosen;
  for (auto chunk = chunks.begin(); chunk != chunks.end();) {
    if (chunk->size > gap) {
      ++chunk;
      continue;
    }
    gap -= chunk->size;
    chosen.push_back(*chunk);
    chunk = chunks.erase(chunk);
  }
  return chosen;
}

}  // namespace

Status Reclaimer::commit(Heap& heap, std::uint32_t space_index, std::uint64_t offset,
                         std::uint64_t size) {
  Space& space = heap.space(space_index);
  const std::uint64_t page = space.segment().page();
  const Window window{&space, align_down(offset, page), align_up(offset + size, page)};
  const GrowthPolicy policy = state_.policy();
  bool device_is_full = false;
  bool step_ahead = true;
  std::vector<Gap> created;
  for (;;) {
    std::vector<Gap> gaps = space.gaps(offset, size);
    if (gaps.empty()) return {};
    const std::uint64_t missing = total(gaps);
    const std::uint64_t wanted = state_.committed + state_.lost + missing;
    const std::uint64_t excess =
        state_.limit.count != 0 && wanted > state_.limit.count ? wanted - state_.limit.count : 0;
    if (device_is_full || excess > 0) {
      const Status moved = move_idle_into(space, gaps, device_is_full ? missing : excess, window);
      if (moved.code() == Code::out_of_memory) FERRY_TRY(give_back(space, created));
      FERRY_TRY(moved);
      device_is_full = step_ahead = false;
      continue;
    }
    if (step_ahead) {
      const std::uint64_t step = policy.next_step(missing, space.committed(), space.growth_step());
      space.set_growth_step(step);
      const std::uint64_t room =
          state_.limit.count == 0 ? step : state_.limit.count - wanted + gaps.back().size;
      extend(gaps.back(), space, std::min(step, align_down(room, page)));
    }
    step_ahead = false;
    for (const Gap& gap : gaps) {
      const Status status = commit_new(space, gap, created);
      if (status) continue;
      if (status.code() != Code::out_of_memory) return status;
      device_is_full = true;
      break;
    }
  }
}

Status Reclaimer::commit_new(Space& space, const Gap& gap, std::vector<Gap>& created) {
  const std::uint64_t before = space.committed();
  const std::size_t chunks_before = space.chunks().size();
  const Status status = space.commit_new(gap, state_.policy());
  const std::uint64_t added = space.committed() - before;
  if (added > 0) created.push_back(Gap{gap.offset, added});
  state_.committed += added;
  state_.figures.reserved_bytes.add(added);
  state_.figures.chunks.add(space.chunks().size() - chunks_before);
  state_.stats.reserved_bytes_peak =
      std::max(state_.stats.reserved_bytes_peak, Bytes{state_.committed + state_.lost});
  return status;
}

// A request that fails must not leave the pool with all the memory that it tried to find. What the
// driver does not take back stays idle memory.
Status Reclaimer::give_back(Space& space, const std::vector<Gap>& created) {
  for (const Gap& gap : created) {
    for (std::uint64_t offset = gap.offset; offset < gap.offset + gap.size;) {
      const Result<Chunk> chunk = space.detach(offset);
      if (!chunk) return chunk.error();
      offset += chunk->size;
      FERRY_TRY(release({*chunk}));
    }
  }
  return {};
}

std::vector<Reclaimer::IdleChunk> Reclaimer::idle_chunks(const Window& except) const {
  std::vector<IdleChunk> found;
  for (const std::unique_ptr<Heap>& heap : state_.heaps) {
    if (heap->is_private()) continue;
    for (const HeapSpace& entry : heap->spaces) {
      Space* const space = entry.space.get();
      space->for_each_idle_chunk([&](std::uint64_t offset, const Chunk& chunk, const Block& block) {
        const bool in_window =
            space == except.space && offset < except.end && offset + chunk.size > except.begin;
        if (in_window || !heap->clock.passed(block.stamp)) return;
        found.push_back(IdleChunk{space, offset, chunk.size, block.size});
      });
    }
  }
  return found;
}

Result<std::vector<Chunk>> Reclaimer::detach_idle(std::uint64_t bytes, const Window& except) {
  std::vector<IdleChunk> candidates = idle_chunks(except);
  std::uint64_t available = 0;
  for (const IdleChunk& candidate : candidates) available += candidate.size;
  if (available < bytes) return Status(Code::out_of_memory, "device pool");
  // From the largest idle blocks first: small ones are more likely to fit a later request as they
  // are.
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const IdleChunk& a, const IdleChunk& b) { return a.block_size > b.block_size; });
  std::vector<Chunk> detached;
  std::uint64_t taken = 0;
  for (const IdleChunk& candidate : candidates) {
    if (taken >= bytes) break;
    Result<Chunk> chunk = candidate.space->detach(candidate.offset);
    if (!chunk) {
      FERRY_TRY(release(detached));
      return chunk.error();
    }
    detached.push_back(*chunk);
    taken += chunk->size;
  }
  std::stable_sort(detached.begin(), detached.end(),
                   [](const Chunk& a, const Chunk& b) { return a.size > b.size; });
  return detached;
}

Status Reclaimer::move_idle_into(Space& space, const std::vector<Gap>& gaps, std::uint64_t bytes,
                                 const Window& window) {
  for (const std::unique_ptr<Heap>& heap : state_.heaps) heap->return_all_empty_slabs();
  Result<std::vector<Chunk>> detached = detach_idle(bytes, window);
  if (!detached) return detached.error();
  std::vector<Chunk> chunks = std::move(detached).value();
  Status status;
  for (const Gap& gap : gaps) {
    const std::vector<Chunk> moved = fitting(chunks, gap.size);
    if (moved.empty()) continue;
    status = space.commit_moved(gap.offset, moved);
    if (!status) {
      chunks.insert(chunks.end(), moved.begin(), moved.end());
      break;
    }
    state_.stats.chunks_moved += moved.size();
  }
  const Status released = release(chunks);
  return status ? released : status;
}

Status Reclaimer::release(const std::vector<Chunk>& chunks) {
  Status first_failure;
  for (const Chunk& chunk : chunks) {
    const Status status = state_.device.release(chunk.handle, Bytes{chunk.size});
    state_.committed -= chunk.size;
    state_.figures.chunks.remove(1);
    if (status) {
      state_.figures.reserved_bytes.remove(chunk.size);
    } else {
      state_.lost += chunk.size;
    }
    if (!status && first_failure) first_failure = status;
  }
  return first_failure;
}

Status Reclaimer::release_down_to(std::uint64_t keep) {
  for (const std::unique_ptr<Heap>& heap : state_.heaps) heap->return_all_empty_slabs();
  for (const IdleChunk& candidate : idle_chunks(Window{nullptr, 0, 0})) {
    if (state_.committed <= keep) break;
    const Result<Chunk> chunk = candidate.space->detach(candidate.offset);
    if (!chunk) return chunk.error();
    FERRY_TRY(release({*chunk}));
  }
  return {};
}

void Reclaimer::poll_fences() {
  for (const std::unique_ptr<Heap>& heap : state_.heaps) heap->clock.poll(state_.events);
  for (std::size_t index = 0; index < state_.pending.size();) {
    PendingFree& pending = state_.pending[index];
    while (!pending.events.empty() && state_.events.give_back_if_reached(pending.events.back())) {
      pending.events.pop_back();
    }
    if (pending.events.empty() && !pending.quarantined) {
      free_pending(index);
    } else {
      ++index;
    }
  }
}

bool Reclaimer::has_waiting() const {
  bool waiting = !state_.pending.empty();
  for (const std::unique_ptr<Heap>& heap : state_.heaps) {
    if (heap->is_private()) continue;
    for (const HeapSpace& entry : heap->spaces) {
      entry.space->for_each_idle_chunk([&](std::uint64_t, const Chunk&, const Block& block) {
        waiting = waiting || !heap->clock.passed(block.stamp);
      });
    }
  }
  return waiting;
}

Status Reclaimer::synchronize() {
  FERRY_TRY(state_.device.synchronize());
  ++state_.stats.num_sync_all_streams;
  while (!state_.pending.empty()) {
    state_.events.give_back(state_.pending.back().events);
    free_pending(state_.pending.size() - 1);
  }
  for (const std::unique_ptr<Heap>& heap : state_.heaps) {
    heap->return_all_empty_slabs();  // first: what they give back is freed at this moment
    heap->clock.pass_all(state_.events);
  }
  return {};
}

void Reclaimer::free_pending(std::size_t index) {
  const LiveBlock block = state_.pending[index].block;
  const std::uint64_t stamp = state_.pending[index].stamp;
  state_.figures.deactivated(block.requested, block.size);
  state_.pending[index] = std::move(state_.pending.back());
  state_.pending.pop_back();
  Heap& heap = *state_.heaps[block.heap];
  if (block.in_slab()) {
    const SlabSlot slot{block.id, block.slot};
    const std::size_t size_class = heap.slabs.class_of_slab(block.id);
    heap.slabs.put_back(slot);
    heap.return_empty_slabs(size_class, true);
  } else {
    heap.put_back(Placement{block.space, block.id}, stamp);
  }
}

}  // namespace ferry
