// SPDX-License-Identifier: Apache-2.0
// Host code that waits as it must before it uses what queued work uses.
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "programs/host_races.hpp"

namespace ferry::programs {

namespace {

void set_all(unsigned char* bytes, int value) {
  std::fill_n(bytes, kBytes, static_cast<unsigned char>(value));
}

// Uploads the buffer, lets `wait` wait, and uses it again.
template <typename Wait>
bool reused_after(Wait wait) {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const staging = pinned_memory(1);
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, stream));
  wait(stream);
  set_all(staging, 2);
  return device_holds(device, 1);
}

bool stream_waited_for() {
  return reused_after([](CUstream stream) { FERRY_MUST(cuStreamSynchronize(stream)); });
}

bool context_waited_for() {
  return reused_after([](CUstream) { FERRY_MUST(cuCtxSynchronize()); });
}

bool event_waited_for() {
  return reused_after([](CUstream stream) {
    const CUevent event = new_event();
    FERRY_MUST(cuEventRecord(event, stream));
    FERRY_MUST(cuEventSynchronize(event));
  });
}

bool event_asked_for() {
  return reused_after([](CUstream stream) {
    const CUevent event = new_event();
    FERRY_MUST(cuEventRecord(event, stream));
    while (cuEventQuery(event) == CUDA_ERROR_NOT_READY) std::this_thread::yield();
  });
}

bool stream_asked_for() {
  return reused_after([](CUstream stream) {
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) std::this_thread::yield();
  });
}

// The legacy default stream comes after every blocking one.
template <typename Wait>
bool reused_after_legacy(Wait wait) {
  const CUstream stream = new_stream(CU_STREAM_DEFAULT);
  const CUdeviceptr device = device_memory();
  unsigned char* const staging = pinned_memory(1);
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, stream));
  wait(device);
  set_all(staging, 2);
  return device_holds(device, 1);
}

bool legacy_stream_waited_for() {
  return reused_after_legacy(
      [](CUdeviceptr) { FERRY_MUST(cuStreamSynchronize(CU_STREAM_LEGACY)); });
}

bool legacy_stream_asked_for() {
  return reused_after_legacy([](CUdeviceptr) {
    while (cuStreamQuery(CU_STREAM_LEGACY) == CUDA_ERROR_NOT_READY) std::this_thread::yield();
  });
}

bool copied_back_at_once() {
  return reused_after_legacy([](CUdeviceptr device) {
    std::vector<unsigned char> bytes(kBytes);
    FERRY_MUST(cuMemcpyDtoH(bytes.data(), device, kBytes));
    if (bytes.back() != 1) std::abort();
  });
}

bool stream_destroyed_and_context_waited_for() {
  return reused_after([](CUstream stream) {
    FERRY_MUST(cuStreamDestroy(stream));
    FERRY_MUST(cuCtxSynchronize());
  });
}

bool event_on_another_stream_waited_for() {
  return reused_after([](CUstream stream) {
    const CUstream other = new_stream();
    order(stream, other);
    FERRY_MUST(cuStreamSynchronize(other));
  });
}

bool handed_over_by_a_mutex() {
  const CUstream stream = new_stream();
  unsigned char* const to = pinned_memory();
  std::mutex mutex;
  bool there = false;
  OtherThread other([&] {
    fetch_ones(to, stream);
    FERRY_MUST(cuStreamSynchronize(stream));
    const std::lock_guard lock(mutex);
    there = true;
  });
  for (bool seen = false; !seen; std::this_thread::yield()) {
    const std::lock_guard lock(mutex);
    seen = there;
  }
  const bool right = all_are(to, 1);
  other.join();
  return right;
}

bool two_streams_and_one_buffer() {
  const CUstream down = new_stream();
  const CUstream up = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const between = pinned_memory();
  fetch_ones(between, down);
  order(down, up);
  FERRY_MUST(cuMemcpyHtoDAsync(device, between, kBytes, up));
  FERRY_MUST(cuStreamSynchronize(up));
  set_all(between, 2);
  return device_holds(device, 1);
}

// Somebody makes the work run; what orders is the host function's flag.
bool host_function_hands_over() {
  struct Box {
    unsigned char* bytes = pinned_memory();
    std::atomic<bool> full = false;
  } box;
  const CUstream stream = new_stream();
  fetch_ones(box.bytes, stream);
  FERRY_MUST(cuLaunchHostFunc(
      stream,
      [](void* its) {
        auto& filled = *static_cast<Box*>(its);
        filled.bytes[0] = 2;
        filled.full.store(true, std::memory_order_release);
      },
      &box));
  OtherThread other([&] { FERRY_MUST(cuStreamSynchronize(stream)); });
  while (!box.full.load(std::memory_order_acquire)) std::this_thread::yield();
  const bool right = box.bytes[0] == 2 && all_are(box.bytes + 1, 1, kBytes - 1);
  other.join();
  return right;
}

bool host_function_in_the_midst() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const staging = pinned_memory(1);
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, stream));
  FERRY_MUST(cuLaunchHostFunc(
      stream, [](void* bytes) { set_all(static_cast<unsigned char*>(bytes), 2); }, staging));
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  set_all(staging, 3);
  return device_holds(device, 2);
}

bool host_function_after_another_stream() {
  struct Box {
    unsigned char* bytes = pinned_memory();
    int sum = 0;
  } box;
  const CUstream down = new_stream();
  const CUstream host = new_stream();
  fetch_ones(box.bytes, down);
  order(down, host);
  FERRY_MUST(cuLaunchHostFunc(
      host,
      [](void* its) {
        auto& filled = *static_cast<Box*>(its);
        filled.sum = filled.bytes[0] + filled.bytes[kBytes - 1];
      },
      &box));
  FERRY_MUST(cuStreamSynchronize(host));
  return box.sum == 2 && all_are(box.bytes, 1);
}

bool callback_hands_over() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const bytes = pinned_memory(1);
  FERRY_MUST(cuStreamAddCallback(
      stream, [](CUstream, CUresult, void* its) { static_cast<unsigned char*>(its)[0] = 7; }, bytes,
      0));
  FERRY_MUST(cuMemcpyHtoDAsync(device, bytes, 1, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  return bytes[0]++ == 7 && device_holds(device, 7, 1);
}

bool managed_memory_waited_for() {
  CUdeviceptr managed = 0;
  FERRY_MUST(cuMemAllocManaged(&managed, kBytes, CU_MEM_ATTACH_GLOBAL));
  const CUstream stream = new_stream();
  auto* const bytes = reinterpret_cast<unsigned char*>(managed);
  set_all(bytes, 1);
  FERRY_MUST(cuMemsetD8Async(managed, 2, kBytes, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  const bool right = all_are(bytes, 2);
  FERRY_MUST(cuMemFree(managed));
  return right;
}

std::atomic_ref<std::uint32_t> word_at(unsigned char* bytes) {
  return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(bytes));
}

bool word_tells_the_host() {
  const CUstream stream = new_stream();
  unsigned char* const to = pinned_memory();
  unsigned char* const word = pinned_memory();
  fetch_ones(to, stream);
  FERRY_MUST(cuStreamWriteValue32(stream, reinterpret_cast<CUdeviceptr>(word), 1, 0));
  OtherThread other([&] { FERRY_MUST(cuStreamSynchronize(stream)); });
  while (word_at(word).load(std::memory_order_acquire) != 1) std::this_thread::yield();
  const bool right = all_are(to, 1);
  other.join();
  return right;
}

bool word_tells_the_stream() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const staging = pinned_memory();
  unsigned char* const word = pinned_memory();
  FERRY_MUST(
      cuStreamWaitValue32(stream, reinterpret_cast<CUdeviceptr>(word), 1, CU_STREAM_WAIT_VALUE_EQ));
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, stream));
  set_all(staging, 1);
  word_at(word).store(1, std::memory_order_release);
  return device_holds(device, 1);
}

bool plain_copies_from_the_stack() {
  const CUdeviceptr device = device_memory();
  unsigned char bytes[64] = {1};
  FERRY_MUST(cuMemcpyHtoD(device, bytes, sizeof bytes));
  bytes[0] = 2;
  FERRY_MUST(cuMemcpyDtoH(bytes, device, sizeof bytes));
  return bytes[0] == 1;
}

bool batch_that_reads_during_the_call() {
  const CUstream stream = new_stream();
  CUdeviceptr device = device_memory();
  std::vector<unsigned char> source(kBytes, 1);
  auto from = reinterpret_cast<CUdeviceptr>(source.data());
  std::size_t bytes = kBytes;
  std::size_t first = 0;
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  FERRY_MUST(cuMemcpyBatchAsync(&device, &from, &bytes, 1, &attributes, &first, 1, stream));
  set_all(source.data(), 2);
  return device_holds(device, 1);
}

bool ring_of_two_buffers() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory(8 * kBytes);
  const std::array buffers{pinned_memory(), pinned_memory()};
  const std::array free{new_event(), new_event()};
  for (std::size_t i = 0; i < 8; ++i) {
    if (i >= 2) FERRY_MUST(cuEventSynchronize(free[i % 2]));
    set_all(buffers[i % 2], static_cast<int>(i));
    FERRY_MUST(cuMemcpyHtoDAsync(device + i * kBytes, buffers[i % 2], kBytes, stream));
    FERRY_MUST(cuEventRecord(free[i % 2], stream));
  }
  return device_holds(device + 5 * kBytes, 5);
}

bool pinned_memory_given_back() {
  const CUstream stream = new_stream();
  for (int i = 0; i < 4; ++i) {
    unsigned char* const staging = pinned_memory(1);
    FERRY_MUST(cuMemcpyHtoDAsync(device_memory(), staging, kBytes, stream));
    FERRY_MUST(cuStreamSynchronize(stream));
    FERRY_MUST(cuMemFreeHost(staging));
  }
  return true;
}

// The addresses of memory that is given back come to whoever asks next, in no order that the
// program would know of.
bool pinned_memory_of_two_threads() {
  const auto use_memory = [] {
    for (int i = 0; i < 64; ++i) {
      unsigned char* const memory = pinned_memory(i);
      FERRY_MUST(cuMemFreeHost(memory));
    }
  };
  OtherThread other(use_memory);
  use_memory();
  other.join();
  return true;
}

constexpr Program kPrograms[] = {
    {"stream_waited_for", stream_waited_for},
    {"context_waited_for", context_waited_for},
    {"event_waited_for", event_waited_for},
    {"event_asked_for", event_asked_for},
    {"stream_asked_for", stream_asked_for},
    {"legacy_stream_waited_for", legacy_stream_waited_for},
    {"legacy_stream_asked_for", legacy_stream_asked_for},
    {"copied_back_at_once", copied_back_at_once},
    {"stream_destroyed_and_context_waited_for", stream_destroyed_and_context_waited_for},
    {"event_on_another_stream_waited_for", event_on_another_stream_waited_for},
    {"handed_over_by_a_mutex", handed_over_by_a_mutex},
    {"two_streams_and_one_buffer", two_streams_and_one_buffer},
    {"host_function_hands_over", host_function_hands_over},
    {"host_function_in_the_midst", host_function_in_the_midst},
    {"host_function_after_another_stream", host_function_after_another_stream},
    {"callback_hands_over", callback_hands_over},
    {"managed_memory_waited_for", managed_memory_waited_for},
    {"word_tells_the_host", word_tells_the_host},
    {"word_tells_the_stream", word_tells_the_stream},
    {"plain_copies_from_the_stack", plain_copies_from_the_stack},
    {"batch_that_reads_during_the_call", batch_that_reads_during_the_call},
    {"ring_of_two_buffers", ring_of_two_buffers},
    {"pinned_memory_given_back", pinned_memory_given_back},
    {"pinned_memory_of_two_threads", pinned_memory_of_two_threads},
};

}  // namespace

std::span<const Program> ordered_with_the_host() {
  return kPrograms;
}

}  // namespace ferry::programs
