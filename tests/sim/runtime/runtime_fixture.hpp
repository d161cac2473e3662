// SPDX-License-Identifier: Apache-2.0
// What the tests of the runtime stand on: both stand-ins as a program has them, linked as shared
// libraries, on a fresh machine with device 0 chosen. The driver stand-in's controls are found by
// dlsym, for it has no header of functions.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <ferry/sim.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#define FERRY_RT_OK(call) ASSERT_EQ((call), cudaSuccess)

namespace ferry::sim::runtime_test {

inline constexpr std::size_t kMiB = std::size_t{1} << 20;

template <typename Function>
Function control(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

inline std::uint64_t take_hazards() {
  return control<ferry_sim_take_hazards_fn>(FERRY_SIM_TAKE_HAZARDS)();
}

inline std::uint64_t memory_in_use(int device) {
  return control<ferry_sim_memory_in_use_fn>(FERRY_SIM_MEMORY_IN_USE)(device);
}

inline void fail_nth(const char* function, std::uint64_t nth, int result) {
  ASSERT_EQ(control<ferry_sim_fail_nth_fn>(FERRY_SIM_FAIL_NTH)(function, nth, result), 0);
}

class RuntimeTest : public testing::Test {
 protected:
  void SetUp() override { restart(""); }
  void TearDown() override {
    EXPECT_EQ(take_hazards(), 0U) << "hazards that the test did not expect";
    reset("");
    cudaGetLastError();
  }

  static void reset(const std::string& settings) {
    ASSERT_EQ(control<ferry_sim_reset_fn>(FERRY_SIM_RESET)(settings.c_str()), 0);
  }
  static void restart(const std::string& settings) {
    reset(settings);
    FERRY_RT_OK(cudaSetDevice(0));
    cudaGetLastError();
  }

  static void* allocate(std::size_t bytes) {
    void* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, bytes), cudaSuccess);
    return pointer;
  }
  template <typename Value>
  static Value* allocate_host(std::size_t count) {
    void* pointer = nullptr;
    EXPECT_EQ(cudaMallocHost(&pointer, count * sizeof(Value)), cudaSuccess);
    return static_cast<Value*>(pointer);
  }
  static cudaStream_t stream(unsigned flags = cudaStreamNonBlocking) {
    cudaStream_t handle = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&handle, flags), cudaSuccess);
    return handle;
  }
  static cudaEvent_t event(unsigned flags = cudaEventDisableTiming) {
    cudaEvent_t handle = nullptr;
    EXPECT_EQ(cudaEventCreateWithFlags(&handle, flags), cudaSuccess);
    return handle;
  }
  // What device memory holds when everything has run.
  static std::uint32_t word(const void* device, std::size_t index = 0) {
    std::uint32_t value = 0;
    const auto* const at = static_cast<const std::uint32_t*>(device) + index;
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(&value, at, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
    return value;
  }
  // In another thread, to its end.
  template <typename Work>
  static void elsewhere(Work&& work) {
    std::thread(std::forward<Work>(work)).join();
  }
};

// The same under every order in which queued work may run.
class ScheduledRuntimeTest : public RuntimeTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override { restart(GetParam()); }
  static bool eager() { return std::string(GetParam()) == "schedule=eager"; }
  static bool lazy() { return std::string(GetParam()) == "schedule=lazy"; }
};

#define FERRY_EVERY_SCHEDULE(suite)                                                  \
  INSTANTIATE_TEST_SUITE_P(                                                          \
      Schedules, suite,                                                              \
      testing::Values("schedule=eager", "schedule=lazy", "schedule=random;seed=3"),  \
      [](const testing::TestParamInfo<const char*>& schedule) {                      \
        const std::string text(schedule.param);                                      \
        return text.substr(text.find('=') + 1, text.find(';') - text.find('=') - 1); \
      })

}  // namespace ferry::sim::runtime_test
