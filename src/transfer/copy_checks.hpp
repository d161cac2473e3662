// SPDX-License-Identifier: Apache-2.0
// What a caller's copies must be before any of them is made: pure functions. A refusal names the
// request by its place in the batch, with the address and size that are wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "base/status.hpp"
#include "driver/device.hpp"

namespace ferry {

struct CopyRequest {
  std::uint64_t destination = 0;
  std::uint64_t source = 0;
  Bytes bytes;
};

// What lies at an address: the driver's answer, or a test's.
using DescribeMemory = std::function<Result<MemoryRange>(std::uint64_t address)>;

// Asks about an address, but not again about what the last answer covers.
class Surroundings {
 public:
  explicit Surroundings(const DescribeMemory& describe) : describe_(describe) {}
  [[nodiscard]] Result<MemoryRange> at(std::uint64_t address);

 private:
  const DescribeMemory& describe_;
  MemoryRange range_;
  std::uint64_t from_ = 0;
  std::uint64_t until_ = 0;
};

// A request and its place in the batch.
struct PlacedRequest {
  CopyRequest request;
  std::size_t place = 0;
};

// By destination, without duplicates and empty requests. Refuses NULL, copies past the last address
// and requests that write the same bytes, that read what one of the batch writes, or whose two
// sides overlap.
[[nodiscard]] Result<std::vector<PlacedRequest>, Failure> by_destination(
    std::span<const CopyRequest> requests);

// What lies where the two sides of a request begin.
struct Sides {
  MemoryRange to;
  MemoryRange from;
};

// Refuses a request without a side that is memory of a device, and one whose device side goes on
// where no memory is: the driver answers that with a fault that ends all work of the device.
[[nodiscard]] Result<Sides, Failure> look_at(const PlacedRequest& placed, Surroundings& to,
                                             Surroundings& from);

}  // namespace ferry
