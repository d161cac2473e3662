// SPDX-License-Identifier: Apache-2.0
// Batches of copies: what they move, when sources are read, and what must be refused. Skipped on
// drivers without them.
#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

constexpr std::size_t kPart = 4096;

CUmemcpyAttributes reading(CUmemcpySrcAccessOrder order) {
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = order;
  return attributes;
}

// The arrays of a batch, built up copy by copy.
struct Batch {
  void add(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    destinations.push_back(to);
    sources.push_back(from);
    sizes.push_back(bytes);
  }
  [[nodiscard]] CUresult submit(CUstream stream) {
    return cuda().cuMemcpyBatchAsync_v2(destinations.data(), sources.data(), sizes.data(),
                                        sizes.size(), attributes.data(), first_copies.data(),
                                        attributes.size(), stream);
  }

  std::vector<CUdeviceptr> destinations;
  std::vector<CUdeviceptr> sources;
  std::vector<std::size_t> sizes;
  std::vector<CUmemcpyAttributes> attributes{reading(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM)};
  std::vector<std::size_t> first_copies{0};
};

CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

class BatchCopy : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    if (cuda().cuMemcpyBatchAsync_v2 == nullptr) GTEST_SKIP() << "the driver has no batch copies";
  }
};

TEST_F(BatchCopy, MovesEveryMember) {
  const StreamOwner stream;
  const DeviceBuffer memory(8 * kPart);
  PinnedBuffer from(8 * kPart);
  PinnedBuffer to(8 * kPart);
  to.fill(0);
  for (std::size_t i = 0; i < from.bytes; ++i)
    from.data()[i] = static_cast<unsigned char>(i / kPart + 1);
  Batch there;
  Batch back;
  for (std::size_t i = 0; i < 8; ++i) {  // turned around on the way there
    there.add(memory.address + (7 - i) * kPart, address_of(from.data() + i * kPart), kPart);
    back.add(address_of(to.data() + i * kPart), memory.address + i * kPart, kPart);
  }
  FERRY_OK(there.submit(stream.handle));
  FERRY_OK(back.submit(stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  for (std::size_t i = 0; i < 8; ++i)
    ASSERT_EQ(to.data()[i * kPart], 8 - i) << "batches of one stream are in order";
}

TEST_F(BatchCopy, StreamOrderedSourcesSeeEarlierWork) {
  const StreamOwner stream;
  const DeviceBuffer a(kPart);
  PinnedBuffer to(kPart);
  to.fill(0);
  FERRY_OK(cuda().cuMemsetD8Async(a.address, 0x31, kPart, stream.handle));
  Batch batch;
  batch.add(address_of(to.data()), a.address, kPart);
  FERRY_OK(batch.submit(stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(0x31));
}

TEST_F(BatchCopy, SourcesReadDuringTheCallAreFreeAfterIt) {
  const StreamOwner stream;
  const DeviceBuffer memory(kPart);
  PinnedBuffer to(kPart);
  std::vector<unsigned char> from(kPart, 0x44);
  Batch batch;
  batch.attributes[0] = reading(CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL);
  batch.add(memory.address, address_of(from.data()), kPart);
  FERRY_OK(batch.submit(stream.handle));
  std::fill(from.begin(), from.end(), static_cast<unsigned char>(0));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, memory.address, kPart, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(0x44));
}

TEST_F(BatchCopy, SourcesReadAtAnyTimeAreReadBeforeTheBatchEnds) {
  const StreamOwner stream;
  const DeviceBuffer memory(kPart);
  PinnedBuffer to(kPart);
  std::vector<unsigned char> from(kPart, 0x45);
  Batch batch;
  batch.attributes[0] = reading(CU_MEMCPY_SRC_ACCESS_ORDER_ANY);
  batch.add(memory.address, address_of(from.data()), kPart);
  FERRY_OK(batch.submit(stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  std::fill(from.begin(), from.end(), static_cast<unsigned char>(0));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, memory.address, kPart, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(0x45));
}

TEST_F(BatchCopy, AttributesHoldFromTheirFirstCopyOn) {
  const StreamOwner stream;
  const DeviceBuffer memory(3 * kPart);
  PinnedBuffer to(3 * kPart);
  const DeviceBuffer ordered(kPart);
  std::vector<unsigned char> early(2 * kPart, 0x46);
  FERRY_OK(cuda().cuMemsetD8Async(ordered.address, 0x46, kPart, stream.handle));
  Batch batch;
  batch.attributes = {reading(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM),
                      reading(CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)};
  batch.first_copies = {0, 1};
  batch.add(memory.address, ordered.address, kPart);
  batch.add(memory.address + kPart, address_of(early.data()), kPart);
  batch.add(memory.address + 2 * kPart, address_of(early.data() + kPart), kPart);
  FERRY_OK(batch.submit(stream.handle));
  std::fill(early.begin(), early.end(), static_cast<unsigned char>(0));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, memory.address, 3 * kPart, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(0x46));
}

TEST_F(BatchCopy, TheLegacyDefaultStreamIsRefused) {
  const DeviceBuffer a(kPart);
  const DeviceBuffer b(kPart);
  Batch batch;
  batch.add(a.address, b.address, kPart);
  EXPECT_EQ(batch.submit(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(batch.submit(CU_STREAM_LEGACY), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuda().cuMemsetD8Async(b.address, 1, kPart, CU_STREAM_PER_THREAD));
  EXPECT_EQ(batch.submit(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
  FERRY_OK(cuda().cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

TEST_F(BatchCopy, AttributesMustCoverTheCopiesInOrder) {
  const StreamOwner stream;
  const DeviceBuffer a(4 * kPart);
  const DeviceBuffer b(4 * kPart);
  const auto submit = [&](const std::vector<std::size_t>& first_copies, std::size_t copies) {
    Batch batch;
    batch.attributes.assign(first_copies.size(), reading(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM));
    batch.first_copies = first_copies;
    for (std::size_t i = 0; i < copies; ++i)
      batch.add(a.address + i * kPart, b.address + i * kPart, kPart);
    return batch.submit(stream.handle);
  };
  EXPECT_EQ(submit({1}, 2), CUDA_ERROR_INVALID_VALUE) << "the first entry must be 0";
  EXPECT_EQ(submit({0, 2, 1}, 4), CUDA_ERROR_INVALID_VALUE) << "entries grow";
  EXPECT_EQ(submit({0, 1, 1}, 4), CUDA_ERROR_INVALID_VALUE) << "entries grow";
  EXPECT_EQ(submit({0, 2}, 2), CUDA_ERROR_INVALID_VALUE) << "the last is less than the count";
  EXPECT_EQ(submit({0, 1, 2}, 2), CUDA_ERROR_INVALID_VALUE) << "no more than there are copies";
  EXPECT_EQ(submit({}, 2), CUDA_ERROR_INVALID_VALUE) << "every copy needs attributes";
  EXPECT_EQ(submit({0, 1, 3}, 4), CUDA_SUCCESS);
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
}

TEST_F(BatchCopy, TheSourceAccessOrderMustBeValid) {
  const StreamOwner stream;
  const DeviceBuffer a(kPart);
  const DeviceBuffer b(kPart);
  Batch batch;
  batch.add(a.address, b.address, kPart);
  batch.attributes[0] = reading(CU_MEMCPY_SRC_ACCESS_ORDER_INVALID);
  EXPECT_EQ(batch.submit(stream.handle), CUDA_ERROR_INVALID_VALUE);
  batch.attributes[0] = reading(static_cast<CUmemcpySrcAccessOrder>(4));
  EXPECT_EQ(batch.submit(stream.handle), CUDA_ERROR_INVALID_VALUE);
}

class BatchCopy3D : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    if (cuda().cuMemcpy3DBatchAsync_v2 == nullptr) GTEST_SKIP() << "the driver has no batch copies";
  }
  static CUDA_MEMCPY3D_BATCH_OP operation(CUdeviceptr to, CUdeviceptr from) {
    CUDA_MEMCPY3D_BATCH_OP copy{};
    copy.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    copy.src.op.ptr.ptr = from;
    copy.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    copy.dst.op.ptr.ptr = to;
    copy.extent = {16, 4, 2};
    copy.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    return copy;
  }
};

TEST_F(BatchCopy3D, RowsAndLayersLieAsStated) {
  const StreamOwner stream;
  const DeviceBuffer memory(2 * 8 * 64);
  PinnedBuffer from(16 * 4 * 2);
  PinnedBuffer to(memory.bytes);
  for (std::size_t i = 0; i < from.bytes; ++i) from.data()[i] = static_cast<unsigned char>(i);
  FERRY_OK(cuda().cuMemsetD8Async(memory.address, 0xEE, memory.bytes, stream.handle));
  CUDA_MEMCPY3D_BATCH_OP copy = operation(memory.address, address_of(from.pointer));
  copy.dst.op.ptr.rowLength = 64;
  copy.dst.op.ptr.layerHeight = 8;  // the source is tightly packed
  FERRY_OK(cuda().cuMemcpy3DBatchAsync_v2(1, &copy, 0, stream.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, memory.address, to.bytes, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  for (std::size_t i = 0; i < to.bytes; ++i) {
    const std::size_t x = i % 64;
    const std::size_t y = i / 64 % 8;
    const std::size_t z = i / 512;
    const std::size_t wanted = x < 16 && y < 4 ? z * 64 + y * 16 + x : 0xEE;
    ASSERT_EQ(to.data()[i], wanted) << x << " " << y << " " << z;
  }
}

TEST_F(BatchCopy3D, RefusesWhatTheTextForbids) {
  const StreamOwner stream;
  const DeviceBuffer a(1024);
  const DeviceBuffer b(1024);
  const auto submit = [&](CUDA_MEMCPY3D_BATCH_OP copy, unsigned long long flags = 0) {
    return cuda().cuMemcpy3DBatchAsync_v2(1, &copy, flags, stream.handle);
  };
  CUDA_MEMCPY3D_BATCH_OP copy = operation(a.address, b.address);
  copy.extent.depth = 0;
  EXPECT_EQ(submit(copy), CUDA_ERROR_INVALID_VALUE) << "no part of the extent may be 0";
  copy = operation(a.address, b.address);
  copy.src.op.ptr.rowLength = 15;
  EXPECT_EQ(submit(copy), CUDA_ERROR_INVALID_VALUE) << "rows hold the width";
  copy = operation(a.address, b.address);
  copy.dst.op.ptr.layerHeight = 3;
  EXPECT_EQ(submit(copy), CUDA_ERROR_INVALID_VALUE) << "layers hold the height";
  copy = operation(a.address, b.address);
  copy.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
  EXPECT_EQ(submit(copy), CUDA_ERROR_INVALID_VALUE);
  copy = operation(a.address, b.address);
  EXPECT_EQ(submit(copy, 1), CUDA_ERROR_INVALID_VALUE) << "flags are for the future";
  EXPECT_EQ(cuda().cuMemcpy3DBatchAsync_v2(1, &copy, 0, nullptr), CUDA_ERROR_INVALID_VALUE)
      << "not the default stream";
}

}  // namespace
}  // namespace ferry::conformance
