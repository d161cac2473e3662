// SPDX-License-Identifier: Apache-2.0
// Which two calls of the program a hazard is between: what tells it from other hazards, but not
// from its repeats in a loop. Plain values.
#pragma once

#include <cstdint>
#include <string>

#include "sim/hazards/touch.hpp"

namespace ferry::sim {

enum class HazardKind : std::uint8_t {
  write_after_read,
  read_after_write,
  write_after_write,
  early_end,
  early_release,
  use_after_free,
  changed_source,
  changed_destination,
  gone_memory,
};

struct HazardSide {
  Symbol symbol = Symbol::count;      // count: there is no call
  const void* site = nullptr;         // where the program called; null where that is not known
  const void* launch_site = nullptr;  // of a node of a graph that the other side is no node of
  std::uint64_t operation = 0;        // 0: the call itself, not something that it queued
  const FrameworkOperator* part_of = nullptr;  // then that is who called
};

struct HazardPair {
  HazardKind kind = HazardKind::write_after_write;
  HazardSide first;
  HazardSide second;
};

[[nodiscard]] HazardPair pair_of_collision(const Toucher& earlier, const Toucher& later);
[[nodiscard]] HazardPair pair_of_early_end(const Toucher& user, const Ending& ending);
[[nodiscard]] HazardPair pair_of_early_release(const Toucher& user, const StorageEnd& end);
[[nodiscard]] HazardPair pair_of_use_after_free(const Toucher& user);
[[nodiscard]] HazardPair pair_of_changed_memory(const Toucher& copy);
[[nodiscard]] HazardPair pair_of_gone_memory(const Toucher& copy);

// The same conflict between the same two calls in the program's text. Where it is not known where
// they are, between the same two operations.
[[nodiscard]] bool is_repeat(const HazardPair& one, const HazardPair& other);

// "between the same two calls as cuMemsetD8Async (operation 3) and cuMemFree"
[[nodiscard]] std::string with_the_calls_of(const HazardPair& pair);

}  // namespace ferry::sim
