// SPDX-License-Identifier: Apache-2.0
// Page-locked host memory: allocated here, or the caller's own and registered. Nothing is really
// locked; what matters is which ranges the driver knows.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

#include "sim/memory/host_nodes.hpp"
#include "sim/memory/managed_advice.hpp"
#include "sim/words/cuda_api.hpp"
#include "sim/words/machine_limits.hpp"

namespace ferry::sim {

struct HostRange {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::uint64_t context = 0;
  std::uint64_t id = 0;
  unsigned flags = 0;
  int device = 0;
  bool allocated = false;    // false: registered
  bool managed = false;      // by cuMemAllocManaged: not page-locked, and freed by another call
  bool of_module = false;    // a managed variable, which no call frees by its address
  bool sync_memops = false;  // only kept: what it asks for is always so
};

class HostMemory {
 public:
  HostMemory() = default;
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  // How much may be registered, by one call and in all.
  void set_limits(const MachineLimits& limits) {
    register_call_ = limits.register_call;
    register_total_ = limits.register_total;
  }

  [[nodiscard]] CUresult allocate(void** out, std::uint64_t bytes, unsigned flags,
                                  std::uint64_t context, int device);
  [[nodiscard]] CUresult allocate_managed(void** out, std::uint64_t bytes, std::uint64_t context,
                                          int device, bool of_module = false);
  // Allocated page-locked memory, or managed memory.
  [[nodiscard]] CUresult free(void* pointer) { return free(pointer, false); }
  [[nodiscard]] CUresult free_managed(void* pointer) { return free(pointer, true); }
  [[nodiscard]] CUresult register_range(void* pointer, std::uint64_t bytes, unsigned flags,
                                        std::uint64_t context, int device);
  [[nodiscard]] CUresult unregister(void* pointer);
  void forget_all_of(std::uint64_t context);

  [[nodiscard]] const HostRange* find(
      std::uint64_t address) const;  // the range that contains it, or null
  // True when all of it lies in one managed allocation.
  [[nodiscard]] bool is_managed(std::uint64_t address, std::uint64_t bytes) const {
    const HostRange* const range = find(address);
    return range != nullptr && range->managed && bytes <= range->start + range->size - address;
  }
  // Requires: a range contains the address.
  void set_sync_memops(std::uint64_t address, bool on) {
    std::prev(ranges_.upper_bound(address))->second.sync_memops = on;
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }  // in all ranges
  [[nodiscard]] bool covers(std::uint64_t address, std::uint64_t bytes) const;

  // Where the modelled host's memory lies. Said of any memory; what is freed or unregistered has no
  // place any more.
  [[nodiscard]] HostNodes& nodes() { return nodes_; }
  // What was said of managed memory.
  [[nodiscard]] ManagedAdvice& advice() { return advice_; }

 private:
  using Ranges = std::map<std::uint64_t, HostRange>;  // by start

  // Memory for a range that has no start yet.
  [[nodiscard]] CUresult add_new(void** out, HostRange range);
  [[nodiscard]] CUresult free(void* pointer, bool managed);
  void add(const HostRange& range);
  void remove(Ranges::iterator range);

  Ranges ranges_;
  HostNodes nodes_;
  ManagedAdvice advice_;
  std::uint64_t bytes_ = 0;
  std::uint64_t registered_ = 0;  // the bytes of those that were not allocated here
  std::optional<Bytes> register_call_;
  std::optional<Bytes> register_total_;
  std::uint64_t next_id_ = std::uint64_t{1} << 62;  // apart from the ids of device memory
};

}  // namespace ferry::sim
