// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/host_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

namespace ferry::sim {
namespace {

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

TEST(HostMemory, AllocatesKnownWritableMemory) {
  HostMemory host;
  void* pointer = nullptr;
  ASSERT_EQ(host.allocate(&pointer, 5000, CU_MEMHOSTALLOC_PORTABLE, 7, 0), CUDA_SUCCESS);
  std::memset(pointer, 1, 5000);
  const HostRange* const range = host.find(address_of(pointer) + 4999);
  ASSERT_NE(range, nullptr);
  EXPECT_EQ(range->context, 7U);
  EXPECT_EQ(range->flags, unsigned{CU_MEMHOSTALLOC_PORTABLE});
  EXPECT_TRUE(range->allocated);
  EXPECT_EQ(host.find(address_of(pointer) + 5000), nullptr);
  EXPECT_EQ(host.free(pointer), CUDA_SUCCESS);
  EXPECT_EQ(host.find(address_of(pointer)), nullptr);
}

TEST(HostMemory, WhatIsGoneHasNoPlaceAnyMore) {
  HostMemory host;
  void* pointer = nullptr;
  ASSERT_EQ(host.allocate(&pointer, 5000, 0, 1, 0), CUDA_SUCCESS);
  host.nodes().place(address_of(pointer), 5000, 1);
  EXPECT_EQ(host.nodes().bytes_away(0, address_of(pointer), 5000), 5000U);
  ASSERT_EQ(host.free(pointer), CUDA_SUCCESS);
  EXPECT_EQ(host.nodes().bytes_away(0, address_of(pointer), 5000), 0U);
}

TEST(HostMemory, RegistrationsMayTouchButNotOverlap) {
  HostMemory host;
  std::vector<char> own(3 * 4096);
  ASSERT_EQ(host.register_range(own.data(), 4096, 0, 1, 0), CUDA_SUCCESS);
  EXPECT_EQ(host.register_range(own.data() + 4095, 10, 0, 1, 0),
            CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  ASSERT_EQ(host.register_range(own.data() + 4096, 4096, 0, 1, 0), CUDA_SUCCESS);
  EXPECT_TRUE(host.covers(address_of(own.data()), 8192));
  EXPECT_FALSE(host.covers(address_of(own.data()), 8193));
  EXPECT_EQ(host.unregister(own.data() + 4096), CUDA_SUCCESS);
  EXPECT_FALSE(host.covers(address_of(own.data()), 8192));
}

TEST(HostMemory, WhatIsNotMappedCannotBeRegistered) {
  HostMemory host;
  void* const pages =
      mmap(nullptr, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(munmap(static_cast<char*>(pages) + 4096, 4096), 0);
  EXPECT_EQ(host.register_range(pages, 2 * 4096, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(host.register_range(pages, 4096, 0, 1, 0), CUDA_SUCCESS);
  EXPECT_EQ(host.unregister(pages), CUDA_SUCCESS);
  munmap(pages, 4096);
}

TEST(HostMemory, FeaturesThatAreNotThereAreDenied) {
  HostMemory host;
  std::vector<char> own(4096);
  EXPECT_EQ(host.register_range(own.data(), 4096, CU_MEMHOSTREGISTER_READ_ONLY, 1, 0),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(host.register_range(own.data(), 4096, CU_MEMHOSTREGISTER_IOMEMORY, 1, 0),
            CUDA_ERROR_NOT_SUPPORTED);
}

TEST(HostMemory, EachKindIsGivenBackItsOwnWay) {
  HostMemory host;
  void* pointer = nullptr;
  std::vector<char> own(4096);
  ASSERT_EQ(host.allocate(&pointer, 4096, 0, 1, 0), CUDA_SUCCESS);
  ASSERT_EQ(host.register_range(own.data(), 4096, 0, 1, 0), CUDA_SUCCESS);
  EXPECT_EQ(host.free(own.data()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(host.unregister(pointer), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(host.unregister(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(host.free(pointer), CUDA_SUCCESS);
  EXPECT_EQ(host.unregister(own.data()), CUDA_SUCCESS);
}

TEST(HostMemory, ImpossibleSizesAreRefused) {
  HostMemory host;
  void* pointer = nullptr;
  EXPECT_EQ(host.allocate(&pointer, 0, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(host.allocate(&pointer, ~std::uint64_t{0}, 0, 1, 0), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(host.register_range(&pointer, ~std::uint64_t{0}, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(HostMemory, AContextTakesItsMemoryWithIt) {
  HostMemory host;
  void* a = nullptr;
  void* b = nullptr;
  ASSERT_EQ(host.allocate(&a, 4096, 0, 1, 0), CUDA_SUCCESS);
  ASSERT_EQ(host.allocate(&b, 4096, 0, 2, 0), CUDA_SUCCESS);
  host.forget_all_of(1);
  EXPECT_EQ(host.find(address_of(a)), nullptr);
  EXPECT_NE(host.find(address_of(b)), nullptr);
}

TEST(HostMemory, ManagedMemoryHasAFreeOfItsOwn) {
  HostMemory memory;
  void* managed = nullptr;
  void* pinned = nullptr;
  ASSERT_EQ(memory.allocate_managed(&managed, 4096, 1, 0), CUDA_SUCCESS);
  ASSERT_EQ(memory.allocate(&pinned, 4096, 0, 1, 0), CUDA_SUCCESS);
  EXPECT_TRUE(memory.find(reinterpret_cast<std::uintptr_t>(managed))->managed);
  EXPECT_FALSE(memory.find(reinterpret_cast<std::uintptr_t>(pinned))->managed);
  EXPECT_EQ(memory.free(managed), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(memory.free_managed(pinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(memory.free_managed(managed), CUDA_SUCCESS);
  EXPECT_EQ(memory.free(pinned), CUDA_SUCCESS);
}

TEST(HostMemory, OnlyRegistrationsCountAgainstTheirLimits) {
  HostMemory host;
  MachineLimits limits;
  limits.register_call = Bytes{8192};
  limits.register_total = Bytes{10000};
  host.set_limits(limits);
  void* pointer = nullptr;
  ASSERT_EQ(host.allocate(&pointer, 100'000, 0, 7, 0), CUDA_SUCCESS);
  std::vector<std::byte> buffer(30000);
  EXPECT_EQ(host.register_range(buffer.data(), 8193, 0, 7, 0), CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_EQ(host.register_range(buffer.data(), 8192, 0, 7, 0), CUDA_SUCCESS);
  EXPECT_EQ(host.register_range(buffer.data() + 10000, 2000, 0, 7, 0), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(host.register_range(buffer.data() + 10000, 1808, 0, 7, 0), CUDA_SUCCESS);
  host.forget_all_of(7);
  EXPECT_EQ(host.register_range(buffer.data(), 8192, 0, 7, 0), CUDA_SUCCESS) << "all came back";
}

}  // namespace
}  // namespace ferry::sim
