// SPDX-License-Identifier: Apache-2.0
// Size classes of small blocks and the shape of the slabs they are cut from. All generated at
// compile time, with the worst waste asserted. Up to 4 KiB every multiple of 512 B is a class;
// above, eight classes to a doubling.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "memory/size_bins.hpp"

namespace ferry {

inline constexpr std::uint64_t kLargestSlabBlock = std::uint64_t{32}
                                                   << 10;  // above this, blocks stand alone
inline constexpr std::size_t kSizeClasses = 32;

namespace detail {

constexpr std::array<std::uint64_t, kSizeClasses> make_class_sizes() {
  std::array<std::uint64_t, kSizeClasses> sizes{};
  std::uint64_t size = 0;
  for (std::uint64_t& entry : sizes) {
    size += std::max(kBlockAlignment, std::bit_floor(size) / 8);
    entry = size;
  }
  return sizes;
}

}  // namespace detail

inline constexpr std::array<std::uint64_t, kSizeClasses> kClassSizes = detail::make_class_sizes();

// The smallest class that holds `bytes`. Requires: 1 <= bytes <= kLargestSlabBlock.
[[nodiscard]] constexpr std::size_t class_of(std::uint64_t bytes) {
  const std::uint64_t units = (bytes + kBlockAlignment - 1) / kBlockAlignment;
  if (units <= 8) return static_cast<std::size_t>(units) - 1;
  const unsigned doubling =
      static_cast<unsigned>(std::bit_width(units - 1)) - 4;  // units in (8, 16]: 0
  const std::uint64_t steps = (units - 1) >> doubling;       // in [8, 16)
  return static_cast<std::size_t>(doubling * 8 + steps);
}

// Blocks in one slab: few enough for one word of free bits, and slabs of 32 to 128 KiB.
[[nodiscard]] constexpr unsigned blocks_per_slab(std::size_t size_class) {
  const std::uint64_t fitting = (std::uint64_t{64} << 10) / kClassSizes[size_class];
  return static_cast<unsigned>(std::clamp<std::uint64_t>(fitting, 4, 64));
}

[[nodiscard]] constexpr std::uint64_t slab_bytes(std::size_t size_class) {
  return blocks_per_slab(size_class) * kClassSizes[size_class];
}

namespace detail {

constexpr bool classes_are_sound() {
  if (kClassSizes.front() != kBlockAlignment || kClassSizes.back() != kLargestSlabBlock)
    return false;
  for (std::size_t c = 0; c < kSizeClasses; ++c) {
    const std::uint64_t smallest = c == 0 ? 1 : kClassSizes[c - 1] + 1;
    if (kClassSizes[c] % kBlockAlignment != 0) return false;
    if (class_of(smallest) != c || class_of(kClassSizes[c]) != c) return false;
    // Beyond the rounding to 512 B that every allocation has, less than one part in eight is lost.
    const std::uint64_t rounded =
        (smallest + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
    if ((kClassSizes[c] - rounded) * 8 >= kClassSizes[c]) return false;
  }
  return true;
}

}  // namespace detail

static_assert(detail::classes_are_sound());

}  // namespace ferry
