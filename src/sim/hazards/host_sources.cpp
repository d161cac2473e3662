// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/host_sources.hpp"

#define XXH_INLINE_ALL  // no library to carry along with libcuda.so.1
#include <xxhash.h>

namespace ferry::sim {

namespace {

std::uint64_t digest_of(std::uint64_t address, std::uint64_t bytes) {
  return XXH3_64bits(reinterpret_cast<const void*>(address), bytes);
}

}  // namespace

void HostSources::remember(const Touch& touch) {
  sources_.push_back({touch, digest_of(touch.address, touch.bytes)});
}

std::optional<Touch> HostSources::find_changed() const {
  for (const Source& source : sources_) {
    if (digest_of(source.touch.address, source.touch.bytes) != source.digest) return source.touch;
  }
  return std::nullopt;
}

}  // namespace ferry::sim
