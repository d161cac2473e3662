// SPDX-License-Identifier: Apache-2.0
// One race each. The two lines that race end in "RACE name-of-the-program", for host_races_test.py
// to look for in the report; a function that does the host's part stands apart, as nothing may be
// inlined into the lines that are looked for.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "programs/host_races.hpp"

namespace ferry::programs {

namespace {

bool staging_buffer_rewritten() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const staging = pinned_memory(1);
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, stream));  // RACE staging_buffer_rewritten
  staging[kBytes / 2] = 2;                                         // RACE staging_buffer_rewritten
  return true;
}

bool pageable_source_freed() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  void* const source = std::calloc(kBytes, 1);
  FERRY_MUST(cuMemcpyHtoDAsync(device, source, kBytes, stream));  // RACE pageable_source_freed
  std::free(source);                                              // RACE pageable_source_freed
  return true;
}

bool result_read_early() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  const unsigned char* const to = pinned_memory();
  const auto address = reinterpret_cast<CUdeviceptr>(to);
  FERRY_MUST(cuMemcpyAsync(address, device, kBytes, stream));  // RACE result_read_early
  return to[7] < 2;                                            // RACE result_read_early
}

// The driver may be given page-locked memory by its own address.
bool filled_and_read_early() {
  const CUstream stream = new_stream();
  unsigned char* const to = pinned_memory();
  const auto address = reinterpret_cast<CUdeviceptr>(to);
  FERRY_MUST(cuMemsetD8Async(address, 1, kBytes, stream));  // RACE filled_and_read_early
  return to[7] < 2;                                         // RACE filled_and_read_early
}

bool another_event_waited_for() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const staging = pinned_memory(1);
  const CUevent event = new_event();
  FERRY_MUST(cuEventRecord(event, stream));
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, stream));  // RACE another_event_waited_for
  FERRY_MUST(cuEventSynchronize(event));
  staging[0] = 2;  // RACE another_event_waited_for
  return true;
}

bool another_stream_waited_for() {
  const CUstream stream = new_stream();
  const CUstream other = new_stream();
  const CUdeviceptr device = device_memory();
  const CUdeviceptr unrelated = device_memory();
  unsigned char* const staging = pinned_memory(1);
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, stream));  // RACE another_stream_waited_for
  FERRY_MUST(cuMemsetD8Async(unrelated, 1, kBytes, other));
  FERRY_MUST(cuStreamSynchronize(other));
  staging[0] = 2;  // RACE another_stream_waited_for
  return true;
}

// Another thread has waited, and says so by a flag that orders nothing. Calls of the driver in
// between order nothing either.
bool another_thread_waited() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const staging = pinned_memory(1);
  std::atomic<bool> waited = false;
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, stream));  // RACE another_thread_waited
  OtherThread other([&] {
    FERRY_MUST(cuStreamSynchronize(stream));
    waited.store(true, std::memory_order_relaxed);
  });
  while (!waited.load(std::memory_order_relaxed)) std::this_thread::yield();
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  FERRY_MUST(cuMemGetInfo(&free_bytes, &all_bytes));
  staging[0] = 2;  // RACE another_thread_waited
  other.join();
  return true;
}

void fill(void* to) {
  static_cast<unsigned char*>(to)[3] = 1;  // RACE host_function_not_waited_for
}

bool host_function_not_waited_for() {
  const CUstream stream = new_stream();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuLaunchHostFunc(stream, fill, to));
  return to[3] < 2;  // RACE host_function_not_waited_for
}

// That the host function has run says nothing to who has not asked.
bool host_function_behind() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const staging = pinned_memory(1);
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, stream));  // RACE host_function_behind
  FERRY_MUST(cuLaunchHostFunc(
      stream, [](void*) {}, nullptr));
  staging[0] = 2;  // RACE host_function_behind
  return true;
}

void read_first(void* from) {
  static_cast<void>(*static_cast<const volatile unsigned char*>(from));  // RACE host_function_first
}

// The stream of the host function does not wait for the other one.
bool host_function_first() {
  const CUstream down = new_stream();
  const CUstream host = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, down));  // RACE host_function_first
  FERRY_MUST(cuLaunchHostFunc(host, read_first, to));
  FERRY_MUST(cuCtxSynchronize());
  return true;
}

// The word is written before what it is to tell of.
bool word_written_too_early() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  unsigned char* const word = pinned_memory();
  FERRY_MUST(cuStreamWriteValue32(stream, reinterpret_cast<CUdeviceptr>(word), 1, 0));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, stream));  // RACE word_written_too_early
  OtherThread other([&] { FERRY_MUST(cuStreamSynchronize(stream)); });
  const std::atomic_ref flag(*reinterpret_cast<std::uint32_t*>(word));
  while (flag.load(std::memory_order_acquire) != 1) std::this_thread::yield();
  const bool right = to[0] < 2;  // RACE word_written_too_early
  other.join();
  return right;
}

constexpr Program kPrograms[] = {
    {"staging_buffer_rewritten", staging_buffer_rewritten},
    {"pageable_source_freed", pageable_source_freed},
    {"result_read_early", result_read_early},
    {"filled_and_read_early", filled_and_read_early},
    {"another_event_waited_for", another_event_waited_for},
    {"another_stream_waited_for", another_stream_waited_for},
    {"another_thread_waited", another_thread_waited},
    {"host_function_not_waited_for", host_function_not_waited_for},
    {"host_function_behind", host_function_behind},
    {"host_function_first", host_function_first},
    {"word_written_too_early", word_written_too_early},
};

}  // namespace

std::span<const Program> racing_with_the_host() {
  return kPrograms;
}

}  // namespace ferry::programs
