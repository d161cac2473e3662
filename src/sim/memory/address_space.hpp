// SPDX-License-Identifier: Apache-2.0
// The addresses of device memory: one big range that the host may never touch (PROT_NONE), so that
// a host access to a device address faults as it does on real hardware. Beside it lies a second
// range of the same size, where the host may be shown device memory (HostViews).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/memory/range_allocator.hpp"

namespace ferry::sim {

class AddressSpace {
 public:
  // Takes twice 32 TiB, or as much as the system allows (sanitizers leave less).
  AddressSpace();
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  // An address is not handed out again before all others were, unless it is to be at once.
  void set_reuse_at_once(bool at_once) {
    if (free_) free_->set_reuse_at_once(at_once);
  }

  // Sizes are rounded up to whole frames. A `hint` other than 0 is used when it is free and
  // aligned. Nothing when there is no room.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t alignment,
                                                  std::uint64_t hint = 0);
  void give(std::uint64_t start, std::uint64_t size);

  [[nodiscard]] bool contains(std::uint64_t address) const {
    return address >= start_ && address - start_ < size_;
  }
  [[nodiscard]] std::uint64_t start() const { return start_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Where the host may be shown what lies at a device address; nothing is mapped there at first.
  // Requires: contains(address).
  [[nodiscard]] std::byte* mirror_of(std::uint64_t address) const {
    return reinterpret_cast<std::byte*>(address + size_);
  }

 private:
  std::uint64_t start_ = 0;
  std::uint64_t size_ = 0;
  std::optional<RangeAllocator> free_;
};

}  // namespace ferry::sim
