// SPDX-License-Identifier: Apache-2.0
// Copies and fills between any two addresses of the process, host or device: what a copy engine
// does when its turn comes. Rights are checked for a whole request before its first byte moves; a
// device address that leads nowhere or is not accessible gives CUDA_ERROR_ILLEGAL_ADDRESS.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/memory/address_space.hpp"
#include "sim/memory/page_table.hpp"
#include "sim/memory/physical_memory.hpp"
#include "sim/words/cuda_api.hpp"

namespace ferry::sim {

struct Rectangle {
  std::uint64_t start = 0;
  std::uint64_t pitch = 0;
};

// Rows in layers: a rectangle at each multiple of `layer_pitch`.
struct Box {
  std::uint64_t start = 0;
  std::uint64_t pitch = 0;
  std::uint64_t layer_pitch = 0;

  [[nodiscard]] Rectangle layer(std::uint64_t number) const {
    return {start + number * layer_pitch, pitch};
  }
};
struct Extent {
  std::uint64_t width = 0;  // in bytes
  std::uint64_t rows = 1;
  std::uint64_t layers = 1;
};

// The devices whose rights count at either end of a copy: one device, save where a copy names two
// contexts.
struct Reach {
  Reach(int device) : destination(device), source(device) {}  // NOLINT: a device is a reach
  Reach(int destination_device, int source_device)
      : destination(destination_device), source(source_device) {}

  int destination;
  int source;
};

class MemoryOperations {
 public:
  MemoryOperations(const AddressSpace& addresses, PhysicalMemory& physical, PageTable& pages)
      : addresses_(addresses), physical_(physical), pages_(pages) {}

  // Whether `device` may access all of a range of device memory; true where it is the host's.
  [[nodiscard]] bool may(int device, Access access, std::uint64_t address, std::uint64_t bytes);

  // All run on `device`. Requires: host ranges are memory that this process may access.
  [[nodiscard]] CUresult copy(Reach reach, std::uint64_t destination, std::uint64_t source,
                              std::uint64_t bytes);
  [[nodiscard]] CUresult copy_rows(Reach reach, Rectangle destination, Rectangle source,
                                   std::uint64_t width, std::uint64_t rows);
  [[nodiscard]] CUresult copy_box(Reach reach, const Box& destination, const Box& source,
                                  const Extent& extent);
  // Fills `rows` rows of `width` bytes with a repeated element of `element_bytes` (1, 2 or 4).
  [[nodiscard]] CUresult fill_rows(int device, Rectangle destination, std::uint32_t element,
                                   std::uint64_t element_bytes, std::uint64_t width,
                                   std::uint64_t rows);

  // The device memory reads as never written again. Nothing where `device` may not write it.
  [[nodiscard]] CUresult discard(int device, std::uint64_t address, std::uint64_t bytes);

  // A word of 4 or 8 bytes, read and written at once. Nothing where `device` may not read it.
  // Requires: the address is a multiple of the size; load_word: there is data.
  [[nodiscard]] std::optional<std::uint64_t> load_word(int device, std::uint64_t address,
                                                       std::uint64_t bytes);
  [[nodiscard]] CUresult store_word(int device, std::uint64_t address, std::uint64_t value,
                                    std::uint64_t bytes);

  // Device memory to the host, whatever the rights. False where a part is not mapped, or without
  // data.
  [[nodiscard]] bool peek(std::uint64_t address, std::byte* out, std::uint64_t bytes);

 private:
  [[nodiscard]] CUresult move(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes);
  [[nodiscard]] CUresult write(std::uint64_t destination, const std::byte* source,
                               std::uint64_t bytes);
  void read(std::byte* destination, std::uint64_t source, std::uint64_t bytes);

  const AddressSpace& addresses_;
  PhysicalMemory& physical_;
  PageTable& pages_;
};

}  // namespace ferry::sim
