// SPDX-License-Identifier: Apache-2.0
// Programs that are right: each uses another kind of memory.
#include <vector>

#include "programs/program.hpp"

namespace ferry::programs {

namespace {

bool two_aliases_in_one_stream() {
  const CUstream stream = new_stream();
  const Mapped memory;
  const CUdeviceptr one = memory.map();
  const CUdeviceptr two = memory.map();
  unsigned char* const to = pinned_memory();
  FERRY_MUST(cuMemsetD8Async(one, 1, kBytes, stream));
  FERRY_MUST(cuMemcpyDtoHAsync(to, two, kBytes, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  return all_are(to, 1);
}

bool unmapped_after_a_wait_and_mapped_elsewhere() {
  const CUstream stream = new_stream();
  const Mapped memory;
  const CUdeviceptr address = memory.map();
  FERRY_MUST(cuMemsetD8Async(address, 1, kBytes, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  FERRY_MUST(cuMemUnmap(address, Mapped::kSize));
  return device_holds(memory.map(), 1);
}

bool another_memory_at_the_same_address() {
  const CUstream stream = new_stream();
  const Mapped first;
  const Mapped second;
  const CUdeviceptr address = first.map();
  FERRY_MUST(cuMemsetD8Async(address, 1, kBytes, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  FERRY_MUST(cuMemUnmap(address, Mapped::kSize));
  second.map_at(address);
  const CUstream other = new_stream();
  FERRY_MUST(cuMemsetD8Async(address, 2, kBytes, other));
  return device_holds(address, 2) && device_holds(first.map(), 1);
}

bool memory_of_the_program_registered() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  std::vector<unsigned char> mine(kBytes, 1);
  FERRY_MUST(cuMemHostRegister(mine.data(), kBytes, 0));
  FERRY_MUST(cuMemcpyHtoDAsync(device, mine.data(), kBytes, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  std::fill(mine.begin(), mine.end(), static_cast<unsigned char>(0));
  FERRY_MUST(cuMemcpyDtoHAsync(mine.data(), device, kBytes, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  FERRY_MUST(cuMemHostUnregister(mine.data()));
  return all_are(mine.data(), 1);
}

bool pageable_memory_after_a_wait() {
  const CUstream stream = new_stream();
  const CUdeviceptr device = device_memory();
  std::vector<unsigned char> mine(kBytes, 1);
  FERRY_MUST(cuMemcpyHtoDAsync(device, mine.data(), kBytes, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  std::fill(mine.begin(), mine.end(), static_cast<unsigned char>(0));
  FERRY_MUST(cuMemcpyDtoHAsync(mine.data(), device, kBytes, stream));
  FERRY_MUST(cuStreamSynchronize(stream));
  return all_are(mine.data(), 1);
}

bool a_call_that_waits_frees_its_pageable_source() {
  const CUdeviceptr device = device_memory();
  std::vector<unsigned char> mine(kBytes, 1);
  FERRY_MUST(cuMemcpyHtoD(device, mine.data(), kBytes));
  std::fill(mine.begin(), mine.end(), static_cast<unsigned char>(2));
  return device_holds(device, 1);
}

bool a_plain_copy_and_the_streams_that_come_after_it() {
  const CUdeviceptr device = device_memory();
  unsigned char* const to = pinned_memory();
  const std::vector<unsigned char> mine(kBytes, 1);
  FERRY_MUST(cuMemcpyHtoD(device, mine.data(), kBytes));
  const CUstream blocking = new_stream(CU_STREAM_DEFAULT);
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, blocking));
  FERRY_MUST(cuStreamSynchronize(blocking));
  FERRY_MUST(cuMemsetD8Async(device, 2, kBytes, new_stream()));
  return all_are(to, 1) && device_holds(device, 2);
}

bool a_plain_copy_into_memory_that_is_freed() {
  const CUdeviceptr device = device_memory();
  const std::vector<unsigned char> mine(kBytes, 1);
  FERRY_MUST(cuMemcpyHtoD(device, mine.data(), kBytes));
  FERRY_MUST(cuMemFree(device));
  return true;
}

bool memory_in_the_order_of_a_stream() {
  const CUstream stream = new_stream();
  unsigned char* const to = pinned_memory();
  for (int round = 1; round <= 4; ++round) {
    CUdeviceptr memory = 0;
    FERRY_MUST(cuMemAllocAsync(&memory, kBytes, stream));
    FERRY_MUST(cuMemsetD8Async(memory, static_cast<unsigned char>(round), kBytes, stream));
    FERRY_MUST(cuMemcpyDtoHAsync(to, memory, kBytes, stream));
    FERRY_MUST(cuMemFreeAsync(memory, stream));
  }
  FERRY_MUST(cuStreamSynchronize(stream));
  return all_are(to, 4);
}

bool memory_allocated_for_another_stream() {
  const CUstream owner = new_stream();
  const CUstream user = new_stream();
  unsigned char* const to = pinned_memory();
  CUdeviceptr memory = 0;
  FERRY_MUST(cuMemAllocAsync(&memory, kBytes, owner));
  order(owner, user);
  FERRY_MUST(cuMemsetD8Async(memory, 1, kBytes, user));
  FERRY_MUST(cuMemcpyDtoHAsync(to, memory, kBytes, user));
  order(user, owner);
  FERRY_MUST(cuMemFreeAsync(memory, owner));
  CUdeviceptr next = 0;
  FERRY_MUST(cuMemAllocAsync(&next, kBytes, user));
  FERRY_MUST(cuMemsetD8Async(next, 2, kBytes, user));
  FERRY_MUST(cuMemFreeAsync(next, user));
  FERRY_MUST(cuCtxSynchronize());
  return all_are(to, 1);
}

constexpr Program kPrograms[] = {
    {"two_aliases_in_one_stream", two_aliases_in_one_stream},
    {"unmapped_after_a_wait_and_mapped_elsewhere", unmapped_after_a_wait_and_mapped_elsewhere},
    {"another_memory_at_the_same_address", another_memory_at_the_same_address},
    {"memory_of_the_program_registered", memory_of_the_program_registered},
    {"pageable_memory_after_a_wait", pageable_memory_after_a_wait},
    {"a_call_that_waits_frees_its_pageable_source", a_call_that_waits_frees_its_pageable_source},
    {"a_plain_copy_and_the_streams_that_come_after_it",
     a_plain_copy_and_the_streams_that_come_after_it},
    {"a_plain_copy_into_memory_that_is_freed", a_plain_copy_into_memory_that_is_freed},
    {"memory_in_the_order_of_a_stream", memory_in_the_order_of_a_stream},
    {"memory_allocated_for_another_stream", memory_allocated_for_another_stream},
};

}  // namespace

std::span<const Program> correct_memory() {
  return kPrograms;
}

}  // namespace ferry::programs
