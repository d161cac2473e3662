// SPDX-License-Identifier: Apache-2.0
// A small allocator that keeps the pool's contract, and the ways to break it that a replay must
// notice. One piece of device memory, cut from the front; freed blocks are kept by size.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "front/replay/replayed_allocator.hpp"

namespace ferry::replay::testing {

enum class Flaw : std::uint8_t {
  none,
  shares_across_streams,  // any stream gets what another freed, at once
  forgets_who_freed,      // a block freed on another stream serves its own stream again at once
  overlaps,               // every second block begins inside the one before
  misaligns,
  keeps_wrong_books,  // audits fail
  loses_blocks,       // frees are refused
};

class ToyAllocator final : public ReplayedAllocator {
 public:
  ToyAllocator(Device& device, Bytes size, Flaw flaw = Flaw::none)
      : device_(device), size_(size), flaw_(flaw), begin_(device.alloc(size).value()) {}

  Result<DeviceAddress> allocate(Bytes bytes, StreamRef stream) override {
    if (bytes == Bytes{}) return DeviceAddress{};
    const Bytes size = align_up(bytes, 512_B);
    std::vector<DeviceAddress>& idle = idle_[{list_of(stream), size}];
    DeviceAddress address = begin_ + used_;
    if (!idle.empty()) {
      address = idle.back();
      idle.pop_back();
    } else {
      if (used_ + size > size_) return Status(Code::out_of_memory, "toy");
      used_ += size;
      if (flaw_ == Flaw::overlaps && used_ > size) address = address_before(512_B);
      if (flaw_ == Flaw::misaligns) address = begin_ + 256_B;
      last_ = address;
    }
    live_[address] = {size, stream};
    return address;
  }

  Status free(DeviceAddress address, StreamRef stream) override {
    if (address.is_null()) return {};
    if (flaw_ == Flaw::loses_blocks) return Status(Code::not_owned, "toy");
    const auto [size, home] = live_.at(address);
    live_.erase(address);
    if (stream == home || flaw_ == Flaw::forgets_who_freed ||
        flaw_ == Flaw::shares_across_streams) {
      idle_[{list_of(home), size}].push_back(address);
    }
    return {};
  }

  Status audit() override {
    ++audits;
    return flaw_ == Flaw::keeps_wrong_books ? Status(Code::internal, "the toy's books") : Status{};
  }
  Bytes reserved() const override { return size_; }
  Bytes reserved_peak() const override { return size_; }
  CallTallies tallies() const override { return device_.tallies(); }
  std::string out_of_memory_report() const override { return "out of memory: the toy is full"; }

  int audits = 0;

 private:
  struct Live {
    Bytes size;
    StreamRef stream;
  };
  [[nodiscard]] StreamRef list_of(StreamRef stream) const {
    return flaw_ == Flaw::shares_across_streams ? StreamRef{} : stream;
  }
  [[nodiscard]] DeviceAddress address_before(Bytes bytes) const { return last_ + bytes; }

  Device& device_;
  const Bytes size_;
  const Flaw flaw_;
  const DeviceAddress begin_;
  DeviceAddress last_;
  Bytes used_;
  std::map<DeviceAddress, Live> live_;
  std::map<std::pair<StreamRef, Bytes>, std::vector<DeviceAddress>> idle_;
};

}  // namespace ferry::replay::testing
