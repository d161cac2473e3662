// SPDX-License-Identifier: Apache-2.0
// Exported: copies of rows and of layers of rows.
#include <algorithm>
#include <limits>

#include "sim/exports/copies.hpp"
#include "sim/machine/peer_access.hpp"
#include "sim/machine/pointer_attributes.hpp"

namespace ferry::sim {

namespace {

// One side of a copy of rows.
struct Side {
  CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
  const void* host = nullptr;
  CUdeviceptr device = 0;
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::uint64_t z = 0;
  std::uint64_t pitch = 0;
  std::uint64_t height = 0;  // of a layer, in rows
};

CUresult check_shape(const Side& side, const Extent& extent) {
  if (side.type == CU_MEMORYTYPE_ARRAY) return CUDA_ERROR_NOT_SUPPORTED;
  if (side.type != CU_MEMORYTYPE_HOST && side.type != CU_MEMORYTYPE_DEVICE &&
      side.type != CU_MEMORYTYPE_UNIFIED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  constexpr std::uint64_t kLimit =
      std::numeric_limits<std::int32_t>::max();  // CU_DEVICE_ATTRIBUTE_MAX_PITCH
  for (const std::uint64_t figure : {side.pitch, side.height, side.x, side.y, side.z, extent.width,
                                     extent.rows, extent.layers}) {
    if (figure > kLimit) return CUDA_ERROR_INVALID_VALUE;
  }
  const bool needs_pitch = side.pitch != 0 || extent.rows > 1 || extent.layers > 1;
  if (needs_pitch && side.pitch < side.x + extent.width) return CUDA_ERROR_INVALID_VALUE;
  const bool needs_height = side.height != 0 || extent.layers > 1;
  if (needs_height && side.height < side.y + extent.rows) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

// Where the rows of a side begin, or why the side is not valid. Requires: the extent is not empty.
CUresult box_of(const Machine& machine, const Side& side, const Extent& extent, Box& out) {
  if (const CUresult result = check_shape(side, extent); result != CUDA_SUCCESS) return result;
  const std::uint64_t base = side.type == CU_MEMORYTYPE_HOST ? address_of(side.host) : side.device;
  const std::uint64_t layer = side.pitch * side.height;
  std::uint64_t first_layer = 0;
  std::uint64_t touched = 0;
  if (__builtin_mul_overflow(side.z, layer, &first_layer) ||
      __builtin_mul_overflow(extent.layers - 1, layer, &touched)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::uint64_t skipped = side.y * side.pitch + side.x;
  const std::uint64_t in_layer = (extent.rows - 1) * side.pitch + extent.width;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  if (base == 0 || __builtin_add_overflow(base, first_layer, &start) ||
      __builtin_add_overflow(start, skipped, &start) ||
      __builtin_add_overflow(touched, in_layer, &touched) ||
      __builtin_add_overflow(start, touched, &end)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  out = {start, side.pitch, layer};
  if (side.type == CU_MEMORYTYPE_DEVICE && !is_device_side(machine, start, touched))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

struct BoxRequest {
  Side destination;
  Side source;
  Extent extent;
};

// `contexts`: where the two sides are, for a copy that names them; else both are the stream's.
struct Ends {
  int destination = -1;
  int source = -1;
};

bool is_empty(const Extent& extent) {
  return extent.width == 0 || extent.rows == 0 || extent.layers == 0;
}

// The copy as a graph describes it.
CUDA_MEMCPY3D params_of(const BoxRequest& request) {
  const auto& [destination, source, extent] = request;
  CUDA_MEMCPY3D params{};
  params.srcMemoryType = source.type;
  params.srcHost = source.host;
  params.srcDevice = source.device;
  params.srcXInBytes = source.x;
  params.srcY = source.y;
  params.srcZ = source.z;
  params.srcPitch = source.pitch;
  params.srcHeight = source.height;
  params.dstMemoryType = destination.type;
  params.dstHost = const_cast<void*>(destination.host);
  params.dstDevice = destination.device;
  params.dstXInBytes = destination.x;
  params.dstY = destination.y;
  params.dstZ = destination.z;
  params.dstPitch = destination.pitch;
  params.dstHeight = destination.height;
  params.WidthInBytes = extent.width;
  params.Height = extent.rows;
  params.Depth = extent.layers;
  return params;
}

CUresult prepare_box(Call& call, Symbol symbol, const BoxRequest& request, const Ends& ends,
                     Submission& out) {
  const Extent extent = request.extent;
  Machine& machine = call.machine;
  Box source;
  Box destination;
  if (const CUresult result = box_of(machine, request.source, extent, source);
      result != CUDA_SUCCESS) {
    return result;
  }
  if (const CUresult result = box_of(machine, request.destination, extent, destination);
      result != CUDA_SUCCESS) {
    return result;
  }
  out.symbol = symbol;
  add_touches(out.touches, AccessKind::read, source, extent);
  add_touches(out.touches, AccessKind::write, destination, extent);
  out.work = [&machine, destination, source, extent, ends](int device) {
    const Reach reach = ends.destination < 0
                            ? reach_of_copy(machine, device, destination.start, source.start)
                            : Reach(ends.destination, ends.source);
    return machine.operations.copy_box(reach, destination, source, extent);
  };
  out.node = CopyNode{params_of(request)};
  return CUDA_SUCCESS;
}

CUresult submit_box(Call& call, Symbol symbol, const BoxRequest& request, const Ends& ends,
                    CUstream stream, bool asynchronous) {
  if (is_empty(request.extent)) return CUDA_SUCCESS;
  Submission submission;
  if (const CUresult result = prepare_box(call, symbol, request, ends, submission);
      result != CUDA_SUCCESS) {
    return result;
  }
  submission.stream = stream;
  if (!asynchronous) submission.wait = wait_of_plain_copy(call.machine, submission.touches);
  return submit(call, std::move(submission));
}

BoxRequest request_of(const CUDA_MEMCPY2D& copy) {
  BoxRequest request;
  request.source = {copy.srcMemoryType, copy.srcHost,
                    copy.srcDevice,     copy.srcXInBytes,
                    copy.srcY,          0,
                    copy.srcPitch,      0};
  request.destination = {copy.dstMemoryType, copy.dstHost,
                         copy.dstDevice,     copy.dstXInBytes,
                         copy.dstY,          0,
                         copy.dstPitch,      0};
  request.extent = {copy.WidthInBytes, copy.Height, 1};
  return request;
}

// CUDA_MEMCPY3D or CUDA_MEMCPY3D_PEER: they have these members in common.
template <typename Copy>
BoxRequest request_of_3d(const Copy& copy) {
  BoxRequest request;
  request.source = {copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcXInBytes,
                    copy.srcY,          copy.srcZ,    copy.srcPitch,  copy.srcHeight};
  request.destination = {copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstXInBytes,
                         copy.dstY,          copy.dstZ,    copy.dstPitch,  copy.dstHeight};
  request.extent = {copy.WidthInBytes, copy.Height, copy.Depth};
  return request;
}

}  // namespace

void add_touches(std::vector<Touch>& touches, AccessKind kind, const Box& box, const Extent& extent,
                 std::uint32_t member) {
  for (std::uint64_t number = 0; number < extent.layers; ++number)
    add_touches(touches, kind, box.layer(number), extent.width, extent.rows, member);
}

CUresult copy_2d(Symbol symbol, const CUDA_MEMCPY2D* request, CUstream stream, bool asynchronous) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    if (request == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return submit_box(call, symbol, request_of(*request), {}, stream, asynchronous);
  });
}

namespace {

bool is_known(const CUDA_MEMCPY3D& request) {
  return request.srcLOD == 0 && request.dstLOD == 0 && request.reserved0 == nullptr &&
         request.reserved1 == nullptr;
}

}  // namespace

CUresult prepare_copy_3d(Call& call, Symbol symbol, const CUDA_MEMCPY3D& request, Submission& out) {
  const BoxRequest box = request_of_3d(request);
  out.node = CopyNode{request};
  if (!is_known(request)) return CUDA_ERROR_INVALID_VALUE;
  return is_empty(box.extent) ? CUDA_SUCCESS : prepare_box(call, symbol, box, {}, out);
}

CUresult copy_3d(Symbol symbol, const CUDA_MEMCPY3D* request, CUstream stream, bool asynchronous) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    if (request == nullptr || !is_known(*request)) return CUDA_ERROR_INVALID_VALUE;
    return submit_box(call, symbol, request_of_3d(*request), {}, stream, asynchronous);
  });
}

CUresult copy_3d_peer(Symbol symbol, const CUDA_MEMCPY3D_PEER* request, CUstream stream,
                      bool asynchronous) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    if (request == nullptr || request->srcLOD != 0 || request->dstLOD != 0)
      return CUDA_ERROR_INVALID_VALUE;
    const Context* const destination = call.machine.contexts.find(value_of(request->dstContext));
    const Context* const source = call.machine.contexts.find(value_of(request->srcContext));
    if (destination == nullptr || source == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return submit_box(call, symbol, request_of_3d(*request), {destination->device, source->device},
                      stream, asynchronous);
  });
}

}  // namespace ferry::sim

using ferry::sim::copy_2d;
using ferry::sim::copy_3d;
using ferry::sim::copy_3d_peer;
using ferry::sim::Symbol;

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* pCopy) {
  return copy_2d(Symbol::cuMemcpy2D_v2, pCopy, nullptr, false);
}

CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D* pCopy) {
  return copy_2d(Symbol::cuMemcpy2D_v2_ptds, pCopy, CU_STREAM_PER_THREAD, false);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* pCopy) {
  return copy_2d(Symbol::cuMemcpy2DUnaligned_v2, pCopy, nullptr, false);
}

CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D* pCopy) {
  return copy_2d(Symbol::cuMemcpy2DUnaligned_v2_ptds, pCopy, CU_STREAM_PER_THREAD, false);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* pCopy, CUstream hStream) {
  return copy_2d(Symbol::cuMemcpy2DAsync_v2, pCopy, hStream, true);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* pCopy) {
  return copy_3d(Symbol::cuMemcpy3D_v2, pCopy, nullptr, false);
}

CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D* pCopy) {
  return copy_3d(Symbol::cuMemcpy3D_v2_ptds, pCopy, CU_STREAM_PER_THREAD, false);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* pCopy, CUstream hStream) {
  return copy_3d(Symbol::cuMemcpy3DAsync_v2, pCopy, hStream, true);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* pCopy) {
  return copy_3d_peer(Symbol::cuMemcpy3DPeer, pCopy, nullptr, false);
}

CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER* pCopy) {
  return copy_3d_peer(Symbol::cuMemcpy3DPeer_ptds, pCopy, CU_STREAM_PER_THREAD, false);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* pCopy, CUstream hStream) {
  return copy_3d_peer(Symbol::cuMemcpy3DPeerAsync, pCopy, hStream, true);
}
