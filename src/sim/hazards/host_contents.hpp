// SPDX-License-Identifier: Apache-2.0
// What the host memory that a queued copy reads, or writes, held when it was queued, as digests: so
// a buffer that the program writes before the copy has run is named, although nobody saw the write.
// Plain value; belongs to one queued operation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/hazards/touch.hpp"

namespace ferry::sim {

class HostContents {
 public:
  // Requires: the range is readable host memory, here and below.
  void remember(const Touch& touch);
  // The first whose bytes are others now.
  [[nodiscard]] std::optional<Touch> find_changed() const;

 private:
  struct Part {
    Touch touch;
    std::uint64_t digest = 0;
  };
  std::vector<Part> parts_;
};

}  // namespace ferry::sim
