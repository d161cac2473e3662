// SPDX-License-Identifier: Apache-2.0
// Small programs of the driver API, as people write them: each a function that works on a fresh
// context and says whether the bytes that it fetched are those that it should have got. What they
// share is here.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace ferry::programs {

struct Program {
  const char* name;
  bool (*run)();
};

struct Group {
  const char* kind;  // "correct" or "faulty"
  std::span<const Program> programs;
};

// The programs of an executable; each has its own.
[[nodiscard]] std::span<const Group> groups();

// What is right under every schedule, and what has one fault each.
[[nodiscard]] std::span<const Program> correct_orders();
[[nodiscard]] std::span<const Program> correct_memory();
[[nodiscard]] std::span<const Program> correct_graphs();
[[nodiscard]] std::span<const Program> faulty_programs();
[[nodiscard]] std::span<const Program> faulty_graphs();
[[nodiscard]] std::span<const Program> faulty_host_functions();

inline constexpr std::size_t kBytes = 64 * 1024;

// Ends the program where a call fails: no program here expects that.
inline void must(CUresult result, const char* call, int line) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS) name = "an unknown error";
  std::fprintf(stderr, "line %d: %s: %s\n", line, call, name);
  std::exit(2);
}
#define FERRY_MUST(call) ::ferry::programs::must((call), #call, __LINE__)

inline CUdeviceptr device_memory(std::size_t bytes = kBytes) {
  CUdeviceptr address = 0;
  FERRY_MUST(cuMemAlloc(&address, bytes));
  FERRY_MUST(cuMemsetD8(address, 0, bytes));
  FERRY_MUST(cuCtxSynchronize());
  return address;
}

inline unsigned char* pinned_memory(int value = 0) {
  void* memory = nullptr;
  FERRY_MUST(cuMemHostAlloc(&memory, kBytes, 0));
  auto* const bytes = static_cast<unsigned char*>(memory);
  std::fill_n(bytes, kBytes, static_cast<unsigned char>(value));
  return bytes;
}

inline CUstream new_stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
  CUstream stream = nullptr;
  FERRY_MUST(cuStreamCreate(&stream, flags));
  return stream;
}

inline CUevent new_event() {
  CUevent event = nullptr;
  FERRY_MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  return event;
}

// What comes later in `second` waits for what `first` holds now.
inline void order(CUstream first, CUstream second) {
  const CUevent event = new_event();
  FERRY_MUST(cuEventRecord(event, first));
  FERRY_MUST(cuStreamWaitEvent(second, event, 0));
  FERRY_MUST(cuEventDestroy(event));
}

inline bool all_are(const unsigned char* bytes, int value, std::size_t count = kBytes) {
  return std::all_of(bytes, bytes + count, [&](unsigned char byte) { return byte == value; });
}

// What device memory holds when everything queued has run.
inline bool device_holds(CUdeviceptr address, int value, std::size_t count = kBytes) {
  static unsigned char bytes[kBytes];
  FERRY_MUST(cuCtxSynchronize());
  FERRY_MUST(cuMemcpyDtoH(bytes, address, count));
  return all_are(bytes, value, count);
}

// Device memory with an address for each of its mappings.
class Mapped {
 public:
  static constexpr std::size_t kSize = std::size_t{2} << 20;
  Mapped() {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    FERRY_MUST(cuMemCreate(&handle_, kSize, &properties, 0));
  }
  [[nodiscard]] CUdeviceptr map() const {
    CUdeviceptr address = 0;
    FERRY_MUST(cuMemAddressReserve(&address, kSize, 0, 0, 0));
    map_at(address);
    return address;
  }
  void map_at(CUdeviceptr address) const {
    FERRY_MUST(cuMemMap(address, kSize, 0, handle_, 0));
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    FERRY_MUST(cuMemSetAccess(address, kSize, &access, 1));
  }

 private:
  CUmemGenericAllocationHandle handle_ = 0;
};

// Copies as one batch; sources are read in the order of the stream.
inline void copy_batch(std::span<CUdeviceptr> to, std::span<CUdeviceptr> from, std::size_t each,
                       CUstream stream) {
  std::size_t sizes[8];
  std::fill_n(sizes, to.size(), each);
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  std::size_t first = 0;
  FERRY_MUST(
      cuMemcpyBatchAsync(to.data(), from.data(), sizes, to.size(), &attributes, &first, 1, stream));
}

}  // namespace ferry::programs
