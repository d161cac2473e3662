// SPDX-License-Identifier: Apache-2.0
// Where the stand-in's own code lies in the process, and whether that is a library apart from the
// program: as libcuda.so.1 it is; linked into a program (its unit tests) it cannot be told from it.
#pragma once

#include <cstdint>

namespace ferry::sim {

struct OwnModule {
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;
  bool is_library = false;

  [[nodiscard]] bool contains(const void* code) const {
    const auto address = reinterpret_cast<std::uintptr_t>(code);
    return start <= address && address < end;
  }
};

[[nodiscard]] const OwnModule& own_module();

}  // namespace ferry::sim
