// SPDX-License-Identifier: Apache-2.0
// What a device pool knows, shared by the parts that work on it: placement (device_pool), physical
// memory (reclaimer), and the two readers (pool_audit, pool_report). Guarded by the pool's mutex.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/outside_captures.hpp"
#include "memory/address_hash.hpp"
#include "memory/device_pool.hpp"
#include "memory/foreign_uses.hpp"
#include "memory/heap.hpp"

namespace ferry {

inline constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

// A block that the user holds: a block of a space, or one slot of a slab.
struct LiveBlock {
  std::uint32_t heap = 0;   // whose memory it is
  std::uint32_t user = 0;   // the heap of the stream that asked for it; another one when borrowed
  std::uint32_t space = 0;  // a block of a space: where
  std::uint32_t id = 0;     // BlockId or SlabId
  std::uint32_t slot = kNoSlot;
  std::uint64_t size = 0;  // as handed out
  std::uint64_t requested = 0;

  [[nodiscard]] bool in_slab() const { return slot != kNoSlot; }
};

// A freed block that may still be in use on streams other than its heap's.
struct PendingFree {
  LiveBlock block;
  std::uint64_t stamp = 0;  // of its heap's clock, where it was freed on the heap's own stream
  std::vector<EventHandle> events;  // all must be reached
  bool quarantined = false;         // an event could not be recorded: only an idle device frees it
};

// A part of the pool with heaps of its own, for work that may come back to its memory at any time:
// the launches of a captured graph.
struct PrivatePool {
  std::uint64_t uses = 0;
  tsl::robin_map<std::uint64_t, std::uint32_t, AddressHash> heap_of;  // as PoolState's
};

struct PoolState {
  PoolState(Device& the_device, Bytes the_limit, Bytes device_memory)
      : device(the_device), events(the_device), limit(the_limit), total_memory(device_memory) {}

  Device& device;
  EventPool events;
  Bytes limit;                               // 0: what the device gives
  Bytes total_memory;                        // of the device
  std::vector<std::unique_ptr<Heap>> heaps;  // never shrinks: its indices are handed out
  tsl::robin_map<std::uint64_t, std::uint32_t, AddressHash>
      heap_of;                                         // stream key -> index of its heap
  std::map<std::uint64_t, PrivatePool> private_pools;  // those in use
  std::vector<DeviceId> peers;                         // that may use the pool's memory, too
  std::vector<std::uint32_t> ended_heaps;  // whose streams are gone, in the order of their end
  tsl::robin_map<std::uint64_t, LiveBlock, AddressHash> live;  // address -> block
  ForeignUses foreign_uses;
  std::vector<PendingFree> pending;
  std::uint64_t committed = 0;  // bytes of all chunks
  std::uint64_t lost = 0;       // bytes that the driver refused to take back; they still count
  DevicePoolStats stats;
  PoolFigures figures;
  std::string out_of_memory_report;

  [[nodiscard]] std::uint64_t budget() const {
    return limit.count != 0 ? limit.count : total_memory.count;
  }
  [[nodiscard]] GrowthPolicy policy() const {
    return GrowthPolicy{device.granularity().count, budget()};
  }

  // Whether `stream` is being captured, or one that a private pool serves: nothing may then wait
  // for the device or record an event on all of it, which would spoil the capture. The driver is
  // asked only while there are private pools.
  [[nodiscard]] bool captures(StreamRef stream) const;
  [[nodiscard]] bool captures_anything() const;

  // Physical memory of the pool by use, each byte once; see DevicePoolStats.
  struct Usage {
    std::uint64_t live = 0;    // chunks that a live block touches
    std::uint64_t fenced = 0;  // chunks that none but fenced blocks touch
    std::uint64_t idle = 0;    // the rest
    std::uint64_t slack = 0;   // bytes of live chunks in no block
  };
  [[nodiscard]] Usage usage() const;  // linear
};

// While it lives, what the pool asks of the driver is kept apart from captures, where there can be
// any.
class ApartFromCaptures {
 public:
  explicit ApartFromCaptures(const PoolState& state) {
    if (!state.private_pools.empty()) outside_.emplace(state.device.driver());
  }

 private:
  std::optional<OutsideCaptures> outside_;
};

}  // namespace ferry
