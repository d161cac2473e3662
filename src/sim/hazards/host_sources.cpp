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

void HostSources::remember(std::uint64_t address, std::uint64_t bytes) {
  sources_.push_back({{address, bytes}, digest_of(address, bytes)});
}

std::optional<HostSources::Range> HostSources::find_changed() const {
  for (const Source& source : sources_) {
    if (digest_of(source.range.address, source.range.bytes) != source.digest) return source.range;
  }
  return std::nullopt;
}

}  // namespace ferry::sim
