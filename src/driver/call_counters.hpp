// SPDX-License-Identifier: Apache-2.0
// How often the driver was called, by kind: the figures that reports and cost tables are made from.
// Failed calls count as well. Event record, query and wait are counted apart from the driver calls
// (they are cheap and frequent); making or destroying streams and events, copies and questions are
// not.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.hpp"

namespace ferry {

enum class DriverCall : std::uint8_t {
  reserve,  // of addresses, and giving them back
  create,
  map,
  set_access,
  unmap,
  release,
  alloc,
  free,
  host_alloc,  // of pinned host memory, and giving it back
  host_register,
  synchronize,
};
inline constexpr std::size_t kDriverCallKinds = 11;

// "reserve", "set_access", ...: the names used in tables and JSON.
[[nodiscard]] std::string_view name_of(DriverCall call);

struct CallTally {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;     // summed over the calls; 0 where a size means nothing
  std::uint64_t mappings = 0;  // set_access, unmap: mappings in the ranges, summed
};

struct CallTallies {
  std::array<CallTally, kDriverCallKinds> by_kind{};
  std::uint64_t event_calls = 0;

  [[nodiscard]] const CallTally& operator[](DriverCall call) const {
    return by_kind[static_cast<std::size_t>(call)];
  }
  [[nodiscard]] std::uint64_t total_calls() const;
  // What happened between `earlier` and this reading of the same counters.
  [[nodiscard]] CallTallies since(const CallTallies& earlier) const;
};

// Thread-safe counters. Each Device owns one: a tool that must not count its own work opens its own
// Device.
class CallCounters {
 public:
  void count(DriverCall call, Bytes bytes = Bytes{}, std::uint64_t mappings = 0);
  void count_event() { event_calls_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] CallTallies read() const;

 private:
  struct Counter {
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> mappings{0};
  };
  std::array<Counter, kDriverCallKinds> counters_{};
  std::atomic<std::uint64_t> event_calls_{0};
};

}  // namespace ferry
