// SPDX-License-Identifier: Apache-2.0
// What the host memory that a queued copy reads held when it was queued, as digests: so a staging
// buffer that the program writes again before the copy has run is named, although nobody saw the
// write. Plain value; belongs to one queued operation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/hazards/touch.hpp"

namespace ferry::sim {

class HostSources {
 public:
  // Requires: the range is readable host memory.
  void remember(const Touch& touch);
  // The first whose bytes are others now.
  [[nodiscard]] std::optional<Touch> find_changed() const;

 private:
  struct Source {
    Touch touch;
    std::uint64_t digest = 0;
  };
  std::vector<Source> sources_;
};

}  // namespace ferry::sim
