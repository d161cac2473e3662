// SPDX-License-Identifier: Apache-2.0
// What the host memory that a queued copy reads held when it was queued, as digests: so a staging
// buffer that the program writes again before the copy has run is named, although nobody saw the
// write. Plain value; belongs to one queued operation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ferry::sim {

class HostSources {
 public:
  // Requires: the range is readable host memory.
  void remember(std::uint64_t address, std::uint64_t bytes);
  // The first range whose bytes are others now.
  struct Range {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] std::optional<Range> find_changed() const;

 private:
  struct Source {
    Range range;
    std::uint64_t digest = 0;
  };
  std::vector<Source> sources_;
};

}  // namespace ferry::sim
