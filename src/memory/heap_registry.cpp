// SPDX-License-Identifier: Apache-2.0
#include "memory/heap_registry.hpp"

#include <algorithm>

#include "memory/stream_key.hpp"

namespace ferry {

HeapRegistry::HeapOf* HeapRegistry::map_of(std::uint64_t private_pool) {
  if (private_pool == 0) return &state_.heap_of;
  const auto known = state_.private_pools.find(private_pool);
  return known == state_.private_pools.end() ? nullptr : &known->second.heap_of;
}

Result<std::uint32_t> HeapRegistry::heap_for(StreamRef stream, std::uint64_t private_pool) {
  HeapOf* const heap_of = map_of(private_pool);
  if (heap_of == nullptr) return Status(Code::invalid_argument, "the private pool is not in use");
  const std::uint64_t key = stream_key(stream);
  if (const auto known = heap_of->find(key); known != heap_of->end()) return known->second;
  FERRY_TRY(check_stream(stream));
  std::optional<std::uint32_t> index = adopt_ended_heap(stream, private_pool != 0);
  if (!index) {
    index = static_cast<std::uint32_t>(state_.heaps.size());
    state_.heaps.push_back(std::make_unique<Heap>(stream, key));
  }
  state_.heaps[*index]->private_pool = private_pool;
  heap_of->insert({key, *index});
  return *index;
}

// A heap may change hands when all work of its stream has ended: nothing of the past can then
// collide with the new stream. Only the longest ended are asked, so that a crowd of them costs
// nothing. With `empty`, one without memory, which a private pool would keep from the others.
std::optional<std::uint32_t> HeapRegistry::adopt_ended_heap(StreamRef stream, bool empty) {
  constexpr std::size_t kMostAsked = 4;
  const ApartFromCaptures apart(state_);
  std::vector<std::uint32_t>& ended = state_.ended_heaps;
  for (std::size_t i = 0; i < std::min(kMostAsked, ended.size()); ++i) {
    const std::uint32_t index = ended[i];
    Heap& heap = *state_.heaps[index];
    heap.clock.poll(state_.events);
    if (!heap.clock.passed(heap.clock.now()) || (empty && heap.holds_memory())) continue;
    ended.erase(ended.begin() + static_cast<std::ptrdiff_t>(i));
    heap.stream = stream;
    heap.key = stream_key(stream);
    heap.ended = false;
    return index;
  }
  return std::nullopt;
}

Result<bool> HeapRegistry::is_ours(StreamRef stream) const {
  if (is_default(stream)) return true;
  if (state_.heap_of.find(stream_key(stream)) != state_.heap_of.end()) return true;
  return state_.device.owns(stream);
}

Status HeapRegistry::check_stream(StreamRef stream) const {
  const Result<bool> ours = is_ours(stream);
  if (!ours) return Status(Code::invalid_argument, "a handle of no living stream");
  return *ours ? Status() : kForeignStream;
}

void HeapRegistry::stream_will_end(StreamRef stream) {
  end_in(state_.heap_of, stream);
  for (auto& [name, pool] : state_.private_pools) end_in(pool.heap_of, stream);
}

// A private pool keeps its memory until it is released, whatever stream it was for.
void HeapRegistry::end_in(HeapOf& heap_of, StreamRef stream) {
  const auto known = heap_of.find(stream_key(stream));
  if (known == heap_of.end()) return;
  Heap& heap = *state_.heaps[known->second];
  heap.return_all_empty_slabs();
  heap.ended = true;
  if (!heap.is_private()) {
    static_cast<void>(heap.clock.mark(state_.events, stream));
    state_.ended_heaps.push_back(known->second);
  }
  heap_of.erase(known);
}

// The heaps become those of streams that have ended. Who still works in them is not told by their
// frees alone, so their clocks are held.
Status HeapRegistry::release(std::uint64_t private_pool) {
  const auto known = state_.private_pools.find(private_pool);
  if (known == state_.private_pools.end())
    return Status(Code::invalid_argument, "the private pool is not in use");
  if (--known->second.uses > 0) return {};
  for (std::uint32_t index = 0; index < state_.heaps.size(); ++index) {
    Heap& heap = *state_.heaps[index];
    if (heap.private_pool != private_pool) continue;
    heap.return_all_empty_slabs();
    heap.private_pool = 0;
    heap.ended = true;
    heap.clock.hold();
    state_.ended_heaps.push_back(index);
  }
  state_.private_pools.erase(known);
  return {};
}

}  // namespace ferry
