// SPDX-License-Identifier: Apache-2.0
// From the copies that a caller asks for to the copies that are made: a pure function. The requests
// of one batch are unordered, as in cuMemcpyBatchAsync, so they may be joined and taken in any
// order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "transfer/copy_checks.hpp"

namespace ferry {

enum class Direction : std::uint8_t { to_device, to_host, on_device };
inline constexpr std::size_t kDirections = 3;

// One copy that can be made as it is: inside one allocation or registration on each host side.
struct Fragment {
  std::uint64_t destination = 0;
  std::uint64_t source = 0;
  Bytes bytes;
  Direction direction = Direction::to_device;
  bool staged = false;  // its host side is pageable
};

struct CopyPlan {
  std::vector<Fragment> fragments;
  std::uint64_t merged = 0;   // requests that became part of another's copy
  std::uint64_t dropped = 0;  // requests of 0 bytes, and those made twice
};

// Drops what is redundant, joins requests whose two sides both continue one another, though not
// from one allocation of a device into the next nor between pageable and other host memory, and
// cuts the result at the borders of host registrations, which no copy may cross. A single request
// that begins in pageable memory is staged to its end.
// Errors: invalid_argument with the request's place in the batch (copy_checks.hpp says for what),
// and whatever `describe` answers.
[[nodiscard]] Result<CopyPlan, Failure> plan_copies(std::span<const CopyRequest> requests,
                                                    const DescribeMemory& describe);

}  // namespace ferry
