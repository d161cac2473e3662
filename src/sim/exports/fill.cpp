// SPDX-License-Identifier: Apache-2.0
// Exported: fills of device memory, plain and by rows.
#include "sim/exports/copies.hpp"
#include "sim/machine/pointer_attributes.hpp"

namespace ferry::sim {

namespace {

CUresult submit_fill(Call& call, Symbol symbol, const FillRequest& request, CUstream stream,
                     bool asynchronous) {
  if (request.width == 0 || request.rows == 0) return CUDA_SUCCESS;
  Submission submission;
  if (const CUresult result = prepare_fill(call, symbol, request, submission);
      result != CUDA_SUCCESS) {
    return result;
  }
  const std::uint64_t start = request.destination.start;
  const bool waits = !asynchronous && (!call.machine.addresses.contains(start) ||
                                       has_sync_memops(call.machine, start));
  submission.stream = stream;
  submission.wait = waits ? Wait::until_done : Wait::no;
  return submit(call, std::move(submission));
}

CUDA_MEMSET_NODE_PARAMS params_of(const FillRequest& request) {
  CUDA_MEMSET_NODE_PARAMS params{};
  params.dst = request.destination.start;
  params.pitch = request.destination.pitch;
  params.value = request.element;
  params.elementSize = static_cast<unsigned>(request.element_bytes);
  params.width = request.width;
  params.height = request.rows;
  return params;
}

}  // namespace

CUresult prepare_fill(Call& call, Symbol symbol, const FillRequest& request, Submission& out) {
  Machine& machine = call.machine;
  const auto [start, pitch] = request.destination;
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
  out.symbol = symbol;
  add_touches(out.touches, AccessKind::write, request.destination, row_bytes, request.rows);
  out.work = [&machine, request, row_bytes](int device) {
    return machine.operations.fill_rows(device, request.destination, request.element,
                                        request.element_bytes, row_bytes, request.rows);
  };
  out.node = FillNode{params_of(request)};
  return CUDA_SUCCESS;
}

CUresult fill(Symbol symbol, const FillRequest& request, CUstream stream, bool asynchronous) {
  return Library::get().call(symbol, Need::context, [&](Call& call) {
    return submit_fill(call, symbol, request, stream, asynchronous);
  });
}

void add_touches(std::vector<Touch>& touches, AccessKind kind, Rectangle rectangle,
                 std::uint64_t width, std::uint64_t rows, std::uint32_t member) {
  if (rectangle.pitch == width) {
    touches.push_back({rectangle.start, width * rows, kind, member});
    return;
  }
  for (std::uint64_t row = 0; row < rows; ++row)
    touches.push_back({rectangle.start + row * rectangle.pitch, width, kind, member});
}

}  // namespace ferry::sim

using ferry::sim::fill;
using ferry::sim::Symbol;

CUresult cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N) {
  return fill(Symbol::cuMemsetD8_v2, {{dstDevice, 0}, uc, 1, N, 1}, nullptr, false);
}
CUresult cuMemsetD8_v2_ptds(CUdeviceptr dstDevice, unsigned char uc, size_t N) {
  return fill(Symbol::cuMemsetD8_v2_ptds, {{dstDevice, 0}, uc, 1, N, 1}, CU_STREAM_PER_THREAD,
              false);
}
CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream) {
  return fill(Symbol::cuMemsetD8Async, {{dstDevice, 0}, uc, 1, N, 1}, hStream, true);
}

CUresult cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N) {
  return fill(Symbol::cuMemsetD16_v2, {{dstDevice, 0}, us, 2, N, 1}, nullptr, false);
}
CUresult cuMemsetD16_v2_ptds(CUdeviceptr dstDevice, unsigned short us, size_t N) {
  return fill(Symbol::cuMemsetD16_v2_ptds, {{dstDevice, 0}, us, 2, N, 1}, CU_STREAM_PER_THREAD,
              false);
}
CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream) {
  return fill(Symbol::cuMemsetD16Async, {{dstDevice, 0}, us, 2, N, 1}, hStream, true);
}

CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N) {
  return fill(Symbol::cuMemsetD32_v2, {{dstDevice, 0}, ui, 4, N, 1}, nullptr, false);
}
CUresult cuMemsetD32_v2_ptds(CUdeviceptr dstDevice, unsigned int ui, size_t N) {
  return fill(Symbol::cuMemsetD32_v2_ptds, {{dstDevice, 0}, ui, 4, N, 1}, CU_STREAM_PER_THREAD,
              false);
}
CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream) {
  return fill(Symbol::cuMemsetD32Async, {{dstDevice, 0}, ui, 4, N, 1}, hStream, true);
}

CUresult cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                         size_t Height) {
  return fill(Symbol::cuMemsetD2D8_v2, {{dstDevice, dstPitch}, uc, 1, Width, Height}, nullptr,
              false);
}
CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
                              size_t Width, size_t Height) {
  return fill(Symbol::cuMemsetD2D8_v2_ptds, {{dstDevice, dstPitch}, uc, 1, Width, Height},
              CU_STREAM_PER_THREAD, false);
}
CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                           size_t Height, CUstream hStream) {
  return fill(Symbol::cuMemsetD2D8Async, {{dstDevice, dstPitch}, uc, 1, Width, Height}, hStream,
              true);
}

CUresult cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                          size_t Height) {
  return fill(Symbol::cuMemsetD2D16_v2, {{dstDevice, dstPitch}, us, 2, Width, Height}, nullptr,
              false);
}
CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
                               size_t Width, size_t Height) {
  return fill(Symbol::cuMemsetD2D16_v2_ptds, {{dstDevice, dstPitch}, us, 2, Width, Height},
              CU_STREAM_PER_THREAD, false);
}
CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                            size_t Height, CUstream hStream) {
  return fill(Symbol::cuMemsetD2D16Async, {{dstDevice, dstPitch}, us, 2, Width, Height}, hStream,
              true);
}

CUresult cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                          size_t Height) {
  return fill(Symbol::cuMemsetD2D32_v2, {{dstDevice, dstPitch}, ui, 4, Width, Height}, nullptr,
              false);
}
CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
                               size_t Width, size_t Height) {
  return fill(Symbol::cuMemsetD2D32_v2_ptds, {{dstDevice, dstPitch}, ui, 4, Width, Height},
              CU_STREAM_PER_THREAD, false);
}
CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                            size_t Height, CUstream hStream) {
  return fill(Symbol::cuMemsetD2D32Async, {{dstDevice, dstPitch}, ui, 4, Width, Height}, hStream,
              true);
}
