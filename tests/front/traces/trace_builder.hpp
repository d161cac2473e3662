// SPDX-License-Identifier: Apache-2.0
// Makes histories by hand, in the order in which things happened.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "front/traces/trace.hpp"

namespace ferry::replay::testing {

class TraceBuilder {
 public:
  std::uint32_t start(Bytes bytes, std::uint64_t stream = 0) {
    const std::uint32_t block = add_block(bytes, stream);
    trace_.start.push_back(block);
    return block;
  }
  std::uint32_t allocate(Bytes bytes, std::uint64_t stream = 0) {
    const std::uint32_t block = add_block(bytes, stream);
    trace_.events.push_back({.kind = TraceEvent::Kind::allocate, .block = block, .stream = stream});
    return block;
  }
  // On the block's own stream unless another is named.
  void free(std::uint32_t block, std::optional<std::uint64_t> stream = std::nullopt) {
    trace_.events.push_back({.kind = TraceEvent::Kind::free,
                             .block = block,
                             .stream = stream.value_or(trace_.blocks[block].stream)});
  }
  [[nodiscard]] DeviceTrace build() {
    compute_peak_live(trace_);
    return trace_;
  }

 private:
  std::uint32_t add_block(Bytes bytes, std::uint64_t stream) {
    trace_.blocks.push_back({.bytes = bytes, .stream = stream});
    return static_cast<std::uint32_t>(trace_.blocks.size() - 1);
  }
  DeviceTrace trace_;
};

}  // namespace ferry::replay::testing
