// SPDX-License-Identifier: Apache-2.0
// What the tests of exported functions stand on: a fresh machine with the primary context of device
// 0 current. The functions are linked in, not loaded.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sim/exports/control.hpp"
#include "sim/words/cuda_api.hpp"

#define FERRY_OK(call) ASSERT_EQ((call), CUDA_SUCCESS)

namespace ferry::sim {

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class SimTest : public testing::Test {
 protected:
  void SetUp() override { restart(""); }
  void TearDown() override {
    EXPECT_EQ(ferry_sim_take_hazards(), 0U) << "hazards that the test did not expect";
    ASSERT_EQ(ferry_sim_reset(""), 0);
  }

  void restart(const std::string& settings) {
    ASSERT_EQ(ferry_sim_reset(settings.c_str()), 0);
    FERRY_OK(cuInit(0));
    FERRY_OK(cuDevicePrimaryCtxRetain(&context, 0));
    FERRY_OK(cuCtxPushCurrent_v2(context));
  }

  static CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAlloc_v2(&address, bytes), CUDA_SUCCESS);
    return address;
  }
  static void* allocate_host(std::size_t bytes) {
    void* pointer = nullptr;
    EXPECT_EQ(cuMemHostAlloc(&pointer, bytes, 0), CUDA_SUCCESS);
    return pointer;
  }
  static CUstream stream() {
    CUstream handle = nullptr;
    EXPECT_EQ(cuStreamCreate(&handle, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    return handle;
  }
  static CUevent event(unsigned flags = CU_EVENT_DISABLE_TIMING) {
    CUevent handle = nullptr;
    EXPECT_EQ(cuEventCreate(&handle, flags), CUDA_SUCCESS);
    return handle;
  }
  // What device memory holds now, whatever is still queued.
  static std::uint32_t peek(CUdeviceptr address) {
    std::uint32_t word = 0;
    EXPECT_EQ(ferry_sim_peek(address, &word, sizeof word), 0);
    return word;
  }

  CUcontext context = nullptr;
};

inline constexpr std::uint32_t kUnwritten = 0xA5A5A5A5;

}  // namespace ferry::sim
