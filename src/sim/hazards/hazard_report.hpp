// SPDX-License-Identifier: Apache-2.0
// A hazard in words that a person can act on: both operations and where the program called for
// them, the bytes, and what would order them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/hazards/touch.hpp"

namespace ferry::sim {

struct MemoryPlace {
  std::uint64_t start = 0;  // the common bytes, by the address that the later one used
  std::uint64_t bytes = 0;
  std::uint64_t owner = 0;  // where the allocation or mapping begins; equals start for host memory
  std::uint64_t owner_bytes = 0;
  int device = -1;                 // -1: host memory
  std::string_view variable = {};  // of a module, by its name; empty for other memory
};

// Two operations, both queued. The first line starts with "hazard:".
[[nodiscard]] std::string describe_collision(const Toucher& earlier, const Toucher& later,
                                             const MemoryPlace& place);

// A call of the host that takes memory away while an operation may still use it.
[[nodiscard]] std::string describe_early_end(const Toucher& user, const Ending& ending,
                                             const MemoryPlace& place);

// A storage that goes back to a framework's allocator while an operation of another stream may
// still use it.
[[nodiscard]] std::string describe_early_release(const Toucher& user, const StorageEnd& end,
                                                 const MemoryPlace& place);

// An operation on memory that a call has freed in the order of a stream before it was queued.
[[nodiscard]] std::string describe_use_after_free(const Toucher& user, const MemoryPlace& place);

// Host memory whose bytes changed between the call that queued a copy and the copy.
[[nodiscard]] std::string describe_changed_memory(const Toucher& copy, const MemoryPlace& place);

// Host memory that went between the two.
[[nodiscard]] std::string describe_gone_memory(const Toucher& copy, const MemoryPlace& place);

}  // namespace ferry::sim
