// SPDX-License-Identifier: Apache-2.0
// What a replay puts to the test: an allocator with the contract of DevicePool. The engine knows
// only this, so that its checks can be proved on allocators that break the contract.
#pragma once

#include <string>

#include "memory/device_pool.hpp"

namespace ferry::replay {

class ReplayedAllocator {
 public:
  virtual ~ReplayedAllocator() = default;

  [[nodiscard]] virtual Result<DeviceAddress> allocate(Bytes bytes, StreamRef stream) = 0;
  [[nodiscard]] virtual Status free(DeviceAddress address, StreamRef stream) = 0;
  [[nodiscard]] virtual Status audit() = 0;
  [[nodiscard]] virtual Bytes reserved() const = 0;       // physical memory held now
  [[nodiscard]] virtual Bytes reserved_peak() const = 0;  // and the most that ever was
  [[nodiscard]] virtual CallTallies tallies() const = 0;  // driver calls so far
  [[nodiscard]] virtual std::string out_of_memory_report() const = 0;
};

// The device pool. Requires: `pool` was made on `device`, which nobody else uses, and both outlive
// this.
class ReplayedPool final : public ReplayedAllocator {
 public:
  ReplayedPool(DevicePool& pool, const Device& device) : pool_(pool), device_(device) {}

  Result<DeviceAddress> allocate(Bytes bytes, StreamRef stream) override;
  Status free(DeviceAddress address, StreamRef stream) override;
  Status audit() override;
  Bytes reserved() const override;
  Bytes reserved_peak() const override;
  CallTallies tallies() const override;
  std::string out_of_memory_report() const override;

 private:
  DevicePool& pool_;
  const Device& device_;
};

}  // namespace ferry::replay
