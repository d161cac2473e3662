// SPDX-License-Identifier: Apache-2.0
// Copies and fills before they have a name: what the exported functions of all kinds share. Every
// one is queued; those that cuda.h calls synchronous with the host are run to their end before the
// call returns. Each function here passes the gate itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/machine/stream_access.hpp"

namespace ferry::sim {

[[nodiscard]] inline std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

// Addresses that a device may be given: its own, and host memory that the driver knows.
[[nodiscard]] inline bool is_device_side(const Machine& machine, std::uint64_t address,
                                         std::uint64_t bytes) {
  return machine.addresses.contains(address) || machine.host.covers(address, bytes);
}

[[nodiscard]] inline bool wraps(std::uint64_t address, std::uint64_t bytes) {
  return address + bytes < address;
}

// How long a copy waits that is synchronous by its name: from device memory to device memory not at
// all, save where the program asked for it; from pageable memory to the device, only until that was
// read.
[[nodiscard]] Wait wait_of_plain_copy(Machine& machine, std::span<const Touch> touches);

struct CopyRequest {
  std::uint64_t destination = 0;
  std::uint64_t source = 0;
  std::uint64_t bytes = 0;
  bool device_destination = false;  // the caller says that this side is the device's
  bool device_source = false;
};
[[nodiscard]] CUresult copy(Symbol symbol, const CopyRequest& request, CUstream stream,
                            bool asynchronous);

struct FillRequest {
  Rectangle destination;
  std::uint32_t element = 0;
  std::uint64_t element_bytes = 0;
  std::uint64_t width = 0;  // in elements
  std::uint64_t rows = 0;
};
// What a fill does, before it has a stream. Requires: it is not empty.
[[nodiscard]] CUresult prepare_fill(Call& call, Symbol symbol, const FillRequest& request,
                                    Submission& out);
[[nodiscard]] CUresult fill(Symbol symbol, const FillRequest& request, CUstream stream,
                            bool asynchronous);

[[nodiscard]] CUresult copy_2d(Symbol symbol, const CUDA_MEMCPY2D* request, CUstream stream,
                               bool asynchronous);

// What a copy of layers does, before it has a stream. An empty one does nothing: `out` has no work
// then.
[[nodiscard]] CUresult prepare_copy_3d(Call& call, Symbol symbol, const CUDA_MEMCPY3D& request,
                                       Submission& out);
[[nodiscard]] CUresult copy_3d(Symbol symbol, const CUDA_MEMCPY3D* request, CUstream stream,
                               bool asynchronous);
[[nodiscard]] CUresult copy_3d_peer(Symbol symbol, const CUDA_MEMCPY3D_PEER* request,
                                    CUstream stream, bool asynchronous);

// Adds the rows of a rectangle, as one range where nothing lies between them.
void add_touches(std::vector<Touch>& touches, AccessKind kind, Rectangle rectangle,
                 std::uint64_t width, std::uint64_t rows, std::uint32_t member = kNoMember);
void add_touches(std::vector<Touch>& touches, AccessKind kind, const Box& box, const Extent& extent,
                 std::uint32_t member = kNoMember);

}  // namespace ferry::sim
