// SPDX-License-Identifier: Apache-2.0
// Bins of free block sizes: sixteen to a doubling, so that sizes in one bin differ by at most 1/16.
// Pure arithmetic; the lists themselves belong to whoever owns the blocks.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ferry {

inline constexpr std::uint64_t kBlockAlignment = 512;  // of every address and size a pool hands out

// The bin of a size, a positive multiple of kBlockAlignment. Larger sizes never have a smaller bin.
[[nodiscard]] constexpr std::size_t bin_of(std::uint64_t size) {
  const std::uint64_t units = size / kBlockAlignment;
  if (units < 16) return static_cast<std::size_t>(units);
  const auto shift =
      static_cast<unsigned>(std::bit_width(units)) - 5;  // keeps five significant bits
  return static_cast<std::size_t>((std::uint64_t{shift} << 4) + (units >> shift));
}

inline constexpr std::size_t kBinCount = 832;  // enough for any 64-bit size
static_assert(bin_of(~std::uint64_t{0}) < kBinCount);
static_assert(bin_of(15 * kBlockAlignment) + 1 == bin_of(16 * kBlockAlignment));
static_assert(bin_of(31 * kBlockAlignment) + 1 == bin_of(32 * kBlockAlignment));

// Which bins hold something. Finds the next one in a few instructions.
class BinSet {
 public:
  void insert(std::size_t bin) { words_[bin / 64] |= std::uint64_t{1} << (bin % 64); }
  void erase(std::size_t bin) { words_[bin / 64] &= ~(std::uint64_t{1} << (bin % 64)); }
  [[nodiscard]] bool contains(std::size_t bin) const {
    return (words_[bin / 64] >> (bin % 64) & 1) != 0;
  }

  // The first bin >= `from` that holds something; kBinCount when none does.
  [[nodiscard]] std::size_t next(std::size_t from) const {
    if (from >= kBinCount) return kBinCount;
    std::size_t word = from / 64;
    std::uint64_t bits = words_[word] & (~std::uint64_t{0} << (from % 64));
    while (bits == 0) {
      if (++word == words_.size()) return kBinCount;
      bits = words_[word];
    }
    return word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
  }

 private:
  std::array<std::uint64_t, kBinCount / 64> words_{};
};
static_assert(kBinCount % 64 == 0);

}  // namespace ferry
