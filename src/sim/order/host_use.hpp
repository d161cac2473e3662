// SPDX-License-Identifier: Apache-2.0
// What an operation does with the host's memory, as ThreadSanitizer is told of it. Plain data.
#pragma once

#include <cstdint>
#include <vector>

namespace ferry::sim {

// Memory of the host that an operation reads or writes.
struct HostAccess {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool writes = false;
};

// A word of the host's memory by which work and host code wait for each other: it orders, and is no
// race.
struct HostWord {
  std::uint64_t address = 0;
  bool waits = false;
  bool writes = false;
};

struct HostUse {
  std::vector<HostAccess> accesses;
  HostWord word;
  const void* site = nullptr;  // where the program asked for the operation
};

}  // namespace ferry::sim
