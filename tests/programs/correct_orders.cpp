// SPDX-License-Identifier: Apache-2.0
// Programs that are right: each puts its work in order by another means of the driver API.
#include <array>
#include <mutex>
#include <thread>

#include "programs/program.hpp"

namespace ferry::programs {

namespace {

bool an_event_between_streams() {
  const CUstream up = new_stream();
  const CUstream down = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemcpyHtoDAsync(device, pinned_memory(1), kBytes, up));
  order(up, down);
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, down));
  FERRY_MUST(cuStreamSynchronize(down));
  return all_are(to, 1);
}

bool the_host_waits_between_streams() {
  const CUstream up = new_stream();
  const CUstream down = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemcpyHtoDAsync(device, pinned_memory(1), kBytes, up));
  FERRY_MUST(cuStreamSynchronize(up));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, down));
  FERRY_MUST(cuCtxSynchronize());
  return all_are(to, 1);
}

bool an_event_is_polled() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  const CUevent event = new_event();
  unsigned char* const staging = pinned_memory(1);
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, stream));
  FERRY_MUST(cuEventRecord(event, stream));
  CUresult result = cuEventQuery(event);
  while (result == CUDA_ERROR_NOT_READY) result = cuEventQuery(event);
  FERRY_MUST(result);
  std::fill_n(staging, kBytes, static_cast<unsigned char>(2));
  return device_holds(device, 1);
}

bool a_stream_is_polled() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, stream));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, stream));
  CUresult result = cuStreamQuery(stream);
  while (result == CUDA_ERROR_NOT_READY) result = cuStreamQuery(stream);
  FERRY_MUST(result);
  return all_are(to, 1);
}

bool the_default_stream_orders_blocking_ones() {
  const CUstream first = new_stream(CU_STREAM_DEFAULT);
  const CUstream second = new_stream(CU_STREAM_DEFAULT);
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, first));
  FERRY_MUST(cuMemsetD8Async(device, 2, kBytes, nullptr));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, second));
  FERRY_MUST(cuStreamSynchronize(second));
  return all_are(to, 2);
}

bool the_default_stream_of_a_thread_and_the_legacy_one() {
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, CU_STREAM_PER_THREAD));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, CU_STREAM_LEGACY));
  FERRY_MUST(cuStreamSynchronize(CU_STREAM_LEGACY));
  return all_are(to, 1);
}

bool a_ring_of_two_buffers() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory(8 * kBytes);
  const std::array buffers{pinned_memory(), pinned_memory()};
  const std::array free{new_event(), new_event()};
  for (std::size_t i = 0; i < 8; ++i) {
    FERRY_MUST(cuEventSynchronize(free[i % 2]));  // one that was never recorded is done
    std::fill_n(buffers[i % 2], kBytes, static_cast<unsigned char>(i + 1));
    FERRY_MUST(cuMemcpyHtoDAsync(device + i * kBytes, buffers[i % 2], kBytes, stream));
    FERRY_MUST(cuEventRecord(free[i % 2], stream));
  }
  for (std::size_t i = 0; i < 8; ++i) {
    if (!device_holds(device + i * kBytes, static_cast<int>(i) + 1)) return false;
  }
  return true;
}

bool handed_to_another_thread_after_a_wait() {
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  CUcontext context = nullptr;
  FERRY_MUST(cuCtxGetCurrent(&context));
  std::mutex mutex;
  bool ready = false;
  std::thread uploader([&] {
    FERRY_MUST(cuCtxSetCurrent(context));
    const CUstream stream = new_stream();
    FERRY_MUST(cuMemcpyHtoDAsync(device, pinned_memory(1), kBytes, stream));
    FERRY_MUST(cuStreamSynchronize(stream));
    const std::lock_guard lock(mutex);
    ready = true;
  });
  while (true) {
    const std::lock_guard lock(mutex);
    if (ready) break;
  }
  const CUstream stream = new_stream();
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  uploader.join();
  return all_are(to, 1);
}

bool handed_to_another_thread_with_an_event() {
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  const CUevent event = new_event();
  CUcontext context = nullptr;
  FERRY_MUST(cuCtxGetCurrent(&context));
  std::thread([&] {
    FERRY_MUST(cuCtxSetCurrent(context));
    const CUstream stream = new_stream();
    FERRY_MUST(cuMemcpyHtoDAsync(device, pinned_memory(1), kBytes, stream));
    FERRY_MUST(cuEventRecord(event, stream));
  }).join();
  const CUstream stream = new_stream();
  FERRY_MUST(cuStreamWaitEvent(stream, event, 0));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  return all_are(to, 1);
}

bool members_of_a_batch_lie_apart() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  std::array to{device, device + kBytes / 2};
  const auto from_one = reinterpret_cast<CUdeviceptr>(pinned_memory(1));
  std::array from{from_one, from_one + kBytes / 4};  // they may read the same bytes
  copy_batch(to, from, kBytes / 2, stream);
  return device_holds(device, 1);
}

bool two_streams_read_the_same() {
  const CUstream first = new_stream();
  const CUstream second = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const one = pinned_memory();
  unsigned char* const two = pinned_memory();
  FERRY_MUST(cuMemsetD8(device, 1, kBytes));
  FERRY_MUST(cuCtxSynchronize());
  FERRY_MUST(cuMemcpyDtoHAsync(one, device, kBytes, first));
  FERRY_MUST(cuMemcpyDtoHAsync(two, device, kBytes, second));
  FERRY_MUST(cuCtxSynchronize());
  return all_are(one, 1) && all_are(two, 1);
}

bool two_streams_write_their_halves() {
  const CUstream first = new_stream();
  const CUstream second = new_stream();
  const CUdeviceptr device = device_memory();
  FERRY_MUST(cuMemsetD8Async(device, 1, kBytes / 2, first));
  FERRY_MUST(cuMemsetD8Async(device + kBytes / 2, 2, kBytes / 2, second));
  return device_holds(device, 1, kBytes / 2) && device_holds(device + kBytes / 2, 2, kBytes / 2);
}

bool a_host_function_hands_over() {
  const CUstream up = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const staging = pinned_memory(1);
  FERRY_MUST(cuMemsetD8Async(device, 9, kBytes, up));
  FERRY_MUST(cuLaunchHostFunc(
      up, [](void* to) { std::fill_n(static_cast<unsigned char*>(to), kBytes, '\2'); }, staging));
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, up));
  return device_holds(device, 2);
}

bool a_callback_hands_over() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  static bool seen = false;
  FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, stream));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, stream));
  FERRY_MUST(cuStreamAddCallback(
      stream,
      [](CUstream, CUresult, void* bytes) {
        seen = all_are(static_cast<unsigned char*>(bytes), 1);
      },
      to, 0));
  FERRY_MUST(cuStreamSynchronize(stream));
  return seen;
}

bool an_event_recorded_twice() {
  const CUstream up = new_stream();
  const CUstream down = new_stream();
  const CUdeviceptr device = device_memory();
  const CUevent event = new_event();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuEventRecord(event, up));
  FERRY_MUST(cuMemcpyHtoDAsync(device, pinned_memory(1), kBytes, up));
  FERRY_MUST(cuEventRecord(event, up));
  FERRY_MUST(cuStreamWaitEvent(down, event, 0));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, down));
  FERRY_MUST(cuStreamSynchronize(down));
  return all_are(to, 1);
}

bool three_streams_in_a_row() {
  const std::array streams{new_stream(), new_stream(), new_stream()};
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemcpyHtoDAsync(device, pinned_memory(1), kBytes, streams[0]));
  order(streams[0], streams[1]);
  order(streams[1], streams[2]);
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, streams[2]));
  FERRY_MUST(cuStreamSynchronize(streams[2]));
  return all_are(to, 1);
}

bool a_word_in_memory_between_streams() {
  const CUstream up = new_stream();
  const CUstream down = new_stream();
  const CUdeviceptr device = device_memory();
  const CUdeviceptr word = device_memory();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemcpyHtoDAsync(device, pinned_memory(1), kBytes, up));
  FERRY_MUST(cuStreamWriteValue32(up, word, 1, 0));
  FERRY_MUST(cuStreamWaitValue32(down, word, 1, CU_STREAM_WAIT_VALUE_GEQ));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, down));
  FERRY_MUST(cuStreamSynchronize(down));
  return all_are(to, 1);
}

bool a_word_in_memory_that_is_waited_for_first() {
  const CUstream up = new_stream();
  const CUstream down = new_stream();
  const CUdeviceptr device = device_memory();
  const CUdeviceptr word = device_memory();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuStreamWaitValue32(down, word, 1, CU_STREAM_WAIT_VALUE_EQ));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, down));
  const CUstream after = new_stream();
  order(down, after);
  FERRY_MUST(cuMemcpyHtoDAsync(device, pinned_memory(1), kBytes, up));
  FERRY_MUST(cuStreamWriteValue32(up, word, 1, 0));
  FERRY_MUST(cuMemsetD8Async(device, 2, kBytes, after));
  FERRY_MUST(cuStreamSynchronize(after));
  FERRY_MUST(cuMemsetD8Async(device, 3, kBytes, new_stream()));
  return all_are(to, 1) && device_holds(device, 3);
}

constexpr Program kPrograms[] = {
    {"an_event_between_streams", an_event_between_streams},
    {"the_host_waits_between_streams", the_host_waits_between_streams},
    {"an_event_is_polled", an_event_is_polled},
    {"a_stream_is_polled", a_stream_is_polled},
    {"the_default_stream_orders_blocking_ones", the_default_stream_orders_blocking_ones},
    {"the_default_stream_of_a_thread_and_the_legacy_one",
     the_default_stream_of_a_thread_and_the_legacy_one},
    {"a_ring_of_two_buffers", a_ring_of_two_buffers},
    {"handed_to_another_thread_after_a_wait", handed_to_another_thread_after_a_wait},
    {"handed_to_another_thread_with_an_event", handed_to_another_thread_with_an_event},
    {"members_of_a_batch_lie_apart", members_of_a_batch_lie_apart},
    {"two_streams_read_the_same", two_streams_read_the_same},
    {"two_streams_write_their_halves", two_streams_write_their_halves},
    {"a_host_function_hands_over", a_host_function_hands_over},
    {"a_callback_hands_over", a_callback_hands_over},
    {"an_event_recorded_twice", an_event_recorded_twice},
    {"three_streams_in_a_row", three_streams_in_a_row},
    {"a_word_in_memory_between_streams", a_word_in_memory_between_streams},
    {"a_word_in_memory_that_is_waited_for_first", a_word_in_memory_that_is_waited_for_first},
};

}  // namespace

std::span<const Program> correct_orders() {
  return kPrograms;
}

}  // namespace ferry::programs
