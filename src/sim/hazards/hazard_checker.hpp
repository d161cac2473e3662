// SPDX-License-Identifier: Apache-2.0
// Finds touches that nothing orders. Every operation's touches are noted when it is queued, with
// the clock of what is known to have ended before it; two of them collide when they share physical
// bytes, one of them writes, and neither is in the clock of the other. So a hazard is found under
// every schedule, whether or not the operations happened to run in an order that gave right bytes.
//
// What any thread of the host has seen complete comes before every later call of every thread: a
// buffer handed over between threads by a mutex gives no false alarm.
// What it CANNOT see: what the host itself reads or writes (but see HostContents), and memory that
// was not mapped yet when an operation on it was queued.
//
// Owned by the machine; requires the library's lock.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/hazards/access_map.hpp"
#include "sim/hazards/hazard_log.hpp"
#include "sim/hazards/hazard_report.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/memory/page_table.hpp"

namespace ferry::sim {

class HazardChecker {
 public:
  HazardChecker(const AddressSpace& addresses, PageTable& pages, HazardLog& log)
      : addresses_(addresses), pages_(pages), log_(log) {}

  // An operation was queued; `before`: its clock. `who.kind` and `who.member` are those of each
  // access. `seen`: what the host has seen complete.
  void note(Toucher who, std::span<const Touch> touches, const Clock& before, const Clock& seen);

  // The host ends a mapping by `call`: has freed or unmapped it.
  void note_end(Ending call, const Mapping& mapping, const Clock& seen);
  // A framework gives this memory back to its own allocator; `before`: what that may rely on.
  void note_release(const StorageEnd& end, std::uint64_t address, std::uint64_t bytes,
                    const Clock& before);
  // The memory goes by the order of streams, or is known to be unused.
  void forget_mapping(const Mapping& mapping);
  // The mapping goes, but its bytes stay and may serve others.
  void forget_users(const Mapping& mapping) { users_.erase(mapping.buffer_id); }
  // The host takes page-locked memory away.
  void note_host_end(Ending call, std::uint64_t address, std::uint64_t bytes, const Clock& seen);

  // The host wrote into memory that a queued operation reads or writes.
  void note_changed_memory(const Toucher& who, const Touch& touch);
  // The host unmapped such memory.
  void note_gone_memory(const Toucher& who, const Touch& touch);

  [[nodiscard]] bool is_on() const { return log_.is_on(); }
  // True when an operation that the host has not seen complete writes into this host memory.
  [[nodiscard]] bool is_being_written(std::uint64_t address, std::uint64_t bytes,
                                      const Clock& seen) const {
    return touched_.is_written(address, address + bytes, seen);
  }

 private:
  // Two members of one batch that have collided: that is one hazard, however many ranges they
  // share.
  using Pairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;

  void note_range(Toucher who, const Touch& touch, std::uint64_t position, const MemoryPlace& place,
                  const Clock& before, Pairs& collided);
  void note_use_after_free(const Toucher& who, const MemoryPlace& place);
  void note_early_end(const Toucher& user, const Ending& call, const MemoryPlace& place);
  void remember_user(std::uint64_t mapping, const Toucher& who, const Touch& touch,
                     const Clock& before);
  void prune_when_large(const Clock& seen);

  const AddressSpace& addresses_;
  PageTable& pages_;
  HazardLog& log_;
  AccessMap touched_;
  // The newest operation of each lane that went through a mapping, by the mapping's buffer_id.
  std::unordered_map<std::uint64_t, std::vector<Toucher>> users_;
  std::size_t prune_at_ = 256;
};

}  // namespace ferry::sim
