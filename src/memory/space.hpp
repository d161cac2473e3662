// SPDX-License-Identifier: Apache-2.0
// A space: a segment together with its address reservation and the chunks of physical memory mapped
// in it. The only place where the memory floor maps and unmaps.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "driver/device.hpp"
#include "memory/growth_policy.hpp"
#include "memory/segment.hpp"

namespace ferry {

// Physical memory from one cuMemCreate.
struct Chunk {
  PhysicalHandle handle;
  std::uint64_t size = 0;
};

// Empty pages between two offsets of a space.
struct Gap {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

class Space {
 public:
  // Reserves `size` bytes of addresses. Where the driver refuses, addresses are scarce: asks for an
  // eighth, and again, down to `smallest`, so that something is left for other spaces. Requires:
  // `device` outlives the space; sizes are page multiples.
  [[nodiscard]] static Result<std::unique_ptr<Space>> reserve(Device& device, std::uint64_t size,
                                                              std::uint64_t smallest);

  // Unmaps and releases everything. Requires: no queued work touches it.
  ~Space();
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  [[nodiscard]] Segment& segment() { return segment_; }
  [[nodiscard]] const Segment& segment() const { return segment_; }
  [[nodiscard]] const std::map<std::uint64_t, Chunk>& chunks() const { return chunks_; }
  [[nodiscard]] std::uint64_t committed() const { return committed_; }  // bytes of all chunks
  [[nodiscard]] DeviceAddress address(std::uint64_t offset) const { return base_ + Bytes{offset}; }
  [[nodiscard]] bool contains(DeviceAddress address) const {
    return address >= base_ && (address - base_).count < segment_.size();
  }
  [[nodiscard]] std::uint64_t offset_of(DeviceAddress address) const {
    return (address - base_).count;
  }

  // How far ahead of a request the space grew last; see GrowthPolicy::next_step.
  [[nodiscard]] std::uint64_t growth_step() const { return growth_step_; }
  void set_growth_step(std::uint64_t step) { growth_step_ = step; }

  // The empty pages that [offset, offset + size) touches, in order of address.
  [[nodiscard]] std::vector<Gap> gaps(std::uint64_t offset, std::uint64_t size) const;

  // Fills a gap with new chunks; the memory becomes idle. When a later chunk fails, what was
  // committed stays.
  [[nodiscard]] Status commit_new(Gap gap, const GrowthPolicy& policy);

  // Maps chunks that came from detach() one after the other from `offset` on. All or nothing: on
  // failure the chunks still belong to the caller.
  [[nodiscard]] Status commit_moved(std::uint64_t offset, const std::vector<Chunk>& chunks);

  // Opens the memory, what is here and what will come, to the pool's device and exactly `peers`.
  // On failure some of it may be open already.
  [[nodiscard]] Status open_to(const std::vector<DeviceId>& peers);

  // Unmaps the chunk at `offset`, which no live or fenced block touches, and hands it to the
  // caller. Requires: no queued work touches it.
  [[nodiscard]] Result<Chunk> detach(std::uint64_t offset);

  // Calls visit(offset, chunk, block) for each chunk that lies wholly in an idle block.
  void for_each_idle_chunk(
      const std::function<void(std::uint64_t, const Chunk&, const Block&)>& visit) const;

 private:
  Space(Device& device, DeviceAddress base, std::uint64_t size);

  Device& device_;
  DeviceAddress base_;
  Segment segment_;
  std::map<std::uint64_t, Chunk> chunks_;  // by offset
  std::uint64_t committed_ = 0;
  std::uint64_t growth_step_ = 0;
  std::vector<DeviceId> peers_;  // that may use the memory, too
};

}  // namespace ferry
