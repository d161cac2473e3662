// SPDX-License-Identifier: Apache-2.0
// Plain device memory, page-locked host memory, and questions about pointers.
#include <cstdlib>
#include <memory>

#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

class Memory : public WithContext {};

TEST_F(Memory, AllocationsAreApartAndAligned) {
  const DeviceBuffer a(1000);
  const DeviceBuffer b(3 * kMiB);
  EXPECT_EQ(a.address % 256, 0U);
  EXPECT_EQ(b.address % 256, 0U);
  EXPECT_TRUE(a.address + a.bytes <= b.address || b.address + b.bytes <= a.address);
}

TEST_F(Memory, FreeMemoryFallsAndComesBack) {
  std::size_t before = 0;
  std::size_t during = 0;
  std::size_t total = 0;
  FERRY_OK(cuda().cuMemGetInfo_v2(&before, &total));
  EXPECT_LE(before, total);
  {
    const DeviceBuffer buffer(64 * kMiB);
    FERRY_OK(cuda().cuMemGetInfo_v2(&during, &total));
    EXPECT_LE(during + 64 * kMiB, before);
  }
  std::size_t after = 0;
  FERRY_OK(cuda().cuMemGetInfo_v2(&after, &total));
  EXPECT_GE(after, during + 64 * kMiB);
}

TEST_F(Memory, ZeroBytesNullAndTooMuchAreRefused) {
  CUdeviceptr address = 0;
  EXPECT_EQ(cuda().cuMemAlloc_v2(&address, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemAlloc_v2(nullptr, 4096), CUDA_ERROR_INVALID_VALUE);
  std::size_t free = 0;
  std::size_t total = 0;
  FERRY_OK(cuda().cuMemGetInfo_v2(&free, &total));
  EXPECT_EQ(cuda().cuMemAlloc_v2(&address, total + 64 * kMiB), CUDA_ERROR_OUT_OF_MEMORY);
  const DeviceBuffer still_works(4096);
}

TEST_F(Memory, FreeingTwiceOrInTheMiddleIsRefused) {
  CUdeviceptr address = 0;
  FERRY_OK(cuda().cuMemAlloc_v2(&address, 4 * kMiB));
  EXPECT_EQ(cuda().cuMemFree_v2(address + 4096), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuda().cuMemFree_v2(address));
  EXPECT_EQ(cuda().cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
  int on_the_stack = 0;
  EXPECT_EQ(cuda().cuMemFree_v2(reinterpret_cast<CUdeviceptr>(&on_the_stack)),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, AddressRangeOfAnInnerPointer) {
  const DeviceBuffer buffer(5 * kMiB);
  CUdeviceptr base = 0;
  std::size_t size = 0;
  FERRY_OK(cuda().cuMemGetAddressRange_v2(&base, &size, buffer.address + 12345));
  EXPECT_EQ(base, buffer.address);
  EXPECT_GE(size, buffer.bytes);
  FERRY_OK(cuda().cuMemGetAddressRange_v2(nullptr, nullptr, buffer.address));
  int on_the_stack = 0;
  EXPECT_NE(
      cuda().cuMemGetAddressRange_v2(&base, &size, reinterpret_cast<CUdeviceptr>(&on_the_stack)),
      CUDA_SUCCESS);
}

TEST_F(Memory, HostAllocationsAreUsableAndKnown) {
  PinnedBuffer buffer(3 * 4096);
  buffer.fill(7);
  EXPECT_TRUE(buffer.holds(7));
  CUdeviceptr device_address = 0;
  FERRY_OK(cuda().cuMemHostGetDevicePointer_v2(&device_address, buffer.pointer, 0));
  EXPECT_NE(device_address, 0U);
  EXPECT_EQ(cuda().cuMemHostGetDevicePointer_v2(&device_address, buffer.pointer, 1),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, HostFlagsAreGivenBack) {
  void* pointer = nullptr;
  FERRY_OK(cuda().cuMemHostAlloc(&pointer, 4096, CU_MEMHOSTALLOC_PORTABLE));
  unsigned flags = 0;
  FERRY_OK(cuda().cuMemHostGetFlags(&flags, pointer));
  EXPECT_NE(flags & CU_MEMHOSTALLOC_PORTABLE, 0U);
  FERRY_OK(cuda().cuMemFreeHost(pointer));
  int on_the_stack = 0;
  EXPECT_EQ(cuda().cuMemHostGetFlags(&flags, &on_the_stack), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuda().cuMemAllocHost_v2(&pointer, 4096));
  FERRY_OK(cuda().cuMemFreeHost(pointer));
}

TEST_F(Memory, BadHostAllocationsAndFreesAreRefused) {
  void* pointer = nullptr;
  EXPECT_EQ(cuda().cuMemHostAlloc(nullptr, 4096, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemHostAlloc(&pointer, 4096, 0x8000), CUDA_ERROR_INVALID_VALUE);
  std::unique_ptr<char[]> pageable(new char[4096]);
  EXPECT_EQ(cuda().cuMemFreeHost(pageable.get()), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuda().cuMemHostAlloc(&pointer, 4096, 0));
  FERRY_OK(cuda().cuMemFreeHost(pointer));
  EXPECT_EQ(cuda().cuMemFreeHost(pointer), CUDA_ERROR_INVALID_VALUE);
}

struct FreeOnExit {
  void operator()(void* pointer) const { std::free(pointer); }
};
using Pages = std::unique_ptr<void, FreeOnExit>;

Pages some_pages(std::size_t bytes) {
  return Pages(std::aligned_alloc(4096, bytes));
}

TEST_F(Memory, RegisteredMemoryIsKnownUntilUnregistered) {
  const Pages pages = some_pages(16 * 4096);
  FERRY_OK(cuda().cuMemHostRegister_v2(pages.get(), 16 * 4096, 0));
  unsigned type = 0;
  FERRY_OK(cuda().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                        reinterpret_cast<CUdeviceptr>(pages.get())));
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_HOST});
  FERRY_OK(cuda().cuMemHostUnregister(pages.get()));
  EXPECT_EQ(cuda().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                         reinterpret_cast<CUdeviceptr>(pages.get())),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, RegisteringTwiceAndUnregisteringTheUnknownFail) {
  const Pages pages = some_pages(16 * 4096);
  auto* const start = static_cast<char*>(pages.get());
  FERRY_OK(cuda().cuMemHostRegister_v2(start, 16 * 4096, 0));
  EXPECT_EQ(cuda().cuMemHostRegister_v2(start, 16 * 4096, 0),
            CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(cuda().cuMemHostRegister_v2(start + 4096, 4096, 0),
            CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  FERRY_OK(cuda().cuMemHostUnregister(start));
  EXPECT_EQ(cuda().cuMemHostUnregister(start), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(Memory, BadRegistrationsAreRefused) {
  const Pages pages = some_pages(4096);
  EXPECT_EQ(cuda().cuMemHostRegister_v2(nullptr, 4096, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemHostRegister_v2(pages.get(), 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemHostRegister_v2(pages.get(), 4096, 0x8000), CUDA_ERROR_INVALID_VALUE);
}

template <typename Value>
Value attribute_of(CUdeviceptr address, CUpointer_attribute attribute) {
  Value value{};
  EXPECT_EQ(cuda().cuPointerGetAttribute(&value, attribute, address), CUDA_SUCCESS)
      << "attribute " << attribute;
  return value;
}

TEST_F(Memory, AttributesOfDeviceMemory) {
  const DeviceBuffer buffer(4 * kMiB);
  const CUdeviceptr inner = buffer.address + 100;
  EXPECT_EQ(attribute_of<unsigned>(inner, CU_POINTER_ATTRIBUTE_MEMORY_TYPE),
            unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(attribute_of<CUcontext>(inner, CU_POINTER_ATTRIBUTE_CONTEXT), context);
  EXPECT_EQ(attribute_of<CUdeviceptr>(inner, CU_POINTER_ATTRIBUTE_DEVICE_POINTER), inner);
  EXPECT_EQ(attribute_of<int>(inner, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL), device);
  EXPECT_EQ(attribute_of<CUdeviceptr>(inner, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR),
            buffer.address);
  EXPECT_GE(attribute_of<std::size_t>(inner, CU_POINTER_ATTRIBUTE_RANGE_SIZE), buffer.bytes);
  EXPECT_FALSE(attribute_of<bool>(inner, CU_POINTER_ATTRIBUTE_IS_MANAGED));
  EXPECT_TRUE(attribute_of<bool>(inner, CU_POINTER_ATTRIBUTE_MAPPED));
  void* host = nullptr;
  EXPECT_EQ(cuda().cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, inner),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, BufferIdsAreNeverReused) {
  unsigned long long first = 0;
  {
    const DeviceBuffer buffer(4096);
    first = attribute_of<unsigned long long>(buffer.address, CU_POINTER_ATTRIBUTE_BUFFER_ID);
  }
  const DeviceBuffer buffer(4096);
  EXPECT_NE(attribute_of<unsigned long long>(buffer.address, CU_POINTER_ATTRIBUTE_BUFFER_ID),
            first);
}

TEST_F(Memory, AttributesOfHostMemory) {
  const PinnedBuffer buffer(8192);
  const auto address = reinterpret_cast<CUdeviceptr>(buffer.pointer) + 10;
  EXPECT_EQ(attribute_of<unsigned>(address, CU_POINTER_ATTRIBUTE_MEMORY_TYPE),
            unsigned{CU_MEMORYTYPE_HOST});
  EXPECT_EQ(attribute_of<CUdeviceptr>(address, CU_POINTER_ATTRIBUTE_HOST_POINTER), address);
  EXPECT_EQ(attribute_of<CUcontext>(address, CU_POINTER_ATTRIBUTE_CONTEXT), context);
}

TEST_F(Memory, UnknownPointersHaveNoAttributes) {
  int on_the_stack = 0;
  const auto address = reinterpret_cast<CUdeviceptr>(&on_the_stack);
  unsigned type = 99;
  EXPECT_EQ(cuda().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
            CUDA_ERROR_INVALID_VALUE);
  const DeviceBuffer buffer(4096);
  EXPECT_EQ(cuda().cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, buffer.address),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, SeveralAttributesAtOnceGiveNullsForUnknownPointers) {
  unsigned type = 99;
  CUcontext owner = context;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                      CU_POINTER_ATTRIBUTE_CONTEXT};
  void* data[] = {&type, &owner};
  int on_the_stack = 0;
  FERRY_OK(cuda().cuPointerGetAttributes(2, attributes, data,
                                         reinterpret_cast<CUdeviceptr>(&on_the_stack)));
  EXPECT_EQ(type, 0U);
  EXPECT_EQ(owner, nullptr);
  const DeviceBuffer buffer(4096);
  FERRY_OK(cuda().cuPointerGetAttributes(2, attributes, data, buffer.address));
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(owner, context);
}

}  // namespace
}  // namespace ferry::conformance
