// SPDX-License-Identifier: Apache-2.0
// Which heap serves which stream, in the common part of a pool and in its private ones. Part of a
// pool, guarded by its mutex.
#pragma once

#include <cstdint>
#include <optional>

#include "memory/pool_state.hpp"

namespace ferry {

inline constexpr Status kForeignStream(Code::invalid_argument,
                                       "a stream of another context or device");

class HeapRegistry {
 public:
  explicit HeapRegistry(PoolState& state) : state_(state) {}

  // The index of a stream's heap in a private pool, or in the common part (0); on first sight one
  // that a stream of the past has left, or a new one. Errors: invalid_argument (the stream's, as
  // check_stream; the private pool is not in use).
  [[nodiscard]] Result<std::uint32_t> heap_for(StreamRef stream, std::uint64_t private_pool);

  // Whether the pool can fence the stream: its fences are events of the device's primary context,
  // which other contexts' streams cannot record. The driver is asked only about streams that the
  // pool does not know. Error: no living stream has the handle.
  [[nodiscard]] Result<bool> is_ours(StreamRef stream) const;
  [[nodiscard]] Status check_stream(StreamRef stream) const;

  void stream_will_end(StreamRef stream);

  // See DevicePool.
  void retain(std::uint64_t private_pool) { ++state_.private_pools[private_pool].uses; }
  [[nodiscard]] Status release(std::uint64_t private_pool);

 private:
  using HeapOf = tsl::robin_map<std::uint64_t, std::uint32_t, AddressHash>;

  [[nodiscard]] HeapOf* map_of(std::uint64_t private_pool);
  [[nodiscard]] std::optional<std::uint32_t> adopt_ended_heap(StreamRef stream, bool empty);
  void end_in(HeapOf& heap_of, StreamRef stream);

  PoolState& state_;
};

}  // namespace ferry
