// SPDX-License-Identifier: Apache-2.0
// Modules and the functions in them, by handle. They belong to a context and go with it. Owned by
// the machine; requires the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/machine/streams.hpp"

namespace ferry::sim {

struct ModuleEntry {
  std::uint64_t context = 0;
  std::vector<std::byte> image;
  std::map<std::string, std::uint64_t, std::less<>> functions;  // handles, by name
};

// What a program may set on a function, and is told again.
struct FunctionSettings {
  int most_dynamic_shared = 49152;
  int shared_carveout = -1;
};

struct FunctionEntry {
  std::uint64_t context = 0;
  std::uint64_t module = 0;
  std::string name;
  FunctionSettings settings;
};

using Modules = HandleTable<ModuleEntry, HandleKind::module>;
using Functions = HandleTable<FunctionEntry, HandleKind::function>;

}  // namespace ferry::sim
