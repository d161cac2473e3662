// SPDX-License-Identifier: Apache-2.0
// A hash for keys that are device addresses or stream handles. They differ in their middle bits
// only, and the map looks at the low ones: mix them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ferry {

struct AddressHash {
  std::size_t operator()(std::uint64_t address) const {
    const std::uint64_t mixed = address * 0x9e3779b97f4a7c15U;  // 2^64 divided by the golden ratio
    return static_cast<std::size_t>(mixed ^ (mixed >> 32));
  }
};

}  // namespace ferry
