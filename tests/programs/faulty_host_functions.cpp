// SPDX-License-Identifier: Apache-2.0
// Host functions, and waits for words, that nothing orders with the copies of another stream. What
// a host function touches nobody sees but by the bytes.
#include "programs/program.hpp"

namespace ferry::programs {

namespace {

void set_to_two(void* bytes) {
  std::fill_n(static_cast<unsigned char*>(bytes), kBytes, static_cast<unsigned char>(2));
}

bool host_function_reads_what_another_stream_fetches() {
  struct Box {
    unsigned char* bytes = pinned_memory();
    bool right = false;
  } box;
  const CUdeviceptr device = device_memory();
  FERRY_MUST(cuMemsetD8(device, 1, kBytes));
  FERRY_MUST(cuMemcpyDtoHAsync(box.bytes, device, kBytes, new_stream()));
  FERRY_MUST(cuLaunchHostFunc(
      new_stream(),
      [](void* its) {
        auto& fetched = *static_cast<Box*>(its);
        fetched.right = all_are(fetched.bytes, 1);
      },
      &box));
  FERRY_MUST(cuCtxSynchronize());
  return box.right;
}

bool host_function_fills_what_another_stream_sends() {
  unsigned char* const staging = pinned_memory(1);
  const CUdeviceptr device = device_memory();
  FERRY_MUST(cuLaunchHostFunc(new_stream(), set_to_two, staging));
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, new_stream()));
  return device_holds(device, 2);
}

bool host_function_rewrites_what_another_stream_sends() {
  unsigned char* const staging = pinned_memory(1);
  const CUdeviceptr device = device_memory();
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, new_stream()));
  FERRY_MUST(cuLaunchHostFunc(new_stream(), set_to_two, staging));
  return device_holds(device, 1);
}

bool host_function_writes_where_another_stream_fetches() {
  unsigned char* const to = pinned_memory();
  const CUdeviceptr device = device_memory();
  FERRY_MUST(cuLaunchHostFunc(new_stream(), set_to_two, to));
  FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, new_stream()));
  FERRY_MUST(cuCtxSynchronize());
  return all_are(to, 0);
}

// One stream waits for both; it asks neither to wait for the other.
bool host_function_beside_a_copy_and_joined_with_it() {
  unsigned char* const staging = pinned_memory(1);
  const CUdeviceptr device = device_memory();
  const CUstream host = new_stream();
  const CUstream up = new_stream();
  const CUstream both = new_stream();
  FERRY_MUST(cuLaunchHostFunc(host, set_to_two, staging));
  FERRY_MUST(cuMemcpyHtoDAsync(device, staging, kBytes, up));
  order(host, both);
  order(up, both);
  FERRY_MUST(cuStreamSynchronize(both));
  return device_holds(device, 2);
}

// In the second round the word still says what it said in the first.
bool word_that_holds_the_value_of_the_last_round() {
  const CUstream up = new_stream();
  const CUstream down = new_stream();
  const CUdeviceptr device = device_memory();
  const CUdeviceptr word = device_memory();
  unsigned char* const to = pinned_memory();
  for (int round = 1; round <= 2; ++round) {
    FERRY_MUST(cuMemcpyHtoDAsync(device, pinned_memory(round), kBytes, up));
    FERRY_MUST(cuStreamWriteValue32(up, word, 1, 0));
    FERRY_MUST(cuStreamWaitValue32(down, word, 1, CU_STREAM_WAIT_VALUE_EQ));
    FERRY_MUST(cuMemcpyDtoHAsync(to, device, kBytes, down));
    FERRY_MUST(cuCtxSynchronize());
    if (!all_are(to, round)) return false;
  }
  return true;
}

constexpr Program kPrograms[] = {
    {"host_function_reads_what_another_stream_fetches",
     host_function_reads_what_another_stream_fetches},
    {"host_function_fills_what_another_stream_sends",
     host_function_fills_what_another_stream_sends},
    {"host_function_rewrites_what_another_stream_sends",
     host_function_rewrites_what_another_stream_sends},
    {"host_function_writes_where_another_stream_fetches",
     host_function_writes_where_another_stream_fetches},
    {"host_function_beside_a_copy_and_joined_with_it",
     host_function_beside_a_copy_and_joined_with_it},
    {"word_that_holds_the_value_of_the_last_round", word_that_holds_the_value_of_the_last_round},
};

}  // namespace

std::span<const Program> faulty_host_functions() {
  return kPrograms;
}

}  // namespace ferry::programs
