// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/host_contents.hpp"

#define XXH_INLINE_ALL  // no library to carry along with libcuda.so.1
#include <xxhash.h>

namespace ferry::sim {

namespace {

std::uint64_t digest_of(std::uint64_t address, std::uint64_t bytes) {
  return XXH3_64bits(reinterpret_cast<const void*>(address), bytes);
}

}  // namespace

void HostContents::remember(const Touch& touch) {
  parts_.push_back({touch, digest_of(touch.address, touch.bytes)});
}

std::optional<Touch> HostContents::find_changed() const {
  for (const Part& part : parts_) {
    if (digest_of(part.touch.address, part.touch.bytes) != part.digest) return part.touch;
  }
  return std::nullopt;
}

}  // namespace ferry::sim
