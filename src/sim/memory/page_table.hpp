// SPDX-License-Identifier: Apache-2.0
// Which device addresses lead to which physical memory, and which devices may use them. One entry
// per mapping: a cuMemMap, or one cuMemAlloc or cuMemAllocAsync with the exact size that was asked
// for, or a module's variable, or an allocation of another process that was opened or imported
// here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "sim/memory/physical_memory.hpp"
#include "sim/words/settings.hpp"

namespace ferry::sim {

// The values of CUmemAccess_flags.
enum class Access : std::uint8_t { none = 0, read = 1, read_write = 3 };

// Rights of every device, two bits each.
class AccessRights {
 public:
  [[nodiscard]] static AccessRights everyone() {
    AccessRights rights;
    rights.bits_ = ~std::uint64_t{0};
    return rights;
  }
  [[nodiscard]] Access of(int device) const {
    return static_cast<Access>((bits_ >> (2 * device)) & 3U);
  }
  void set(int device, Access access) {
    bits_ &= ~(std::uint64_t{3} << (2 * device));
    bits_ |= static_cast<std::uint64_t>(access) << (2 * device);
  }

 private:
  static_assert(kMaxDevices * 2 <= 64);
  std::uint64_t bits_ = 0;
};

struct Mapping {
  // The bytes of the last three do not end with the mapping. A variable is one of a module.
  enum class Kind : std::uint8_t {
    allocation,
    variable,
    pool_allocation,
    virtual_memory,
    opened,
    imported,
  };

  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::shared_ptr<PhysicalBlock> block;
  std::uint64_t offset = 0;  // into the block
  AccessRights rights;
  Kind kind = Kind::virtual_memory;
  std::uint64_t context = 0;                // handle of the owning context; 0 for virtual memory
  std::uint64_t buffer_id = 0;              // never reused
  std::uint64_t pool = 0;                   // handle of the pool that it is from; 0: from none
  std::shared_ptr<const std::string> name;  // of a variable; null for others
  bool sync_memops = false;                 // fills and copies by plain names wait for their end
  // A call freed it in the order of a stream. Work from before that call may still use it, later
  // work may not, and for questions about addresses it is gone.
  bool freed = false;
  std::uint64_t freed_by = 0;  // the number of that operation; 0: freed outside of all order

  [[nodiscard]] std::uint64_t end() const { return start + size; }
  // Plain memory of a context (allocations.hpp).
  [[nodiscard]] bool is_plain() const { return kind == Kind::allocation || kind == Kind::variable; }
  void end_in_order(std::uint64_t operation) {
    freed = true;
    freed_by = operation;
  }
};

class PageTable {
 public:
  using Mappings = std::map<std::uint64_t, Mapping>;  // by start address
  // Whole mappings, one after the other without a gap. Empty when a range is not made of such.
  struct Run {
    Mappings::iterator first;
    Mappings::iterator last;  // one past
    [[nodiscard]] bool empty() const { return first == last; }
  };

  // Requires: no part of it is mapped. Gives the mapping its buffer_id.
  Mapping& add(Mapping mapping);
  void remove(Mappings::iterator first, Mappings::iterator last) { mappings_.erase(first, last); }

  [[nodiscard]] Mapping* find(std::uint64_t address);  // the mapping that contains it, or null
  [[nodiscard]] Mapping* find_living(std::uint64_t address);  // the same, save for what was freed
  [[nodiscard]] bool any_in(std::uint64_t start, std::uint64_t size);
  [[nodiscard]] Run whole_mappings(std::uint64_t start, std::uint64_t size);

  // True when `device` may use all of [address, +bytes). A range may run on from one mapping of
  // virtual memory into the next, but never leave an allocation.
  [[nodiscard]] bool allows(int device, Access access, std::uint64_t address, std::uint64_t bytes);

  // Calls visit(mapping, offset in its block, bytes) along a range. Requires: the range is mapped.
  template <typename Visit>
  void visit(std::uint64_t address, std::uint64_t bytes, Visit&& visit) {
    while (bytes > 0) {
      Mapping& mapping = *find(address);
      const std::uint64_t step = std::min(bytes, mapping.end() - address);
      visit(mapping, mapping.offset + (address - mapping.start), step);
      address += step;
      bytes -= step;
    }
  }

  [[nodiscard]] Mappings& mappings() { return mappings_; }

 private:
  Mappings mappings_;
  std::uint64_t next_buffer_id_ = 1;
};

}  // namespace ferry::sim
