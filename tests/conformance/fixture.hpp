// SPDX-License-Identifier: Apache-2.0
// What most tests of the suite stand on: the primary context of device 0, current for the test, and
// owners that give back what a test takes. All failures are reported through GoogleTest.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "conformance/driver_under_test.hpp"

// The rest of a test makes no sense once this fails.
#define FERRY_OK(call) ASSERT_EQ((call), CUDA_SUCCESS)

namespace ferry::conformance {

inline constexpr std::size_t kMiB = std::size_t{1} << 20;

inline unsigned read_word(CUdeviceptr address) {
  unsigned word = 0;
  EXPECT_EQ(cuda().cuMemcpyDtoH_v2(&word, address, sizeof word), CUDA_SUCCESS);
  return word;
}

class WithContext : public testing::Test {
 protected:
  void SetUp() override {
    FERRY_OK(cuda().cuDeviceGet(&device, 0));
    FERRY_OK(cuda().cuDevicePrimaryCtxRetain(&context, device));
    FERRY_OK(cuda().cuCtxPushCurrent_v2(context));
  }
  void TearDown() override {
    CUcontext popped = nullptr;
    EXPECT_EQ(cuda().cuCtxPopCurrent_v2(&popped), CUDA_SUCCESS);
    EXPECT_EQ(popped, context) << "the test left another context current";
    EXPECT_EQ(cuda().cuDevicePrimaryCtxRelease_v2(device), CUDA_SUCCESS);
  }

  CUdevice device = 0;
  CUcontext context = nullptr;
};

struct DeviceBuffer {
  explicit DeviceBuffer(std::size_t size) : bytes(size) {
    EXPECT_EQ(cuda().cuMemAlloc_v2(&address, size), CUDA_SUCCESS);
  }
  ~DeviceBuffer() { EXPECT_EQ(cuda().cuMemFree_v2(address), CUDA_SUCCESS); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  CUdeviceptr address = 0;
  std::size_t bytes;
};

struct PinnedBuffer {
  explicit PinnedBuffer(std::size_t size) : bytes(size) {
    EXPECT_EQ(cuda().cuMemHostAlloc(&pointer, size, 0), CUDA_SUCCESS);
  }
  ~PinnedBuffer() { EXPECT_EQ(cuda().cuMemFreeHost(pointer), CUDA_SUCCESS); }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;

  [[nodiscard]] unsigned char* data() const { return static_cast<unsigned char*>(pointer); }
  void fill(int value) { std::memset(pointer, value, bytes); }
  [[nodiscard]] bool holds(int value) const {
    for (std::size_t i = 0; i < bytes; ++i) {
      if (data()[i] != static_cast<unsigned char>(value)) return false;
    }
    return true;
  }

  void* pointer = nullptr;
  std::size_t bytes;
};

struct StreamOwner {
  explicit StreamOwner(unsigned flags = CU_STREAM_NON_BLOCKING) {
    EXPECT_EQ(cuda().cuStreamCreate(&handle, flags), CUDA_SUCCESS);
  }
  ~StreamOwner() { EXPECT_EQ(cuda().cuStreamDestroy_v2(handle), CUDA_SUCCESS); }
  StreamOwner(const StreamOwner&) = delete;
  StreamOwner& operator=(const StreamOwner&) = delete;

  CUstream handle = nullptr;
};

struct EventOwner {
  explicit EventOwner(unsigned flags = CU_EVENT_DISABLE_TIMING) {
    EXPECT_EQ(cuda().cuEventCreate(&handle, flags), CUDA_SUCCESS);
  }
  ~EventOwner() { EXPECT_EQ(cuda().cuEventDestroy_v2(handle), CUDA_SUCCESS); }
  EventOwner(const EventOwner&) = delete;
  EventOwner& operator=(const EventOwner&) = delete;

  CUevent handle = nullptr;
};

[[nodiscard]] inline CUmemAllocationProp pinned_on(CUdevice device) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = device;
  return prop;
}

[[nodiscard]] inline CUmemAccessDesc access_of(
    CUdevice device, CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
  CUmemAccessDesc description{};
  description.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  description.location.id = device;
  description.flags = flags;
  return description;
}

}  // namespace ferry::conformance
