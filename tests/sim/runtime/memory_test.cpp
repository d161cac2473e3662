// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime {
namespace {

TEST_F(RuntimeTest, NoBytesAreANullPointer) {
  void* memory = &memory;
  FERRY_OK(cudaMalloc(&memory, 0));
  EXPECT_EQ(memory, nullptr);
  FERRY_OK(cudaFree(nullptr));
  FERRY_OK(cudaFreeHost(nullptr));
  EXPECT_EQ(cudaMalloc(nullptr, 1), cudaErrorInvalidValue);
}

TEST_F(RuntimeTest, MoreThanThereIs) {
  restart("capacity=1GiB");
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, size_t{2} << 30), cudaErrorMemoryAllocation);
  EXPECT_EQ(memory, nullptr);
}

TEST_F(RuntimeTest, PointersSayWhatTheyAre) {
  cudaPointerAttributes attributes{};
  FERRY_OK(cudaSetDevice(1));
  char* const device = allocate(64);
  FERRY_OK(cudaPointerGetAttributes(&attributes, device + 3));
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 1);
  EXPECT_EQ(attributes.devicePointer, device + 3);
  char* const host = allocate_host(64);
  FERRY_OK(cudaPointerGetAttributes(&attributes, host));
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, host);
  char own[8];
  FERRY_OK(cudaPointerGetAttributes(&attributes, own));
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(attributes.hostPointer, own);
  EXPECT_EQ(attributes.devicePointer, nullptr);
  void* managed = nullptr;
  FERRY_OK(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal));
  FERRY_OK(cudaPointerGetAttributes(&attributes, managed));
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
}

TEST_F(RuntimeTest, HostMemoryIsRegisteredOnce) {
  std::vector<char> mine(1 << 16);
  FERRY_OK(cudaHostRegister(mine.data(), mine.size(), cudaHostRegisterPortable));
  EXPECT_EQ(cudaHostRegister(mine.data(), mine.size(), 0), cudaErrorHostMemoryAlreadyRegistered);
  void* device = nullptr;
  FERRY_OK(cudaHostGetDevicePointer(&device, mine.data(), 0));
  EXPECT_NE(device, nullptr);
  FERRY_OK(cudaHostUnregister(mine.data()));
  EXPECT_EQ(cudaHostUnregister(mine.data()), cudaErrorHostMemoryNotRegistered);
}

TEST_F(RuntimeTest, HostMemoryKeepsItsFlags) {
  void* memory = nullptr;
  unsigned flags = 0;
  FERRY_OK(cudaHostAlloc(&memory, 64, cudaHostAllocPortable));
  FERRY_OK(cudaHostGetFlags(&flags, memory));
  EXPECT_NE(flags & cudaHostAllocPortable, 0U);
}

TEST_F(RuntimeTest, RowsOfMemoryHaveAPitch) {
  void* memory = nullptr;
  size_t pitch = 0;
  FERRY_OK(cudaMallocPitch(&memory, &pitch, 100, 4));
  EXPECT_GE(pitch, 100U);
  FERRY_OK(cudaMemset2D(memory, pitch, 1, 100, 4));
}

}  // namespace
}  // namespace ferry::sim::runtime
