// SPDX-License-Identifier: Apache-2.0
#include "driver/call_counters.hpp"

namespace ferry {

std::string_view name_of(DriverCall call) {
  switch (call) {
    case DriverCall::reserve:
      return "reserve";
    case DriverCall::create:
      return "create";
    case DriverCall::map:
      return "map";
    case DriverCall::set_access:
      return "set_access";
    case DriverCall::unmap:
      return "unmap";
    case DriverCall::release:
      return "release";
    case DriverCall::alloc:
      return "alloc";
    case DriverCall::free:
      return "free";
    case DriverCall::host_alloc:
      return "host_alloc";
    case DriverCall::host_register:
      return "host_register";
    case DriverCall::synchronize:
      return "synchronize";
  }
  return "unknown";
}

std::uint64_t CallTallies::total_calls() const {
  std::uint64_t total = 0;
  for (const CallTally& tally : by_kind) total += tally.calls;
  return total;
}

CallTallies CallTallies::since(const CallTallies& earlier) const {
  CallTallies difference;
  for (std::size_t i = 0; i < kDriverCallKinds; ++i) {
    difference.by_kind[i] = {by_kind[i].calls - earlier.by_kind[i].calls,
                             by_kind[i].bytes - earlier.by_kind[i].bytes,
                             by_kind[i].mappings - earlier.by_kind[i].mappings};
  }
  difference.event_calls = event_calls - earlier.event_calls;
  return difference;
}

void CallCounters::count(DriverCall call, Bytes bytes, std::uint64_t mappings) {
  Counter& counter = counters_[static_cast<std::size_t>(call)];
  counter.calls.fetch_add(1, std::memory_order_relaxed);
  counter.bytes.fetch_add(bytes.count, std::memory_order_relaxed);
  counter.mappings.fetch_add(mappings, std::memory_order_relaxed);
}

CallTallies CallCounters::read() const {
  CallTallies tallies;
  for (std::size_t i = 0; i < kDriverCallKinds; ++i) {
    tallies.by_kind[i] = {counters_[i].calls.load(std::memory_order_relaxed),
                          counters_[i].bytes.load(std::memory_order_relaxed),
                          counters_[i].mappings.load(std::memory_order_relaxed)};
  }
  tallies.event_calls = event_calls_.load(std::memory_order_relaxed);
  return tallies;
}

}  // namespace ferry
