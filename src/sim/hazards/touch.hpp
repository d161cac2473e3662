// SPDX-License-Identifier: Apache-2.0
// Who touches which bytes, as the hazard checker sees it. Plain values.
#pragma once

#include <cstdint>

#include "sim/order/clock.hpp"
#include "sim/words/framework_operator.hpp"
#include "sim/words/symbols.hpp"

namespace ferry::sim {

enum class AccessKind : std::uint8_t { read, write };

// Of an operation that is no batch.
inline constexpr std::uint32_t kNoMember = ~std::uint32_t{0};

// A range of addresses that an operation touches.
struct Touch {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  AccessKind kind = AccessKind::read;
  // Members of a batch are unordered among themselves. Their index as the program counts them.
  std::uint32_t member = kNoMember;
  // Another operation of the same call, which this one comes after, touches the same: what others
  // do there has been compared with that one.
  bool compared = false;
  // The call does not wait for it, but no later call of the host comes before it.
  bool outlasts_call = false;
};

// An access by one operation, as it is remembered: enough to tell whether a later one is ordered
// after it, and to tell a person which call it was.
struct Toucher {
  LaneNumber lane = 0;
  std::uint32_t member = kNoMember;
  std::uint64_t count = 0;      // of the operation in its lane
  std::uint64_t operation = 0;  // its number in the process, for reports
  std::uint64_t stream = 0;     // handle, for reports
  // What to add to a position (AccessMap) for the address that it used; may wrap.
  std::uint64_t base = 0;
  Symbol symbol = Symbol::count;
  AccessKind kind = AccessKind::read;
  const void* site = nullptr;  // where the program called (call_site.hpp), for reports
  // Of a node of a graph `symbol` and `site` are those of the call that added or captured it.
  std::uint64_t launch = 0;           // tells it from other launches; 0: it is no node
  const void* launch_site = nullptr;  // where the program launched the graph
  bool outlasts_call = false;         // as of the touch
  // Of a framework, that it is a part of; null: of none.
  const FrameworkOperator* part_of = nullptr;
};

[[nodiscard]] inline bool is_same_operation(const Toucher& one, const Toucher& other) {
  return one.lane == other.lane && one.count == other.count;
}

[[nodiscard]] inline bool is_of_one_launch(const Toucher& one, const Toucher& other) {
  return one.launch != 0 && one.launch == other.launch;
}

// A call of the host that takes memory away.
struct Ending {
  Symbol symbol = Symbol::count;
  const void* site = nullptr;
};

// A framework gives the storage of a tensor back to its own allocator, which may use it again for
// work of this stream.
struct StorageEnd {
  const FrameworkOperator* at = nullptr;  // its place alone
  std::uint64_t stream = 0;               // handle, for reports
};

// True when `earlier` is known to have ended before an operation with clock `before` begins.
[[nodiscard]] inline bool is_ordered(const Toucher& earlier, const Clock& before) {
  return before.covers(earlier.lane, earlier.count);
}

}  // namespace ferry::sim
