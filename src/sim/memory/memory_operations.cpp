// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/memory_operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <span>

namespace ferry::sim {

namespace {

// What a fill or a copy of never-written memory is made from; long enough to keep the loops short.
constexpr std::size_t kPatternBytes = kPageBytes;
using Pattern = std::array<std::byte, kPatternBytes>;

// Repeats the element over `out`, whose size is a multiple of the element's.
void repeat(std::uint32_t element, std::uint64_t element_bytes, std::span<std::byte> out) {
  std::memcpy(out.data(), &element, element_bytes);  // little-endian: a byte is the low one
  for (std::size_t done = element_bytes; done < out.size(); done *= 2) {
    std::memcpy(out.data() + done, out.data(), std::min(done, out.size() - done));
  }
}

Pattern make_pattern(unsigned char byte) {
  Pattern pattern;
  repeat(byte, 1, pattern);
  return pattern;
}

std::byte* host_pointer(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(address);
}

CUresult backing_used_up() {
  fmt::print(stderr, "ferry-sim: no room for more written device memory on this machine\n");
  return CUDA_ERROR_UNKNOWN;
}

}  // namespace

CUresult MemoryOperations::copy(Reach reach, std::uint64_t destination, std::uint64_t source,
                                std::uint64_t bytes) {
  return copy_rows(reach, {destination, bytes}, {source, bytes}, bytes, 1);
}

CUresult MemoryOperations::copy_rows(Reach reach, Rectangle destination, Rectangle source,
                                     std::uint64_t width, std::uint64_t rows) {
  return copy_box(reach, {destination.start, destination.pitch, 0}, {source.start, source.pitch, 0},
                  {width, rows, 1});
}

CUresult MemoryOperations::copy_box(Reach reach, const Box& destination, const Box& source,
                                    const Extent& extent) {
  // Calls visit(destination, source) for each row until it is not successful.
  const auto each_row = [&](auto&& visit) {
    for (std::uint64_t number = 0; number < extent.layers; ++number) {
      const Rectangle to = destination.layer(number);
      const Rectangle from = source.layer(number);
      for (std::uint64_t row = 0; row < extent.rows; ++row) {
        const CUresult result = visit(to.start + row * to.pitch, from.start + row * from.pitch);
        if (result != CUDA_SUCCESS) return result;
      }
    }
    return CUDA_SUCCESS;
  };
  const CUresult refused = each_row([&](std::uint64_t to, std::uint64_t from) {
    return may(reach.destination, Access::read_write, to, extent.width) &&
                   may(reach.source, Access::read, from, extent.width)
               ? CUDA_SUCCESS
               : CUDA_ERROR_ILLEGAL_ADDRESS;
  });
  if (refused != CUDA_SUCCESS || !physical_.with_data()) return refused;
  return each_row(
      [&](std::uint64_t to, std::uint64_t from) { return move(to, from, extent.width); });
}

CUresult MemoryOperations::fill_rows(int device, Rectangle destination, std::uint32_t element,
                                     std::uint64_t element_bytes, std::uint64_t width,
                                     std::uint64_t rows) {
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (!may(device, Access::read_write, destination.start + row * destination.pitch, width)) {
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
  }
  if (!physical_.with_data() || width == 0) return CUDA_SUCCESS;
  Pattern pattern;
  repeat(element, element_bytes, std::span(pattern).first(std::min(width, kPatternBytes)));
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t start = destination.start + row * destination.pitch;
    for (std::uint64_t done = 0; done < width;) {
      const std::uint64_t step = std::min(width - done, kPatternBytes);
      if (const CUresult result = write(start + done, pattern.data(), step);
          result != CUDA_SUCCESS) {
        return result;
      }
      done += step;
    }
  }
  return CUDA_SUCCESS;
}

CUresult MemoryOperations::discard(int device, std::uint64_t address, std::uint64_t bytes) {
  if (!addresses_.contains(address) || !may(device, Access::read_write, address, bytes))
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  if (!physical_.with_data()) return CUDA_SUCCESS;
  pages_.visit(address, bytes, [&](Mapping& mapping, std::uint64_t offset, std::uint64_t length) {
    physical_.discard(*mapping.block, offset, length);
  });
  return CUDA_SUCCESS;
}

std::optional<std::uint64_t> MemoryOperations::load_word(int device, std::uint64_t address,
                                                         std::uint64_t bytes) {
  if (!may(device, Access::read, address, bytes)) return std::nullopt;
  if (!addresses_.contains(address)) {  // the program's threads may write it meanwhile
    return bytes == 4
               ? __atomic_load_n(reinterpret_cast<std::uint32_t*>(address), __ATOMIC_ACQUIRE)
               : __atomic_load_n(reinterpret_cast<std::uint64_t*>(address), __ATOMIC_ACQUIRE);
  }
  std::uint64_t value = 0;
  read(reinterpret_cast<std::byte*>(&value), address, bytes);
  return value;
}

CUresult MemoryOperations::store_word(int device, std::uint64_t address, std::uint64_t value,
                                      std::uint64_t bytes) {
  if (!may(device, Access::read_write, address, bytes)) return CUDA_ERROR_ILLEGAL_ADDRESS;
  if (!physical_.with_data()) return CUDA_SUCCESS;
  if (addresses_.contains(address))
    return write(address, reinterpret_cast<const std::byte*>(&value), bytes);
  if (bytes == 4) {
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(address), static_cast<std::uint32_t>(value),
                     __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(address), value, __ATOMIC_RELEASE);
  }
  return CUDA_SUCCESS;
}

bool MemoryOperations::peek(std::uint64_t address, std::byte* out, std::uint64_t bytes) {
  if (!physical_.with_data()) return false;
  for (std::uint64_t done = 0; done < bytes;) {
    const Mapping* const mapping = pages_.find(address + done);
    if (mapping == nullptr) return false;
    done += std::min(bytes - done, mapping->end() - (address + done));
  }
  read(out, address, bytes);
  return true;
}

bool MemoryOperations::may(int device, Access access, std::uint64_t address, std::uint64_t bytes) {
  if (!addresses_.contains(address)) return true;
  return pages_.allows(device, access, address, bytes);
}

CUresult MemoryOperations::move(std::uint64_t destination, std::uint64_t source,
                                std::uint64_t bytes) {
  if (!addresses_.contains(source)) return write(destination, host_pointer(source), bytes);
  if (!addresses_.contains(destination)) {
    read(host_pointer(destination), source, bytes);
    return CUDA_SUCCESS;
  }
  // Device to device, page by page: pages that were never written have no bytes to point to.
  static const Pattern poison = make_pattern(kPoison);
  static const Pattern zeros = make_pattern(0);
  CUresult result = CUDA_SUCCESS;
  pages_.visit(source, bytes, [&](Mapping& mapping, std::uint64_t offset, std::uint64_t length) {
    while (length > 0 && result == CUDA_SUCCESS) {
      const std::uint64_t step = std::min(length, kPageBytes - offset % kPageBytes);
      const std::byte* const page = physical_.peek_page(*mapping.block, offset);
      const Pattern& unwritten = mapping.block->unwritten() == 0 ? zeros : poison;
      result = write(destination, page != nullptr ? page : unwritten.data(), step);
      destination += step;
      offset += step;
      length -= step;
    }
  });
  return result;
}

CUresult MemoryOperations::write(std::uint64_t destination, const std::byte* source,
                                 std::uint64_t bytes) {
  if (!addresses_.contains(destination)) {
    std::memmove(host_pointer(destination), source, bytes);
    return CUDA_SUCCESS;
  }
  CUresult result = CUDA_SUCCESS;
  pages_.visit(destination, bytes,
               [&](Mapping& mapping, std::uint64_t offset, std::uint64_t length) {
                 while (length > 0 && result == CUDA_SUCCESS) {
                   const std::uint64_t step = std::min(length, kFrameBytes - offset % kFrameBytes);
                   std::byte* const room = physical_.open_for_write(*mapping.block, offset, step);
                   if (room == nullptr) {
                     result = backing_used_up();
                     return;
                   }
                   std::memmove(room, source, step);
                   source += step;
                   offset += step;
                   length -= step;
                 }
               });
  return result;
}

void MemoryOperations::read(std::byte* destination, std::uint64_t source, std::uint64_t bytes) {
  pages_.visit(source, bytes, [&](Mapping& mapping, std::uint64_t offset, std::uint64_t length) {
    physical_.read(*mapping.block, offset, destination, length);
    destination += length;
  });
}

}  // namespace ferry::sim
