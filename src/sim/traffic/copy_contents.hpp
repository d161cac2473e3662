// SPDX-License-Identifier: Apache-2.0
// What a copy moved, as a digest, so that bytes which cross the link twice are known again. Floats
// of 16 bits that were sent as words of 32 are recognised, and have the digest that they would have
// had with 16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ferry::sim {

struct CopyContents {
  std::uint64_t digest = 0;  // where `widened`, of the upper halves of the words alone
  bool zero = false;         // no bit is set
  bool widened = false;      // words of 32 bits, and the lower half of each is empty

  friend bool operator==(const CopyContents&, const CopyContents&) = default;
};

// Of all parts as if they followed one another. Requires: readable memory.
[[nodiscard]] CopyContents contents_of(std::span<const std::span<const std::byte>> parts);

}  // namespace ferry::sim
