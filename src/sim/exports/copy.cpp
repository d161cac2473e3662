// SPDX-License-Identifier: Apache-2.0
// Exported: copies and fills. Every one is queued; those that cuda.h calls synchronous with the
// host are run to their end before the call returns.
#include <limits>

#include "sim/machine/stream_access.hpp"

using ferry::sim::AccessKind;
using ferry::sim::Call;
using ferry::sim::Library;
using ferry::sim::Machine;
using ferry::sim::Need;
using ferry::sim::Rectangle;
using ferry::sim::Submission;
using ferry::sim::Symbol;
using ferry::sim::Touch;
using ferry::sim::Wait;

namespace {

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

// Addresses that a device may be given: its own, and host memory that the driver knows.
bool is_device_side(const Machine& machine, std::uint64_t address, std::uint64_t bytes) {
  return machine.addresses.contains(address) || machine.host.covers(address, bytes);
}

bool wraps(std::uint64_t address, std::uint64_t bytes) {
  return address + bytes < address;
}

struct CopyRequest {
  std::uint64_t destination = 0;
  std::uint64_t source = 0;
  std::uint64_t bytes = 0;
  bool device_destination = false;  // the caller says that this side is the device's
  bool device_source = false;
};

CUresult submit_copy(Call& call, Symbol symbol, const CopyRequest& request, CUstream stream,
                     Wait wait) {
  const auto [destination, source, bytes, device_destination, device_source] = request;
  if (bytes == 0) return CUDA_SUCCESS;
  Machine& machine = call.machine;
  if (destination == 0 || source == 0 || wraps(destination, bytes) || wraps(source, bytes) ||
      (device_destination && !is_device_side(machine, destination, bytes)) ||
      (device_source && !is_device_side(machine, source, bytes))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Submission submission{symbol, stream, wait, {}, {}};
  submission.touches = {{source, bytes, AccessKind::read}, {destination, bytes, AccessKind::write}};
  submission.work = [&machine, destination = destination, source = source,
                     bytes = bytes](int device) {
    return machine.operations.copy(device, destination, source, bytes);
  };
  return ferry::sim::submit(call, std::move(submission));
}

// The rows of a rectangle, as one range where nothing lies between them.
void add_touches(std::vector<Touch>& touches, AccessKind kind, Rectangle rectangle,
                 std::uint64_t width, std::uint64_t rows) {
  if (rectangle.pitch == width) {
    touches.push_back({rectangle.start, width * rows, kind});
    return;
  }
  for (std::uint64_t row = 0; row < rows; ++row)
    touches.push_back({rectangle.start + row * rectangle.pitch, width, kind});
}

// A copy from device memory to device memory does not wait, not even by a synchronous name.
Wait wait_of(const Call& call, std::uint64_t destination, std::uint64_t source) {
  const auto& addresses = call.machine.addresses;
  return addresses.contains(destination) && addresses.contains(source) ? Wait::no
                                                                       : Wait::until_done;
}

CUresult copy(Symbol symbol, const CopyRequest& request, CUstream stream, bool asynchronous) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    const Wait wait = asynchronous ? Wait::no : wait_of(call, request.destination, request.source);
    return submit_copy(call, symbol, request, stream, wait);
  });
}

struct FillRequest {
  Rectangle destination;
  std::uint32_t element = 0;
  std::uint64_t element_bytes = 1;
  std::uint64_t width = 0;  // elements
  std::uint64_t rows = 1;
};

CUresult submit_fill(Call& call, Symbol symbol, const FillRequest& request, CUstream stream,
                     bool asynchronous) {
  Machine& machine = call.machine;
  const auto [start, pitch] = request.destination;
  if (request.width == 0 || request.rows == 0) return CUDA_SUCCESS;
  std::uint64_t row_bytes = 0;
  std::uint64_t last_row = 0;
  if (__builtin_mul_overflow(request.width, request.element_bytes, &row_bytes) ||
      __builtin_mul_overflow(request.rows - 1, pitch, &last_row) || wraps(start, last_row) ||
      wraps(start + last_row, row_bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (start % request.element_bytes != 0) return CUDA_ERROR_INVALID_VALUE;
  if (request.rows > 1 && (pitch % request.element_bytes != 0 || pitch < row_bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (!is_device_side(machine, start, last_row + row_bytes)) return CUDA_ERROR_INVALID_VALUE;
  const bool waits = !asynchronous && !machine.addresses.contains(start);
  Submission submission{symbol, stream, waits ? Wait::until_done : Wait::no, {}, {}};
  add_touches(submission.touches, AccessKind::write, request.destination, row_bytes, request.rows);
  submission.work = [&machine, request, row_bytes](int device) {
    return machine.operations.fill_rows(device, request.destination, request.element,
                                        request.element_bytes, row_bytes, request.rows);
  };
  return ferry::sim::submit(call, std::move(submission));
}

CUresult fill(Symbol symbol, const FillRequest& request, CUstream stream, bool asynchronous) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    return submit_fill(call, symbol, request, stream, asynchronous);
  });
}

// One side of a 2D copy.
struct Side {
  CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
  const void* host = nullptr;
  CUdeviceptr device = 0;
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::uint64_t pitch = 0;
};

// Where the rows of a side begin, or why the side is not valid.
CUresult rows_of(const Machine& machine, const Side& side, std::uint64_t width, std::uint64_t rows,
                 Rectangle& out) {
  if (side.type == CU_MEMORYTYPE_ARRAY) return CUDA_ERROR_NOT_SUPPORTED;
  if (side.type != CU_MEMORYTYPE_HOST && side.type != CU_MEMORYTYPE_DEVICE &&
      side.type != CU_MEMORYTYPE_UNIFIED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  constexpr std::uint64_t kLimit =
      std::numeric_limits<std::int32_t>::max();  // CU_DEVICE_ATTRIBUTE_MAX_PITCH
  if (side.pitch > kLimit || side.x > kLimit || width > kLimit || side.y > kLimit ||
      rows > kLimit) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if ((side.pitch != 0 || rows > 1) && side.pitch < side.x + width) return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t base = side.type == CU_MEMORYTYPE_HOST ? address_of(side.host) : side.device;
  const std::uint64_t length = (side.y + rows - 1) * side.pitch + side.x + width;
  if (base == 0 || wraps(base, length)) return CUDA_ERROR_INVALID_VALUE;
  out = {base + side.y * side.pitch + side.x, side.pitch};
  const std::uint64_t touched = (rows - 1) * side.pitch + width;
  if (side.type == CU_MEMORYTYPE_DEVICE && !is_device_side(machine, out.start, touched)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult submit_copy_2d(Call& call, Symbol symbol, const CUDA_MEMCPY2D& request, CUstream stream) {
  const std::uint64_t width = request.WidthInBytes;
  const std::uint64_t rows = request.Height;
  if (width == 0 || rows == 0) return CUDA_SUCCESS;
  Machine& machine = call.machine;
  Rectangle source;
  Rectangle destination;
  const Side source_side{request.srcMemoryType, request.srcHost, request.srcDevice,
                         request.srcXInBytes,   request.srcY,    request.srcPitch};
  const Side destination_side{request.dstMemoryType, request.dstHost, request.dstDevice,
                              request.dstXInBytes,   request.dstY,    request.dstPitch};
  if (const CUresult result = rows_of(machine, source_side, width, rows, source);
      result != CUDA_SUCCESS) {
    return result;
  }
  if (const CUresult result = rows_of(machine, destination_side, width, rows, destination);
      result != CUDA_SUCCESS) {
    return result;
  }
  Submission submission{symbol, stream, Wait::no, {}, {}};
  add_touches(submission.touches, AccessKind::read, source, width, rows);
  add_touches(submission.touches, AccessKind::write, destination, width, rows);
  submission.work = [&machine, destination, source, width, rows](int device) {
    return machine.operations.copy_rows(device, destination, source, width, rows);
  };
  return ferry::sim::submit(call, std::move(submission));
}

}  // namespace

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) {
  return copy(Symbol::cuMemcpy, {dst, src, ByteCount}, nullptr, false);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream) {
  return copy(Symbol::cuMemcpyAsync, {dst, src, ByteCount}, hStream, true);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount) {
  return copy(Symbol::cuMemcpyHtoD_v2, {dstDevice, address_of(srcHost), ByteCount, true, false},
              nullptr, false);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount,
                              CUstream hStream) {
  return copy(Symbol::cuMemcpyHtoDAsync_v2,
              {dstDevice, address_of(srcHost), ByteCount, true, false}, hStream, true);
}

CUresult cuMemcpyDtoH_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy(Symbol::cuMemcpyDtoH_v2, {address_of(dstHost), srcDevice, ByteCount, false, true},
              nullptr, false);
}

CUresult cuMemcpyDtoHAsync_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                              CUstream hStream) {
  return copy(Symbol::cuMemcpyDtoHAsync_v2,
              {address_of(dstHost), srcDevice, ByteCount, false, true}, hStream, true);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy(Symbol::cuMemcpyDtoD_v2, {dstDevice, srcDevice, ByteCount, true, true}, nullptr,
              false);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                              CUstream hStream) {
  return copy(Symbol::cuMemcpyDtoDAsync_v2, {dstDevice, srcDevice, ByteCount, true, true}, hStream,
              true);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* pCopy, CUstream hStream) {
  return Library::get().call(Symbol::cuMemcpy2DAsync_v2, Need::context, [&](Call& call) {
    return pCopy == nullptr ? CUDA_ERROR_INVALID_VALUE
                            : submit_copy_2d(call, Symbol::cuMemcpy2DAsync_v2, *pCopy, hStream);
  });
}

CUresult cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N) {
  return fill(Symbol::cuMemsetD8_v2, {{dstDevice, 0}, uc, 1, N, 1}, nullptr, false);
}

CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N) {
  return fill(Symbol::cuMemsetD32_v2, {{dstDevice, 0}, ui, 4, N, 1}, nullptr, false);
}

CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream) {
  return fill(Symbol::cuMemsetD8Async, {{dstDevice, 0}, uc, 1, N, 1}, hStream, true);
}

CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream) {
  return fill(Symbol::cuMemsetD32Async, {{dstDevice, 0}, ui, 4, N, 1}, hStream, true);
}

CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                            size_t Height, CUstream hStream) {
  return fill(Symbol::cuMemsetD2D32Async, {{dstDevice, dstPitch}, ui, 4, Width, Height}, hStream,
              true);
}
