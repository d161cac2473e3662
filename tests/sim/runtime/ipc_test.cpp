// SPDX-License-Identifier: Apache-2.0
// Memory and events of another process: a child, which is this program again.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime_test {
namespace {

constexpr const char* kHandles = "FERRY_RUNTIME_IPC_TEST";

struct Handles {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t event;
};

std::string as_text(const Handles& handles) {
  static constexpr char kDigits[] = "0123456789abcdef";
  unsigned char bytes[sizeof handles];
  std::memcpy(bytes, &handles, sizeof handles);
  std::string text;
  for (const unsigned char byte : bytes) {
    text.push_back(kDigits[byte / 16]);
    text.push_back(kDigits[byte % 16]);
  }
  return text;
}

Handles from_text(const std::string& text) {
  unsigned char bytes[sizeof(Handles)] = {};
  for (std::size_t i = 0; i < sizeof bytes && 2 * i + 1 < text.size(); ++i)
    bytes[i] = static_cast<unsigned char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  Handles handles{};
  std::memcpy(&handles, bytes, sizeof handles);
  return handles;
}

// The exit status of this program with one test, in a process of its own.
int run_child(const std::string& handles) {
  ::setenv(kHandles, handles.c_str(), 1);
  char program[] = "/proc/self/exe";
  char filter[] = "--gtest_filter=RuntimeIpcChild.*";
  char* arguments[] = {program, filter, nullptr};
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, program, nullptr, nullptr, arguments, environ), 0);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  ::unsetenv(kHandles);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(RuntimeIpcChild, ReadsAndWritesWhatItIsShown) {
  const char* const text = std::getenv(kHandles);
  if (text == nullptr) GTEST_SKIP() << "only as a child of RuntimeIpcTest";
  const Handles handles = from_text(text);
  cudaEvent_t written = nullptr;
  FERRY_RT_OK(cudaIpcOpenEventHandle(&written, handles.event));
  FERRY_RT_OK(cudaEventSynchronize(written));
  void* memory = nullptr;
  FERRY_RT_OK(cudaIpcOpenMemHandle(&memory, handles.memory, cudaIpcMemLazyEnablePeerAccess));
  std::uint32_t value = 0;
  FERRY_RT_OK(cudaMemcpy(&value, memory, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(value, 0x21212121U);
  FERRY_RT_OK(cudaMemset(memory, 0x22, 4));
  FERRY_RT_OK(cudaDeviceSynchronize());
  FERRY_RT_OK(cudaIpcCloseMemHandle(memory));
}

using RuntimeIpcTest = RuntimeTest;

TEST_F(RuntimeIpcTest, AChildSharesMemoryAndAnEvent) {
  void* const memory = allocate(2 * kMiB);
  const cudaStream_t own = stream();
  const cudaEvent_t written = event(cudaEventInterprocess | cudaEventDisableTiming);
  Handles handles{};
  FERRY_RT_OK(cudaIpcGetMemHandle(&handles.memory, memory));
  FERRY_RT_OK(cudaIpcGetEventHandle(&handles.event, written));
  FERRY_RT_OK(cudaMemsetAsync(memory, 0x21, 4, own));
  FERRY_RT_OK(cudaEventRecord(written, own));
  EXPECT_EQ(run_child(as_text(handles)), 0);
  FERRY_RT_OK(cudaStreamSynchronize(own));
  EXPECT_EQ(word(memory), 0x22222222U);
}

TEST_F(RuntimeIpcTest, WhatCannotBeShared) {
  cudaIpcMemHandle_t handle{};
  int on_the_stack = 0;
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, &on_the_stack), cudaErrorInvalidValue);
  cudaIpcEventHandle_t of_event{};
  EXPECT_NE(cudaIpcGetEventHandle(&of_event, event()), cudaSuccess);
  void* memory = nullptr;
  EXPECT_NE(cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess), cudaSuccess);
  EXPECT_EQ(cudaIpcCloseMemHandle(&on_the_stack), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace ferry::sim::runtime_test
