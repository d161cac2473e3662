// SPDX-License-Identifier: Apache-2.0
// Copies and fills in all directions, and the requests that must be refused.
#include <numeric>

#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

class Copy : public WithContext {
 protected:
  static std::vector<unsigned char> counting(std::size_t bytes, unsigned start) {
    std::vector<unsigned char> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
      data[i] = static_cast<unsigned char>((i * 7 + start) & 0xFF);
    return data;
  }
  static std::vector<unsigned char> contents(CUdeviceptr address, std::size_t bytes) {
    std::vector<unsigned char> data(bytes);
    EXPECT_EQ(cuda().cuMemcpyDtoH_v2(data.data(), address, bytes), CUDA_SUCCESS);
    return data;
  }
};

TEST_F(Copy, ThereAndBackAndAcross) {
  const std::size_t bytes = 3 * kMiB + 17;
  const DeviceBuffer a(bytes);
  const DeviceBuffer b(bytes);
  const std::vector<unsigned char> data = counting(bytes, 3);
  FERRY_OK(cuda().cuMemcpyHtoD_v2(a.address, data.data(), bytes));
  FERRY_OK(cuda().cuMemcpyDtoD_v2(b.address, a.address, bytes));
  EXPECT_EQ(contents(b.address, bytes), data);
}

TEST_F(Copy, SynchronousCopiesLeaveTheSourceFree) {
  const DeviceBuffer buffer(4096);
  std::vector<unsigned char> data = counting(4096, 1);
  const std::vector<unsigned char> wanted = data;
  FERRY_OK(cuda().cuMemcpyHtoD_v2(buffer.address, data.data(), data.size()));
  std::fill(data.begin(), data.end(), static_cast<unsigned char>(0));
  EXPECT_EQ(contents(buffer.address, 4096), wanted);
}

TEST_F(Copy, PartsAtOddOffsets) {
  const DeviceBuffer buffer(16384);
  const std::vector<unsigned char> background(16384, 0x11);
  FERRY_OK(cuda().cuMemcpyHtoD_v2(buffer.address, background.data(), background.size()));
  const std::vector<unsigned char> part = counting(5000, 9);
  FERRY_OK(cuda().cuMemcpyHtoD_v2(buffer.address + 4093, part.data(), part.size()));
  std::vector<unsigned char> wanted = background;
  std::copy(part.begin(), part.end(), wanted.begin() + 4093);
  EXPECT_EQ(contents(buffer.address, 16384), wanted);
}

TEST_F(Copy, DirectionIsInferredFromTheAddresses) {
  const DeviceBuffer buffer(4096);
  PinnedBuffer from(4096);
  PinnedBuffer to(4096);
  from.fill(0x3C);
  to.fill(0);
  FERRY_OK(cuda().cuMemcpy(buffer.address, reinterpret_cast<CUdeviceptr>(from.pointer), 4096));
  FERRY_OK(cuda().cuMemcpy(reinterpret_cast<CUdeviceptr>(to.pointer), buffer.address, 4096));
  EXPECT_TRUE(to.holds(0x3C));
  to.fill(0);
  FERRY_OK(cuda().cuMemcpy(reinterpret_cast<CUdeviceptr>(to.pointer),
                           reinterpret_cast<CUdeviceptr>(from.pointer), 4096));
  EXPECT_TRUE(to.holds(0x3C)) << "host to host";
}

TEST_F(Copy, AsynchronousCopiesAreDoneAfterTheStream) {
  const StreamOwner stream;
  const DeviceBuffer a(kMiB);
  const DeviceBuffer b(kMiB);
  PinnedBuffer from(kMiB);
  PinnedBuffer to(kMiB);
  from.fill(0x5A);
  to.fill(0);
  FERRY_OK(cuda().cuMemcpyHtoDAsync_v2(a.address, from.pointer, kMiB, stream.handle));
  FERRY_OK(cuda().cuMemcpyDtoDAsync_v2(b.address, a.address, kMiB, stream.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, b.address, kMiB, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(0x5A));
  from.fill(0xC3);
  FERRY_OK(cuda().cuMemcpyAsync(a.address, reinterpret_cast<CUdeviceptr>(from.pointer), kMiB,
                                stream.handle));
  FERRY_OK(cuda().cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(to.pointer), a.address, kMiB,
                                stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(0xC3));
}

TEST_F(Copy, PageableMemoryInAsynchronousCopies) {
  const StreamOwner stream;
  const DeviceBuffer buffer(100000);
  const std::vector<unsigned char> from = counting(100000, 5);
  std::vector<unsigned char> to(100000);
  FERRY_OK(cuda().cuMemcpyHtoDAsync_v2(buffer.address, from.data(), from.size(), stream.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.data(), buffer.address, to.size(), stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_EQ(to, from);
}

TEST_F(Copy, PageableMemoryMayBeWrittenAfterAPlainCopy) {
  const DeviceBuffer buffer(3 * kMiB);
  const StreamOwner blocking(CU_STREAM_DEFAULT);
  PinnedBuffer to(buffer.bytes);
  std::vector<unsigned char> from = counting(buffer.bytes, 7);
  const std::vector<unsigned char> first = from;
  FERRY_OK(cuda().cuMemcpyHtoD_v2(buffer.address, from.data(), from.size()));
  std::fill(from.begin(), from.end(), static_cast<unsigned char>(0));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, buffer.address, to.bytes, blocking.handle));
  FERRY_OK(cuda().cuStreamSynchronize(blocking.handle));
  EXPECT_EQ(std::memcmp(to.pointer, first.data(), first.size()), 0);
}

TEST_F(Copy, NothingToCopyIsNoError) {
  const DeviceBuffer buffer(4096);
  unsigned char byte = 0;
  EXPECT_EQ(cuda().cuMemcpyHtoD_v2(buffer.address, &byte, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuMemcpyDtoH_v2(&byte, buffer.address, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuMemsetD8_v2(buffer.address, 1, 0), CUDA_SUCCESS);
}

TEST_F(Copy, NullAddressesAreRefused) {
  const DeviceBuffer buffer(4096);
  unsigned char bytes[16] = {};
  EXPECT_EQ(cuda().cuMemcpyHtoD_v2(0, bytes, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemcpyHtoD_v2(buffer.address, nullptr, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemcpyDtoH_v2(nullptr, buffer.address, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemcpyDtoH_v2(bytes, 0, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemcpyDtoD_v2(buffer.address, 0, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemsetD8_v2(0, 1, 16), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Copy, PageableMemoryIsNoDeviceSide) {
  std::vector<unsigned char> pageable(4096);
  std::vector<unsigned char> other(4096);
  const auto address = reinterpret_cast<CUdeviceptr>(pageable.data());
  EXPECT_EQ(cuda().cuMemcpyHtoD_v2(address, other.data(), 4096), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemsetD8_v2(address, 1, 4096), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Copy, FillsBytesAndWords) {
  const DeviceBuffer buffer(8192);
  FERRY_OK(cuda().cuMemsetD8_v2(buffer.address, 0x42, 8192));
  FERRY_OK(cuda().cuMemsetD32_v2(buffer.address + 4, 0x01020304, 3));
  FERRY_OK(cuda().cuCtxSynchronize());
  const std::vector<unsigned char> data = contents(buffer.address, 8192);
  std::vector<unsigned char> wanted(8192, 0x42);
  for (std::size_t word = 0; word < 3; ++word) {
    for (std::size_t i = 0; i < 4; ++i)
      wanted[4 + 4 * word + i] = static_cast<unsigned char>(4 - i);
  }
  EXPECT_EQ(data, wanted);
}

TEST_F(Copy, AsynchronousFillsFollowTheirStream) {
  const StreamOwner stream;
  const DeviceBuffer buffer(4096);
  PinnedBuffer to(4096);
  FERRY_OK(cuda().cuMemsetD8Async(buffer.address, 1, 4096, stream.handle));
  FERRY_OK(cuda().cuMemsetD32Async(buffer.address, 0x02020202, 1024, stream.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, buffer.address, 4096, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(2));
}

TEST_F(Copy, FillsRowsAndLeavesTheGaps) {
  const StreamOwner stream;
  const std::size_t pitch = 1024;
  const DeviceBuffer buffer(8 * pitch);
  FERRY_OK(cuda().cuMemsetD8Async(buffer.address, 0xEE, buffer.bytes, stream.handle));
  FERRY_OK(cuda().cuMemsetD2D32Async(buffer.address, pitch, 0x77777777, 5, 8, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  const std::vector<unsigned char> data = contents(buffer.address, buffer.bytes);
  for (std::size_t i = 0; i < data.size(); ++i) {
    ASSERT_EQ(data[i], i % pitch < 20 ? 0x77 : 0xEE) << "byte " << i;
  }
}

TEST_F(Copy, WordFillsNeedAlignedAddresses) {
  const StreamOwner stream;
  const DeviceBuffer buffer(4096);
  EXPECT_EQ(cuda().cuMemsetD32_v2(buffer.address + 2, 1, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemsetD32Async(buffer.address + 1, 1, 4, stream.handle),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemsetD2D32Async(buffer.address + 2, 1024, 1, 1, 2, stream.handle),
            CUDA_ERROR_INVALID_VALUE);
}

// A 2D copy of `width` x `height` bytes; the sides are filled in by the test.
CUDA_MEMCPY2D rectangle(std::size_t width, std::size_t height) {
  CUDA_MEMCPY2D copy{};
  copy.WidthInBytes = width;
  copy.Height = height;
  return copy;
}

TEST_F(Copy, RowsGatherScatterAndShift) {
  const StreamOwner stream;
  const std::size_t pitch = 512;
  const DeviceBuffer buffer(16 * pitch);
  const std::vector<unsigned char> data = counting(16 * pitch, 2);
  FERRY_OK(cuda().cuMemcpyHtoD_v2(buffer.address, data.data(), data.size()));
  FERRY_OK(cuda().cuStreamSynchronize(nullptr));
  PinnedBuffer packed(100 * 10);
  CUDA_MEMCPY2D copy = rectangle(100, 10);
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = buffer.address;
  copy.srcPitch = pitch;
  copy.srcXInBytes = 30;
  copy.srcY = 2;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = packed.pointer;
  copy.dstPitch = 100;
  FERRY_OK(cuda().cuMemcpy2DAsync_v2(&copy, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  for (std::size_t row = 0; row < 10; ++row) {
    for (std::size_t x = 0; x < 100; ++x) {
      ASSERT_EQ(packed.data()[row * 100 + x], data[(row + 2) * pitch + 30 + x]) << row << " " << x;
    }
  }
}

TEST_F(Copy, RowsFromTheHostByUnifiedAddresses) {
  const StreamOwner stream;
  PinnedBuffer from(4 * 64);
  from.fill(0x21);
  const DeviceBuffer buffer(4 * 256);
  FERRY_OK(cuda().cuMemsetD8Async(buffer.address, 0, buffer.bytes, stream.handle));
  CUDA_MEMCPY2D copy = rectangle(64, 4);
  copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = reinterpret_cast<CUdeviceptr>(from.pointer);
  copy.srcPitch = 64;
  copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.dstDevice = buffer.address;
  copy.dstPitch = 256;
  FERRY_OK(cuda().cuMemcpy2DAsync_v2(&copy, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  const std::vector<unsigned char> data = contents(buffer.address, buffer.bytes);
  for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], i % 256 < 64 ? 0x21 : 0) << i;
}

TEST_F(Copy, RowsMustFitTheirPitch) {
  const StreamOwner stream;
  const DeviceBuffer buffer(4096);
  PinnedBuffer host(4096);
  CUDA_MEMCPY2D copy = rectangle(100, 4);
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host.pointer;
  copy.srcPitch = 100;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = buffer.address;
  copy.dstPitch = 99;
  EXPECT_EQ(cuda().cuMemcpy2DAsync_v2(&copy, stream.handle), CUDA_ERROR_INVALID_VALUE);
  copy.dstPitch = 104;
  copy.dstXInBytes = 8;
  EXPECT_EQ(cuda().cuMemcpy2DAsync_v2(&copy, stream.handle), CUDA_ERROR_INVALID_VALUE);
  copy.dstXInBytes = 4;
  EXPECT_EQ(cuda().cuMemcpy2DAsync_v2(&copy, stream.handle), CUDA_SUCCESS);
  EXPECT_EQ(cuda().cuMemcpy2DAsync_v2(nullptr, stream.handle), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
}

TEST_F(Copy, RegisteredMemoryIsADeviceSide) {
  std::vector<unsigned char> own(2 * 4096);
  FERRY_OK(cuda().cuMemHostRegister_v2(own.data(), own.size(), 0));
  CUdeviceptr address = 0;
  FERRY_OK(cuda().cuMemHostGetDevicePointer_v2(&address, own.data(), 0));
  FERRY_OK(cuda().cuMemsetD8_v2(address, 0x66, own.size()));
  FERRY_OK(cuda().cuCtxSynchronize());
  EXPECT_EQ(own.front(), 0x66);
  EXPECT_EQ(own.back(), 0x66);
  FERRY_OK(cuda().cuMemHostUnregister(own.data()));
}

}  // namespace
}  // namespace ferry::conformance
