// SPDX-License-Identifier: Apache-2.0
// Device memory as the host may read and write it: the same bytes at a second address. All such
// addresses lie at one distance from the device's own, so that neighbours stay neighbours; device
// addresses themselves still fault. What is written there is seen by no check.
//
// Owned by the machine; requires the library's lock, save for the bytes themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "sim/memory/address_space.hpp"
#include "sim/memory/page_table.hpp"
#include "sim/memory/physical_memory.hpp"

namespace ferry::sim {

class HostViews {
 public:
  HostViews(const AddressSpace& addresses, PageTable& pages, PhysicalMemory& physical)
      : addresses_(addresses), pages_(pages), physical_(physical) {}

  // Where the host finds the range, until its memory is freed or unmapped. Null where a part is not
  // mapped, is shared with other processes, or shares a page that lies elsewhere in the other
  // address (of memory pools); and where the system refuses. Requires: bytes > 0.
  [[nodiscard]] std::byte* view(std::uint64_t address, std::uint64_t bytes);

 private:
  // Pages that the mirror shows.
  struct Piece {
    std::uint64_t block = 0;  // id
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;

    friend bool operator==(const Piece&, const Piece&) = default;
  };

  [[nodiscard]] bool show(const Mapping& mapping, std::uint64_t address, std::uint64_t bytes);

  const AddressSpace& addresses_;
  PageTable& pages_;
  PhysicalMemory& physical_;
  std::map<std::uint64_t, Piece> shown_;  // by device address
};

}  // namespace ferry::sim
