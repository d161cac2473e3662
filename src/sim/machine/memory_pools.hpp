// SPDX-License-Identifier: Apache-2.0
// The pools of the stream-ordered allocator: which memory they hold, which of it may serve again,
// and when it goes back to the device. Owned by the machine; requires the library's lock.
//
// Every allocation has an address of its own, also where it takes over the memory of another one:
// work that was queued before a free still finds the old address, and work queued after it is found
// out. Memory goes back to the device only when the host has seen the frees of all of it end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sim/hazards/hazard_checker.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/memory/page_table.hpp"
#include "sim/memory/physical_memory.hpp"
#include "sim/memory/pool_space.hpp"
#include "sim/order/stream_engine.hpp"
#include "sim/words/handles.hpp"

namespace ferry::sim {

// Memory that was freed. Its old address stays while nothing else needs the memory.
struct FreedMemory {
  std::uint64_t address = 0;
  Ticket free;  // null: the host vouches that nothing uses it
  bool mapped = true;
};
using FreedMemoryRef = std::shared_ptr<FreedMemory>;

struct MemoryPool {
  std::uint64_t handle = 0;
  int device = 0;
  std::uint64_t max_size = 0;  // 0: as much as the device has
  bool destroyed = false;      // only waits for its last allocations
  bool follow_events = true;
  bool opportunistic = true;
  bool internal_dependencies = true;
  std::uint64_t release_threshold = 0;
  AccessRights rights;
  unsigned handle_types = 0;  // CUmemAllocationHandleType; with any, memory stays until the end
  // The file that all its blocks lie in, once it was exported; or that it was imported by.
  std::shared_ptr<SharedMemory> shared;
  std::uint64_t shared_used = 0;  // bytes of the file that were ever given to blocks
  bool imported = false;          // holds only what was imported into it, and counts only that
  PoolSpace<FreedMemoryRef> space;
  std::map<std::uint64_t, PoolPlace> live;  // by address
};

class MemoryPools {
 public:
  // Blocks are as large as a multiple of this while the device has that much.
  static constexpr std::uint64_t kBlockStep = std::uint64_t{32} << 20;

  struct Parts {
    AddressSpace& addresses;
    PhysicalMemory& physical;
    PageTable& pages;
    HazardChecker& hazards;
    StreamEngine& engine;
  };
  MemoryPools(const Parts& parts, int devices);

  // Null for a handle of no pool, or of one that was destroyed.
  [[nodiscard]] MemoryPool* find(std::uint64_t handle);
  [[nodiscard]] MemoryPool& default_of(int device) { return *at(device).own; }
  [[nodiscard]] MemoryPool& current_of(int device) { return *at(device).current; }
  void set_current(MemoryPool& pool) { at(pool.device).current = &pool; }
  [[nodiscard]] bool is_default(const MemoryPool& pool) { return at(pool.device).own == &pool; }

  [[nodiscard]] MemoryPool& create(int device, std::uint64_t max_size);
  // Moves all blocks into a file, where they are not in one yet; those to come follow. False when
  // the system has no more files or memory.
  [[nodiscard]] bool share(MemoryPool& pool, SharedDescription description);
  [[nodiscard]] MemoryPool& import_pool(std::shared_ptr<SharedMemory> shared, int device,
                                        unsigned handle_types);
  // An address for an allocation of the other pool. Nothing when addresses are used up.
  [[nodiscard]] std::optional<std::uint64_t> import_memory(MemoryPool& pool, const Offer& offer);

  // What is allocated stays until it is freed. Requires: not a default pool.
  void destroy(MemoryPool& pool);
  void set_access(MemoryPool& pool, int device, Access access);

  struct Allocation {
    std::uint64_t address = 0;
    std::vector<Ticket> after;  // the frees that must have ended before the memory may be used
  };
  // Memory for the next operation of `stream`. Nothing when the pool may not or cannot have more.
  [[nodiscard]] std::optional<Allocation> allocate(MemoryPool& pool, const Stream& stream,
                                                   std::uint64_t bytes);
  // A free was queued: the memory serves others in its order.
  void free_after(const Mapping& mapping, const Ticket& free);
  // The host vouches that nothing uses the memory any more.
  void free_now(const Mapping& mapping);

  // The host has waited for work: pools above their thresholds give memory back.
  void release_unused();
  // Nothing for a pool that may be shared: other processes could hold any part of its memory.
  void trim(MemoryPool& pool, std::uint64_t keep);
  // The last context of a device is gone: so is all memory of its pools.
  void forget_memory_of(int device);

 private:
  struct OfDevice {
    MemoryPool* own = nullptr;
    MemoryPool* current = nullptr;
  };

  [[nodiscard]] OfDevice& at(int device) { return devices_[static_cast<std::size_t>(device)]; }
  [[nodiscard]] bool is_seen(const FreedMemory& freed) const;
  [[nodiscard]] bool may_use_now(const MemoryPool& pool, const Stream& stream, const Clock& before,
                                 const FreedMemory& freed);
  void let_go(MemoryPool& pool, std::uint64_t keep);
  [[nodiscard]] bool move_into_file(MemoryPool& pool, const std::shared_ptr<PhysicalBlock>& block);
  void end_imported(MemoryPool& pool, const Mapping& mapping, Ticket free);
  [[nodiscard]] bool grow(MemoryPool& pool, std::uint64_t bytes);
  void give(const Mapping& mapping, Ticket free);
  void unmap(FreedMemory& freed);
  void unmap_all(const std::vector<FreedMemoryRef>& all);
  void sweep();

  Parts parts_;
  HandleMaker handles_{HandleKind::pool};
  std::map<std::uint64_t, std::unique_ptr<MemoryPool>> pools_;  // by handle
  std::vector<OfDevice> devices_;
  std::vector<FreedMemoryRef> leaving_;  // to be unmapped when their free has run
};

}  // namespace ferry::sim
