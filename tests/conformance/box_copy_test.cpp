// SPDX-License-Identifier: Apache-2.0
// Copies of rows and layers by their synchronous names, and fills of all element sizes.
#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

class BoxCopy : public WithContext {
 protected:
  static std::vector<unsigned char> contents(CUdeviceptr address, std::size_t bytes) {
    std::vector<unsigned char> data(bytes);
    EXPECT_EQ(cuda().cuMemcpyDtoH_v2(data.data(), address, bytes), CUDA_SUCCESS);
    return data;
  }
  static std::vector<unsigned char> counting(std::size_t bytes) {
    std::vector<unsigned char> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<unsigned char>(i * 11 % 251);
    return data;
  }
};

constexpr std::size_t kPitch = 128;
constexpr std::size_t kLayerRows = 6;

// From the packed rows of `host` into the middle of a box on the device.
CUDA_MEMCPY3D into_the_middle(CUdeviceptr device, const void* host) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host;
  copy.srcPitch = 20;
  copy.srcHeight = 3;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = device;
  copy.dstPitch = kPitch;
  copy.dstHeight = kLayerRows;
  copy.dstXInBytes = 8;
  copy.dstY = 2;
  copy.dstZ = 1;
  copy.WidthInBytes = 20;
  copy.Height = 3;
  copy.Depth = 2;
  return copy;
}

void expect_in_the_middle(const std::vector<unsigned char>& box,
                          const std::vector<unsigned char>& host) {
  for (std::size_t i = 0; i < box.size(); ++i) {
    const std::size_t x = i % kPitch;
    const std::size_t y = i / kPitch % kLayerRows;
    const std::size_t z = i / kPitch / kLayerRows;
    const bool inside = x >= 8 && x < 28 && y >= 2 && y < 5 && z >= 1 && z < 3;
    const unsigned char wanted = inside ? host[((z - 1) * 3 + y - 2) * 20 + x - 8] : 0xEE;
    ASSERT_EQ(box[i], wanted) << "x " << x << " y " << y << " z " << z;
  }
}

TEST_F(BoxCopy, LayersOfRowsGoWhereTheirPitchesSay) {
  const DeviceBuffer box(4 * kLayerRows * kPitch);
  const std::vector<unsigned char> host = counting(20 * 3 * 2);
  FERRY_OK(cuda().cuMemsetD8_v2(box.address, 0xEE, box.bytes));
  const CUDA_MEMCPY3D copy = into_the_middle(box.address, host.data());
  FERRY_OK(cuda().cuMemcpy3D_v2(&copy));
  expect_in_the_middle(contents(box.address, box.bytes), host);
}

TEST_F(BoxCopy, LayersOfRowsByTheAsynchronousName) {
  const StreamOwner stream;
  const DeviceBuffer box(4 * kLayerRows * kPitch);
  const std::vector<unsigned char> host = counting(20 * 3 * 2);
  FERRY_OK(cuda().cuMemsetD8Async(box.address, 0xEE, box.bytes, stream.handle));
  const CUDA_MEMCPY3D copy = into_the_middle(box.address, host.data());
  FERRY_OK(cuda().cuMemcpy3DAsync_v2(&copy, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  expect_in_the_middle(contents(box.address, box.bytes), host);
}

TEST_F(BoxCopy, LayersMustFitTheirHeight) {
  const DeviceBuffer box(4 * kLayerRows * kPitch);
  const std::vector<unsigned char> host = counting(20 * 3 * 2);
  CUDA_MEMCPY3D copy = into_the_middle(box.address, host.data());
  copy.dstHeight = 4;
  EXPECT_EQ(cuda().cuMemcpy3D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
  copy = into_the_middle(box.address, host.data());
  copy.dstPitch = 27;
  EXPECT_EQ(cuda().cuMemcpy3D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuMemcpy3D_v2(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(BoxCopy, SynchronousRowsLeaveTheSourceFree) {
  const DeviceBuffer buffer(8 * kPitch);
  std::vector<unsigned char> host = counting(64 * 8);
  const std::vector<unsigned char> wanted = host;
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host.data();
  copy.srcPitch = 64;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = buffer.address;
  copy.dstPitch = kPitch;
  copy.WidthInBytes = 64;
  copy.Height = 8;
  FERRY_OK(cuda().cuMemcpy2D_v2(&copy));
  std::fill(host.begin(), host.end(), static_cast<unsigned char>(0));
  std::vector<unsigned char> back(64 * 8);
  CUDA_MEMCPY2D reverse{};
  reverse.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  reverse.srcDevice = buffer.address;
  reverse.srcPitch = kPitch;
  reverse.dstMemoryType = CU_MEMORYTYPE_HOST;
  reverse.dstHost = back.data();
  reverse.dstPitch = 64;
  reverse.WidthInBytes = 64;
  reverse.Height = 8;
  FERRY_OK(cuda().cuMemcpy2DUnaligned_v2(&reverse));
  EXPECT_EQ(back, wanted);
}

TEST_F(BoxCopy, FillsTakeElementsOfTwoBytes) {
  const DeviceBuffer buffer(1024);
  FERRY_OK(cuda().cuMemsetD8_v2(buffer.address, 0, 1024));
  FERRY_OK(cuda().cuMemsetD16_v2(buffer.address + 2, 0x0201, 3));
  const std::vector<unsigned char> data = contents(buffer.address, 1024);
  for (std::size_t i = 0; i < data.size(); ++i)
    ASSERT_EQ(data[i], i < 2 || i >= 8 ? 0 : 1 + i % 2) << i;
  EXPECT_EQ(cuda().cuMemsetD16_v2(buffer.address + 1, 1, 3), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(BoxCopy, FillsOfRowsOfEachElementSize) {
  const StreamOwner stream;
  const DeviceBuffer buffer(4 * kPitch);
  const auto expect_rows = [&](unsigned char filled) {
    FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
    const std::vector<unsigned char> data = contents(buffer.address, buffer.bytes);
    for (std::size_t i = 0; i < data.size(); ++i)
      ASSERT_EQ(data[i], i % kPitch < 40 ? filled : 0xEE) << i;
    FERRY_OK(cuda().cuMemsetD8Async(buffer.address, 0xEE, buffer.bytes, stream.handle));
  };
  FERRY_OK(cuda().cuMemsetD8Async(buffer.address, 0xEE, buffer.bytes, stream.handle));
  FERRY_OK(cuda().cuMemsetD2D8Async(buffer.address, kPitch, 1, 40, 4, stream.handle));
  expect_rows(1);
  FERRY_OK(cuda().cuMemsetD2D16Async(buffer.address, kPitch, 0x0202, 20, 4, stream.handle));
  expect_rows(2);
  FERRY_OK(cuda().cuMemsetD2D32Async(buffer.address, kPitch, 0x03030303, 10, 4, stream.handle));
  expect_rows(3);
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  FERRY_OK(cuda().cuMemsetD2D8_v2(buffer.address, kPitch, 4, 40, 4));
  expect_rows(4);
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
}

}  // namespace
}  // namespace ferry::conformance
