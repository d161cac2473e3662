// SPDX-License-Identifier: Apache-2.0
// Memory of devices and of the host.
#include <cstdlib>

#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime_test {
namespace {

using RuntimeMemoryTest = RuntimeTest;

TEST_F(RuntimeMemoryTest, NothingIsANullPointer) {
  void* pointer = this;
  FERRY_RT_OK(cudaMalloc(&pointer, 0));
  EXPECT_EQ(pointer, nullptr);
  pointer = this;
  FERRY_RT_OK(cudaMallocHost(&pointer, 0));
  EXPECT_EQ(pointer, nullptr);
  FERRY_RT_OK(cudaFree(nullptr));
  FERRY_RT_OK(cudaFreeHost(nullptr));
}

TEST_F(RuntimeMemoryTest, WhatIsFreedIsGone) {
  void* const memory = allocate(2 * kMiB);
  EXPECT_GE(memory_in_use(0), 2 * kMiB);
  FERRY_RT_OK(cudaFree(memory));
  EXPECT_EQ(memory_in_use(0), 0U);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
}

TEST_F(RuntimeMemoryTest, TooMuchIsOutOfMemory) {
  std::size_t free = 0;
  std::size_t total = 0;
  FERRY_RT_OK(cudaMemGetInfo(&free, &total));
  EXPECT_GT(total, 0U);
  EXPECT_LE(free, total);
  void* pointer = this;
  EXPECT_EQ(cudaMalloc(&pointer, total + 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  allocate(4 * kMiB);
  std::size_t left = 0;
  FERRY_RT_OK(cudaMemGetInfo(&left, &total));
  EXPECT_LE(left + 4 * kMiB, free);
}

TEST_F(RuntimeMemoryTest, RowsBeginAtThePitch) {
  void* rows = nullptr;
  std::size_t pitch = 0;
  FERRY_RT_OK(cudaMallocPitch(&rows, &pitch, 100, 3));
  EXPECT_GE(pitch, 100U);
  auto* const last = static_cast<char*>(rows) + 2 * pitch;
  FERRY_RT_OK(cudaMemset(last, 1, 100));
}

TEST_F(RuntimeMemoryTest, ManagedMemoryIsBothSides) {
  void* pointer = nullptr;
  FERRY_RT_OK(cudaMallocManaged(&pointer, 4, cudaMemAttachGlobal));
  *static_cast<std::uint32_t*>(pointer) = 5;
  EXPECT_EQ(word(pointer), 5U);
  cudaPointerAttributes attributes{};
  FERRY_RT_OK(cudaPointerGetAttributes(&attributes, pointer));
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  EXPECT_EQ(attributes.devicePointer, pointer);
  EXPECT_EQ(attributes.hostPointer, pointer);
}

TEST_F(RuntimeMemoryTest, PinnedMemoryIsKnownToTheDevice) {
  void* host = nullptr;
  FERRY_RT_OK(cudaHostAlloc(&host, 64, cudaHostAllocPortable | cudaHostAllocMapped));
  unsigned flags = 0;
  FERRY_RT_OK(cudaHostGetFlags(&flags, host));
  EXPECT_EQ(flags & cudaHostAllocPortable, unsigned{cudaHostAllocPortable});
  void* device = nullptr;
  FERRY_RT_OK(cudaHostGetDevicePointer(&device, host, 0));
  EXPECT_EQ(device, host);
  cudaPointerAttributes attributes{};
  FERRY_RT_OK(cudaPointerGetAttributes(&attributes, static_cast<char*>(host) + 8));
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(attributes.hostPointer, static_cast<char*>(host) + 8);
  FERRY_RT_OK(cudaFreeHost(host));
  EXPECT_EQ(cudaFreeHost(host), cudaErrorInvalidValue);
}

TEST_F(RuntimeMemoryTest, HostMemoryIsRegisteredOnce) {
  std::vector<char> bytes(1 << 16);
  FERRY_RT_OK(cudaHostRegister(bytes.data(), bytes.size(), cudaHostRegisterDefault));
  EXPECT_EQ(cudaHostRegister(bytes.data(), bytes.size(), cudaHostRegisterDefault),
            cudaErrorHostMemoryAlreadyRegistered);
  cudaPointerAttributes attributes{};
  FERRY_RT_OK(cudaPointerGetAttributes(&attributes, bytes.data()));
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  FERRY_RT_OK(cudaHostUnregister(bytes.data()));
  EXPECT_EQ(cudaHostUnregister(bytes.data()), cudaErrorHostMemoryNotRegistered);
}

TEST_F(RuntimeMemoryTest, WhatLiesWhere) {
  restart("devices=2");
  FERRY_RT_OK(cudaSetDevice(1));
  void* const memory = allocate(64);
  FERRY_RT_OK(cudaSetDevice(0));
  cudaPointerAttributes attributes{};
  FERRY_RT_OK(cudaPointerGetAttributes(&attributes, memory));
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 1);
  EXPECT_EQ(attributes.devicePointer, memory);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  int on_the_stack = 0;
  FERRY_RT_OK(cudaPointerGetAttributes(&attributes, &on_the_stack));
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(attributes.devicePointer, nullptr);
  EXPECT_EQ(attributes.hostPointer, &on_the_stack);
  EXPECT_EQ(cudaPointerGetAttributes(nullptr, memory), cudaErrorInvalidValue);
}

TEST_F(RuntimeMemoryTest, NoPlaceForTheAnswer) {
  EXPECT_EQ(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocHost(nullptr, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostAlloc(nullptr, 4, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace ferry::sim::runtime_test
