// SPDX-License-Identifier: Apache-2.0
// Waits for words as the stand-in's schedules run them; what they mean is judged by the conformance
// suite.
#include <atomic>
#include <chrono>
#include <thread>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsMemoryWordsTest : public SimTest {
 protected:
  void SetUp() override { start("schedule=lazy"); }
  void start(const char* settings) {
    restart(settings);
    word = allocate(8);
    FERRY_OK(cuMemsetD32_v2(word, 0, 2));
    FERRY_OK(cuStreamSynchronize(nullptr));
  }
  CUdeviceptr word = 0;
};

TEST_F(ExportsMemoryWordsTest, TheWriteThatLetsGoIsFoundUnderEverySchedule) {
  for (const char* settings :
       {"schedule=eager", "schedule=lazy", "schedule=random;seed=1", "schedule=random;seed=2"}) {
    start(settings);
    const CUstream waiting = stream();
    const CUstream writing = stream();
    FERRY_OK(cuStreamWaitValue32_v2(waiting, word, 3, CU_STREAM_WAIT_VALUE_EQ));
    FERRY_OK(cuStreamWriteValue32_v2(writing, word, 3, 0));
    FERRY_OK(cuStreamSynchronize(waiting));
    EXPECT_EQ(peek(word), 3U) << settings;
    FERRY_OK(cuCtxSynchronize());
  }
}

TEST_F(ExportsMemoryWordsTest, PollingAHeldStreamComesToAnEnd) {
  const CUstream waiting = stream();
  const CUstream writing = stream();
  FERRY_OK(cuStreamWaitValue32_v2(waiting, word, 1, CU_STREAM_WAIT_VALUE_EQ));
  FERRY_OK(cuStreamWriteValue32_v2(writing, word, 1, 0));
  int polls = 0;
  while (cuStreamQuery(waiting) == CUDA_ERROR_NOT_READY && polls < 100) ++polls;
  EXPECT_LT(polls, 100);
  FERRY_OK(cuCtxSynchronize());
}

TEST_F(ExportsMemoryWordsTest, AWaitThatMayNeverEndIsNamed) {
  auto* const host = static_cast<std::uint32_t*>(allocate_host(4));
  const std::atomic_ref<std::uint32_t> flag(*host);
  flag.store(0);
  const CUstream waiting = stream();
  FERRY_OK(cuStreamWaitValue32_v2(waiting, reinterpret_cast<CUdeviceptr>(host), 1,
                                  CU_STREAM_WAIT_VALUE_EQ));
  ::testing::internal::CaptureStderr();
  std::thread writer([flag] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5500));
    flag.store(1);
  });
  EXPECT_EQ(cuStreamSynchronize(waiting), CUDA_SUCCESS);
  writer.join();
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("cuStreamWaitValue"), std::string::npos);
}

// What comes after the wait comes after what was written before the word, under every schedule; an
// access that nothing orders is still named once the wait has ended.
TEST_F(ExportsMemoryWordsTest, AWaitIsAnOrderForTheHazardChecker) {
  for (const char* settings : {"schedule=eager", "schedule=lazy", "schedule=random;seed=1"}) {
    start(settings);
    const CUdeviceptr data = allocate(4096);
    const CUdeviceptr copy = allocate(4096);
    const CUstream reading = stream();
    const CUstream writing = stream();
    FERRY_OK(cuMemsetD32Async(data, 1, 1024, writing));
    FERRY_OK(cuStreamWriteValue32_v2(writing, word, 5, 0));
    FERRY_OK(cuStreamWaitValue32_v2(reading, word, 5, CU_STREAM_WAIT_VALUE_EQ));
    FERRY_OK(cuMemcpyDtoDAsync_v2(copy, data, 4096, reading));
    FERRY_OK(cuStreamSynchronize(reading));
    FERRY_OK(cuMemsetD32Async(data, 2, 1024, reading));
    EXPECT_EQ(ferry_sim_take_hazards(), 0U) << settings;
    FERRY_OK(cuMemsetD32Async(data, 3, 1024, writing));
    EXPECT_EQ(ferry_sim_take_hazards(), 1U) << settings;
    FERRY_OK(cuCtxSynchronize());
  }
}

// The wait is an order for what came before the write, and for nothing else, whatever has run.
TEST_F(ExportsMemoryWordsTest, WhatComesAfterTheWriteIsNotOrderedByTheWait) {
  for (const char* settings : {"schedule=eager", "schedule=lazy", "schedule=random;seed=1",
                               "schedule=random;seed=2", "schedule=random;seed=3"}) {
    start(settings);
    const CUdeviceptr data = allocate(4096);
    const CUdeviceptr copy = allocate(4096);
    const CUstream reading = stream();
    const CUstream writing = stream();
    FERRY_OK(cuMemsetD32Async(data, 1, 1024, writing));
    FERRY_OK(cuStreamWriteValue32_v2(writing, word, 5, 0));
    FERRY_OK(cuMemsetD32Async(data, 2, 1024, writing));  // does not wait for the reader
    FERRY_OK(cuStreamWaitValue32_v2(reading, word, 5, CU_STREAM_WAIT_VALUE_EQ));
    FERRY_OK(cuMemcpyDtoDAsync_v2(copy, data, 4096, reading));
    FERRY_OK(cuStreamSynchronize(reading));
    EXPECT_EQ(ferry_sim_take_hazards(), 1U) << settings;
    FERRY_OK(cuCtxSynchronize());
  }
}

TEST_F(ExportsMemoryWordsTest, AValueWrittenByTheHostComesAfterWhatItHadSeen) {
  void* const pinned = allocate_host(4);
  auto* const flag = static_cast<std::uint32_t*>(pinned);
  *flag = 0;
  const CUdeviceptr data = allocate(4096);
  const CUdeviceptr copy = allocate(4096);
  const CUstream reading = stream();
  const CUstream writing = stream();
  FERRY_OK(cuStreamWaitValue32_v2(reading, reinterpret_cast<CUdeviceptr>(pinned), 1,
                                  CU_STREAM_WAIT_VALUE_EQ));
  FERRY_OK(cuMemcpyDtoDAsync_v2(copy, data, 4096, reading));
  FERRY_OK(cuMemsetD32Async(data, 1, 1024, writing));
  FERRY_OK(cuStreamSynchronize(writing));
  *flag = 1;
  FERRY_OK(cuStreamSynchronize(reading));
  EXPECT_EQ(peek(copy), 1U);
}

TEST_F(ExportsMemoryWordsTest, AFillLetsGoToo) {
  const CUstream waiting = stream();
  FERRY_OK(cuStreamWaitValue32_v2(waiting, word, 1, CU_STREAM_WAIT_VALUE_EQ));
  FERRY_OK(cuMemsetD32_v2(word, 1, 1));
  FERRY_OK(cuStreamSynchronize(waiting));
  FERRY_OK(cuCtxSynchronize());
}

TEST_F(ExportsMemoryWordsTest, AWordThatIsGoneEndsTheWaitWithAnError) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemAccessDesc access{};
  access.location = prop.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CUdeviceptr address = 0;
  CUmemGenericAllocationHandle handle = 0;
  FERRY_OK(cuMemAddressReserve(&address, 2 * kMiB, 0, 0, 0));
  FERRY_OK(cuMemCreate(&handle, 2 * kMiB, &prop, 0));
  FERRY_OK(cuMemMap(address, 2 * kMiB, 0, handle, 0));
  FERRY_OK(cuMemSetAccess(address, 2 * kMiB, &access, 1));
  const CUstream waiting = stream();
  FERRY_OK(cuStreamWaitValue32_v2(waiting, address, 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_EQ(cuStreamQuery(waiting), CUDA_ERROR_NOT_READY);
  FERRY_OK(cuMemUnmap(address, 2 * kMiB));
  EXPECT_EQ(cuStreamSynchronize(waiting), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(ExportsMemoryWordsTest, BadWordsAreRefused) {
  const CUstream a_stream = stream();
  const auto wait = [&](CUdeviceptr address, unsigned flags) {
    return cuStreamWaitValue32_v2(a_stream, address, 0, flags);
  };
  std::uint64_t pageable = 0;
  EXPECT_EQ(wait(word + 2, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(wait(0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(wait(reinterpret_cast<CUdeviceptr>(&pageable), 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(wait(word, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(wait(word, CU_STREAM_WAIT_VALUE_FLUSH), CUDA_ERROR_NOT_SUPPORTED);
  CUdeviceptr managed = 0;
  FERRY_OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  EXPECT_EQ(wait(managed, 0), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuMemFree_v2(managed));
}

TEST_F(ExportsMemoryWordsTest, OnlyTheOlderVariantKnowsWritesWithoutABarrier) {
  const CUstream a_stream = stream();
  FERRY_OK(cuStreamWriteValue32(a_stream, word, 1, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
  EXPECT_EQ(cuStreamWriteValue32_v2(a_stream, word, 1, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER),
            CUDA_ERROR_INVALID_VALUE);
  CUstreamBatchMemOpParams barrier{};
  barrier.operation = CU_STREAM_MEM_OP_BARRIER;
  EXPECT_EQ(cuStreamBatchMemOp(a_stream, 1, &barrier, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamBatchMemOp_v2(a_stream, 1, &barrier, 0), CUDA_SUCCESS);
  FERRY_OK(cuStreamSynchronize(a_stream));
}

}  // namespace
}  // namespace ferry::sim
