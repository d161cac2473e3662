// SPDX-License-Identifier: Apache-2.0
#include "sim/traffic/copy_contents.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#define XXH_INLINE_ALL  // no library to carry along with libcuda.so.1
#include <xxhash.h>

namespace ferry::sim {

namespace {

using Part = std::span<const std::byte>;

constexpr std::size_t kWord = 4;
constexpr std::size_t kHalf = 2;  // the upper one comes second

// The bits that are set in some word.
std::uint32_t bits_of(Part part) {
  std::uint64_t pair = 0;
  std::size_t at = 0;
  for (; at + 2 * kWord <= part.size(); at += 2 * kWord) {
    std::uint64_t two = 0;
    std::memcpy(&two, part.data() + at, sizeof two);
    pair |= two;
  }
  std::uint32_t rest = 0;
  std::memcpy(&rest, part.data() + at, std::min(sizeof rest, part.size() - at));
  return static_cast<std::uint32_t>(pair | (pair >> 32)) | rest;
}

bool is_of_words(Part part) {
  return part.size() % kWord == 0;
}

class Digest {
 public:
  Digest() { XXH3_64bits_reset(&state_); }
  void add(Part bytes) { XXH3_64bits_update(&state_, bytes.data(), bytes.size()); }
  void add_upper_halves(Part part) {
    std::vector<std::byte> halves(part.size() / 2);
    for (std::size_t word = 0; word < part.size() / kWord; ++word)
      std::memcpy(&halves[word * kHalf], part.data() + word * kWord + kHalf, kHalf);
    add(halves);
  }
  [[nodiscard]] std::uint64_t value() const { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_;
};

}  // namespace

CopyContents contents_of(std::span<const Part> parts) {
  std::uint32_t bits = 0;
  for (const Part part : parts) bits |= bits_of(part);
  CopyContents contents;
  contents.zero = bits == 0;
  contents.widened =
      !contents.zero && (bits & 0xFFFFU) == 0 && std::ranges::all_of(parts, is_of_words);
  Digest digest;
  for (const Part part : parts) contents.widened ? digest.add_upper_halves(part) : digest.add(part);
  contents.digest = digest.value();
  return contents;
}

}  // namespace ferry::sim
