// SPDX-License-Identifier: Apache-2.0
// Programs with one fault each: bytes that nothing puts in order.
#include <array>
#include <thread>
#include <vector>

#include "programs/program.hpp"

namespace ferry::programs {

namespace {

bool missing_event() {
  const CUstream up = new_stream();
  const CUstream down = new_stream();
  const CUdeviceptr device = device_memory();
  const unsigned char* const from = pinned_memory(1);
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemcpyHtoDAsync(device, from, kBytes, up));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, down));
  FERRY_MUST(cuStreamSynchronize(down));
  return all_are(to, 1);
}

bool event_never_recorded() {
  const CUstream up = new_stream();
  const CUstream down = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemcpyHtoDAsync(device, pinned_memory(1), kBytes, up));
  FERRY_MUST(cuStreamWaitEvent(down, new_event(), 0));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, down));
  FERRY_MUST(cuStreamSynchronize(down));
  return all_are(to, 1);
}

bool event_recorded_before_the_work() {
  const CUstream up = new_stream();
  const CUstream down = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  order(up, down);
  FERRY_MUST(cuMemcpyHtoDAsync(device, pinned_memory(1), kBytes, up));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, down));
  FERRY_MUST(cuStreamSynchronize(down));
  return all_are(to, 1);
}

bool event_waited_for_before_it_is_recorded_again() {
  const CUstream up = new_stream();
  const CUstream down = new_stream();
  const CUdeviceptr device = device_memory();
  const CUevent event = new_event();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuEventRecord(event, up));
  FERRY_MUST(cuStreamWaitEvent(down, event, 0));
  FERRY_MUST(cuMemcpyHtoDAsync(device, pinned_memory(1), kBytes, up));
  FERRY_MUST(cuEventRecord(event, up));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, down));
  FERRY_MUST(cuStreamSynchronize(down));
  return all_are(to, 1);
}

bool staging_buffer_rewritten_in_flight() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const staging = pinned_memory(1);
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, stream));
  std::fill_n(staging, kBytes, static_cast<unsigned char>(2));
  return device_holds(device, 1);
}

bool one_byte_of_a_staging_buffer_rewritten_in_flight() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const staging = pinned_memory(1);
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, stream));
  staging[kBytes - 1] = 2;
  return device_holds(device, 1);
}

bool pageable_source_rewritten_in_flight() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  std::vector<unsigned char> source(kBytes, 1);
  FERRY_MUST(cuMemcpyHtoDAsync(device, source.data(), kBytes, stream));
  std::fill(source.begin(), source.end(), static_cast<unsigned char>(2));
  return device_holds(device, 1);
}

bool pageable_memory_read_at_once_by_another_stream() {
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  const std::vector<unsigned char> mine(kBytes, 1);
  FERRY_MUST(cuMemcpyHtoD(device, mine.data(), kBytes));
  const CUstream stream = new_stream();
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  return all_are(to, 1);
}

bool result_read_before_it_is_there() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, stream));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, stream));
  return all_are(to, 1);
}

bool the_wrong_stream_waited_for() {
  const CUstream stream = new_stream();
  const CUstream other = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, stream));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, stream));
  FERRY_MUST(cuStreamSynchronize(other));
  return all_are(to, 1);
}

bool a_stream_destroyed_is_not_a_stream_waited_for() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, stream));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, stream));
  FERRY_MUST(cuStreamDestroy(stream));
  return all_are(to, 1);
}

bool unmapped_in_flight() {
  const CUstream stream = new_stream();
  const Mapped memory;
  const CUdeviceptr address = memory.map();
  const CUdeviceptr other = memory.map();
  FERRY_MUST(cuMemsetD8Async(address, 1, kBytes, stream));
  FERRY_MUST(cuMemUnmap(address, Mapped::kSize));
  return device_holds(other, 1);
}

// A wait that cuMemFree may contain is not promised (cuda.h).
bool freed_in_flight() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, stream));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, stream));
  FERRY_MUST(cuMemFree(device));
  FERRY_MUST(cuStreamSynchronize(stream));
  return all_are(to, 1);
}

bool memory_handed_on_in_flight() {
  const CUstream first = new_stream();
  const CUstream second = new_stream();
  const CUdeviceptr device = device_memory();
  FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, first));
  FERRY_MUST(cuMemsetD8Async(device, 2, kBytes, second));
  return device_holds(device, 2);
}

bool written_through_one_alias_and_read_through_another() {
  const CUstream first = new_stream();
  const CUstream second = new_stream();
  const Mapped memory;
  const CUdeviceptr one = memory.map();
  const CUdeviceptr two = memory.map();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemsetD8Async(one, 1, kBytes, first));
  FERRY_MUST(cuMemcpyDtoHAsync(to, two, kBytes, second));
  FERRY_MUST(cuStreamSynchronize(second));
  return all_are(to, 1);
}

bool non_blocking_stream_against_the_default_one() {
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, stream));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, nullptr));
  FERRY_MUST(cuStreamSynchronize(nullptr));
  return all_are(to, 1);
}

bool members_of_a_batch_overlap() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  std::array to{device, device + kBytes / 4};
  std::array from{reinterpret_cast<CUdeviceptr>(pinned_memory(1)),
                  reinterpret_cast<CUdeviceptr>(pinned_memory(2))};
  copy_batch(to, from, kBytes / 2, stream);
  return device_holds(device, 1, kBytes / 4) && device_holds(device + kBytes / 4, 2, kBytes / 2);
}

bool a_member_of_a_batch_reads_what_another_writes() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  const CUdeviceptr copy = device_memory();
  std::array to{device, copy};
  std::array from{reinterpret_cast<CUdeviceptr>(pinned_memory(1)), device};
  copy_batch(to, from, kBytes, stream);
  return device_holds(copy, 1);
}

bool handed_to_another_thread_without_a_wait() {
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  CUcontext context = nullptr;
  FERRY_MUST(cuCtxGetCurrent(&context));
  std::thread([&] {
    FERRY_MUST(cuCtxSetCurrent(context));
    FERRY_MUST(cuMemcpyHtoDAsync(device, pinned_memory(1), kBytes, new_stream()));
  }).join();
  const CUstream stream = new_stream();
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  return all_are(to, 1);
}

bool two_threads_and_their_default_streams() {
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  CUcontext context = nullptr;
  FERRY_MUST(cuCtxGetCurrent(&context));
  std::thread([&] {
    FERRY_MUST(cuCtxSetCurrent(context));
    FERRY_MUST(cuMemsetD8Async(device, 1, kBytes, CU_STREAM_PER_THREAD));
  }).join();
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, CU_STREAM_PER_THREAD));
  FERRY_MUST(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  return all_are(to, 1);
}

bool a_ring_that_waits_for_the_other_buffer() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory(4 * kBytes);
  const std::array buffers{pinned_memory(), pinned_memory()};
  const std::array free{new_event(), new_event()};
  for (std::size_t i = 0; i < 4; ++i) {
    if (i >= 2) FERRY_MUST(cuEventSynchronize(free[0]));  // whichever it is
    std::fill_n(buffers[i % 2], kBytes, static_cast<unsigned char>(i + 1));
    FERRY_MUST(cuMemcpyHtoDAsync(device + i * kBytes, buffers[i % 2], kBytes, stream));
    if (i < 2) FERRY_MUST(cuEventRecord(free[i % 2], stream));
  }
  for (std::size_t i = 0; i < 4; ++i) {
    if (!device_holds(device + i * kBytes, static_cast<int>(i) + 1)) return false;
  }
  return true;
}

bool rewritten_after_a_word_without_waiting_for_its_reader() {
  const CUstream up = new_stream();
  const CUstream down = new_stream();
  const CUdeviceptr device = device_memory();
  const CUdeviceptr word = device_memory();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemcpyHtoDAsync(device, pinned_memory(1), kBytes, up));
  FERRY_MUST(cuStreamWriteValue32(up, word, 1, 0));
  FERRY_MUST(cuMemcpyHtoDAsync(device, pinned_memory(2), kBytes, up));
  FERRY_MUST(cuStreamWaitValue32(down, word, 1, CU_STREAM_WAIT_VALUE_GEQ));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, down));
  FERRY_MUST(cuStreamSynchronize(down));
  return all_are(to, 1);
}

bool used_before_it_is_allocated() {
  const CUstream owner = new_stream();
  const CUstream user = new_stream();
  CUdeviceptr memory = 0;
  FERRY_MUST(cuMemAllocAsync(&memory, kBytes, owner));
  FERRY_MUST(cuMemsetD8Async(memory, 1, kBytes, user));
  return device_holds(memory, 1);
}

bool freed_while_another_stream_reads() {
  const CUstream owner = new_stream();
  const CUstream user = new_stream();
  unsigned char* const to = pinned_memory();
  CUdeviceptr memory = 0;
  FERRY_MUST(cuMemAllocAsync(&memory, kBytes, owner));
  FERRY_MUST(cuMemsetD8Async(memory, 1, kBytes, owner));
  order(owner, user);
  FERRY_MUST(cuMemcpyDtoHAsync(to, memory, kBytes, user));
  FERRY_MUST(cuMemFreeAsync(memory, owner));
  FERRY_MUST(cuCtxSynchronize());
  return all_are(to, 1);
}

constexpr Program kPrograms[] = {
    {"missing_event", missing_event},
    {"event_never_recorded", event_never_recorded},
    {"event_recorded_before_the_work", event_recorded_before_the_work},
    {"event_waited_for_before_it_is_recorded_again", event_waited_for_before_it_is_recorded_again},
    {"staging_buffer_rewritten_in_flight", staging_buffer_rewritten_in_flight},
    {"one_byte_of_a_staging_buffer_rewritten_in_flight",
     one_byte_of_a_staging_buffer_rewritten_in_flight},
    {"pageable_source_rewritten_in_flight", pageable_source_rewritten_in_flight},
    {"pageable_memory_read_at_once_by_another_stream",
     pageable_memory_read_at_once_by_another_stream},
    {"result_read_before_it_is_there", result_read_before_it_is_there},
    {"the_wrong_stream_waited_for", the_wrong_stream_waited_for},
    {"a_stream_destroyed_is_not_a_stream_waited_for",
     a_stream_destroyed_is_not_a_stream_waited_for},
    {"unmapped_in_flight", unmapped_in_flight},
    {"freed_in_flight", freed_in_flight},
    {"memory_handed_on_in_flight", memory_handed_on_in_flight},
    {"written_through_one_alias_and_read_through_another",
     written_through_one_alias_and_read_through_another},
    {"non_blocking_stream_against_the_default_one", non_blocking_stream_against_the_default_one},
    {"members_of_a_batch_overlap", members_of_a_batch_overlap},
    {"a_member_of_a_batch_reads_what_another_writes",
     a_member_of_a_batch_reads_what_another_writes},
    {"handed_to_another_thread_without_a_wait", handed_to_another_thread_without_a_wait},
    {"two_threads_and_their_default_streams", two_threads_and_their_default_streams},
    {"rewritten_after_a_word_without_waiting_for_its_reader",
     rewritten_after_a_word_without_waiting_for_its_reader},
    {"used_before_it_is_allocated", used_before_it_is_allocated},
    {"freed_while_another_stream_reads", freed_while_another_stream_reads},
    {"a_ring_that_waits_for_the_other_buffer", a_ring_that_waits_for_the_other_buffer},
};

}  // namespace

std::span<const Program> faulty_programs() {
  return kPrograms;
}

}  // namespace ferry::programs
