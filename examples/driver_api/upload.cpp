// SPDX-License-Identifier: Apache-2.0
// A program of the CUDA driver API as anyone may have written it: it knows nothing of Ferry. It
// sends memory to the device through two pinned buffers in turn, and reads it back to compare.
//
//   upload                 waits for a buffer's last copy before it fills the buffer again
//   upload --forget-wait   does not: right on one machine, on one day, and not on another
//
// Exit status: 0 the bytes came back, 1 they did not, 2 a call of the driver failed.
#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;
constexpr std::size_t kChunks = 16;

void must(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS) text = "unknown error";
  std::fprintf(stderr, "upload: %s: %s\n", call, text);
  std::exit(2);
}
#define MUST(call) must((call), #call)

struct Buffer {
  unsigned char* bytes = nullptr;
  CUevent sent = nullptr;  // the copy that reads the bytes
};

Buffer make_buffer() {
  void* bytes = nullptr;
  Buffer buffer;
  MUST(cuMemHostAlloc(&bytes, kChunk, 0));
  MUST(cuEventCreate(&buffer.sent, CU_EVENT_DISABLE_TIMING));
  buffer.bytes = static_cast<unsigned char*>(bytes);
  return buffer;
}

void upload(const std::vector<unsigned char>& data, CUdeviceptr to, CUstream stream, bool waits) {
  const std::array buffers{make_buffer(), make_buffer()};
  for (std::size_t offset = 0; offset < data.size(); offset += kChunk) {
    const Buffer& buffer = buffers[offset / kChunk % buffers.size()];
    if (waits) MUST(cuEventSynchronize(buffer.sent));
    std::copy_n(&data[offset], kChunk, buffer.bytes);
    MUST(cuMemcpyHtoDAsync(to + offset, buffer.bytes, kChunk, stream));
    MUST(cuEventRecord(buffer.sent, stream));
  }
  MUST(cuStreamSynchronize(stream));
  for (const Buffer& buffer : buffers) {
    MUST(cuEventDestroy(buffer.sent));
    MUST(cuMemFreeHost(buffer.bytes));
  }
}

bool comes_back(const std::vector<unsigned char>& data, CUdeviceptr from) {
  std::vector<unsigned char> back(data.size());
  MUST(cuMemcpyDtoH(back.data(), from, back.size()));
  return back == data;
}

}  // namespace

int main(int count, char** words) {
  const bool waits = !(count > 1 && std::strcmp(words[1], "--forget-wait") == 0);
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  MUST(cuInit(0));
  MUST(cuDeviceGet(&device, 0));
  MUST(cuDevicePrimaryCtxRetain(&context, device));
  MUST(cuCtxSetCurrent(context));
  MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  MUST(cuMemAlloc(&memory, kChunk * kChunks));

  std::vector<unsigned char> data(kChunk * kChunks);
  std::iota(data.begin(), data.end(), static_cast<unsigned char>(0));
  for (std::size_t i = 0; i < kChunks; ++i) data[i * kChunk] = static_cast<unsigned char>(i);
  upload(data, memory, stream, waits);
  const bool right = comes_back(data, memory);
  std::puts(right ? "the bytes came back" : "other bytes came back");

  MUST(cuMemFree(memory));
  MUST(cuStreamDestroy(stream));
  MUST(cuDevicePrimaryCtxRelease(device));
  return right ? 0 : 1;
}
