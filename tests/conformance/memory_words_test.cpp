// SPDX-License-Identifier: Apache-2.0
// Words of memory that streams write and wait for.
#include <atomic>
#include <optional>
#include <thread>

#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

class MemoryWords : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    if (cuda().cuStreamWaitValue32_v2 == nullptr) GTEST_SKIP() << "the driver has no such waits";
    word.emplace(8);
    word->fill(0);
  }
  void TearDown() override {
    word.reset();
    WithContext::TearDown();
  }
  [[nodiscard]] CUdeviceptr address() const { return reinterpret_cast<CUdeviceptr>(word->pointer); }
  void set(std::uint32_t value) const {
    std::atomic_ref<std::uint32_t>(*static_cast<std::uint32_t*>(word->pointer)).store(value);
  }
  // Holds a stream by one wait, lets go by setting the word, and tells whether it held.
  void expect_held_until(std::uint32_t wanted, unsigned flags, std::uint32_t before,
                         std::uint32_t after) const {
    const StreamOwner stream;
    set(before);
    FERRY_OK(cuda().cuStreamWaitValue32_v2(stream.handle, address(), wanted, flags));
    for (int i = 0; i < 10; ++i)
      ASSERT_EQ(cuda().cuStreamQuery(stream.handle), CUDA_ERROR_NOT_READY) << "value " << before;
    set(after);
    FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  }

  std::optional<PinnedBuffer> word;
};

TEST_F(MemoryWords, AWaitHoldsTheStreamUntilTheHostSetsTheWord) {
  const StreamOwner stream;
  const DeviceBuffer buffer(4096);
  FERRY_OK(cuda().cuStreamWaitValue32_v2(stream.handle, address(), 1, CU_STREAM_WAIT_VALUE_EQ));
  FERRY_OK(cuda().cuMemsetD8Async(buffer.address, 1, 4096, stream.handle));
  EXPECT_EQ(cuda().cuStreamQuery(stream.handle), CUDA_ERROR_NOT_READY);
  std::thread host([this] { set(1); });
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  host.join();
}

TEST_F(MemoryWords, AWriteOnAnotherStreamLetsGo) {
  const StreamOwner waiting;
  const StreamOwner writing;
  FERRY_OK(cuda().cuStreamWaitValue32_v2(waiting.handle, address(), 7, CU_STREAM_WAIT_VALUE_GEQ));
  FERRY_OK(cuda().cuStreamWriteValue32_v2(writing.handle, address(), 7, 0));
  FERRY_OK(cuda().cuStreamSynchronize(waiting.handle));
  FERRY_OK(cuda().cuStreamSynchronize(writing.handle));
}

TEST_F(MemoryWords, OtherStreamsGoOnMeanwhile) {
  const StreamOwner held;
  const StreamOwner free;
  const DeviceBuffer buffer(4096);
  PinnedBuffer to(4096);
  FERRY_OK(cuda().cuStreamWaitValue32_v2(held.handle, address(), 1, CU_STREAM_WAIT_VALUE_EQ));
  FERRY_OK(cuda().cuMemsetD8Async(buffer.address, 0x17, 4096, free.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, buffer.address, 4096, free.handle));
  FERRY_OK(cuda().cuStreamSynchronize(free.handle));
  EXPECT_TRUE(to.holds(0x17));
  EXPECT_EQ(cuda().cuStreamQuery(held.handle), CUDA_ERROR_NOT_READY);
  set(1);
  FERRY_OK(cuda().cuStreamSynchronize(held.handle));
}

TEST_F(MemoryWords, EachConditionMeansWhatItSays) {
  expect_held_until(5, CU_STREAM_WAIT_VALUE_EQ, 6, 5);
  expect_held_until(5, CU_STREAM_WAIT_VALUE_GEQ, 4, 6);
  expect_held_until(6, CU_STREAM_WAIT_VALUE_AND, 9, 4);
  expect_held_until(0xFFFFFFF0, CU_STREAM_WAIT_VALUE_NOR, 0xF, 0x7);
  expect_held_until(2, CU_STREAM_WAIT_VALUE_GEQ, 0xFFFFFFFF, 3);  // cyclic: -1 is before 2
}

TEST_F(MemoryWords, GreaterOrEqualIsCyclic) {
  const StreamOwner stream;
  set(1);
  FERRY_OK(cuda().cuStreamWaitValue32_v2(stream.handle, address(), 0xFFFFFFFF,
                                         CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_EQ(cuda().cuStreamSynchronize(stream.handle), CUDA_SUCCESS) << "1 comes after -1";
}

TEST_F(MemoryWords, SixtyFourBitsAreWrittenInStreamOrder) {
  const StreamOwner stream;
  const DeviceBuffer buffer(8);
  PinnedBuffer to(8);
  FERRY_OK(cuda().cuMemsetD8Async(buffer.address, 0xFF, 8, stream.handle));
  FERRY_OK(cuda().cuStreamWriteValue64_v2(stream.handle, buffer.address, 0x0102030405060708, 0));
  FERRY_OK(cuda().cuStreamWaitValue64_v2(stream.handle, buffer.address, 0x0102030405060708,
                                         CU_STREAM_WAIT_VALUE_EQ));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, buffer.address, 8, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  std::uint64_t value = 0;
  std::memcpy(&value, to.pointer, 8);
  EXPECT_EQ(value, 0x0102030405060708U);
}

CUstreamBatchMemOpParams write_32(CUdeviceptr address, std::uint32_t value) {
  CUstreamBatchMemOpParams operation{};
  operation.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operation.writeValue.address = address;
  operation.writeValue.value = value;
  return operation;
}

TEST_F(MemoryWords, ABatchRunsInTheOrderOfItsArray) {
  const StreamOwner stream;
  std::vector<CUstreamBatchMemOpParams> operations;
  operations.push_back(write_32(address(), 1));
  operations.push_back(write_32(address(), 2));
  CUstreamBatchMemOpParams wait{};
  wait.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  wait.waitValue.address = address();
  wait.waitValue.value = 2;
  wait.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
  operations.push_back(wait);
  operations.push_back(write_32(address(), 3));
  FERRY_OK(cuda().cuStreamBatchMemOp_v2(stream.handle, 4, operations.data(), 0));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  std::uint32_t value = 0;
  std::memcpy(&value, word->pointer, 4);
  EXPECT_EQ(value, 3U);
}

TEST_F(MemoryWords, BatchesAreShortAndWithoutFlags) {
  const StreamOwner stream;
  std::vector<CUstreamBatchMemOpParams> operations(256, write_32(address(), 1));
  EXPECT_EQ(cuda().cuStreamBatchMemOp_v2(stream.handle, 256, operations.data(), 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuStreamBatchMemOp_v2(stream.handle, 1, operations.data(), 1),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuda().cuStreamBatchMemOp_v2(stream.handle, 255, operations.data(), 0), CUDA_SUCCESS);
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
}

}  // namespace
}  // namespace ferry::conformance
