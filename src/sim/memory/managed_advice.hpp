// SPDX-License-Identifier: Apache-2.0
// What a program has said of its managed memory (cuMemAdvise, cuMemPrefetchAsync), by whole pages
// of the host. It changes nothing, but can be asked for. Owned by HostMemory; requires the lock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "sim/words/cuda_api.hpp"

namespace ferry::sim {

struct Advice {
  bool read_mostly = false;
  CUmemLocation preferred{};  // of the type INVALID: none
  std::set<int> accessed_by;  // devices, CU_DEVICE_CPU
  CUmemLocation prefetched{};
};

class ManagedAdvice {
 public:
  // Calls change(Advice&) for each part of the range that has advice of its own, in whole pages.
  void change(std::uint64_t start, std::uint64_t bytes, const std::function<void(Advice&)>& change);
  // The same to look at it.
  void visit(std::uint64_t start, std::uint64_t bytes,
             const std::function<void(const Advice&)>& visit) const;
  void forget(std::uint64_t start, std::uint64_t bytes);

 private:
  void cut(std::uint64_t address);

  // Each holds from its address to the next.
  std::map<std::uint64_t, Advice> from_{{0, {}}};
};

}  // namespace ferry::sim
