// SPDX-License-Identifier: Apache-2.0
// Memory in the order of streams: programs with one fault each and their correct twins, under every
// schedule. What cuda.h promises is judged by the conformance suite.
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

constexpr std::size_t kBytes = 3 * kMiB;

class PoolAllocationTest : public SimTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    restart(GetParam());
    a = stream();
    b = stream();
    done = event();
  }
  void TearDown() override {
    ferry_sim_drain();
    SimTest::TearDown();
  }

  static CUdeviceptr allocate_on(CUstream on, std::size_t bytes = kBytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAllocAsync(&address, bytes, on), CUDA_SUCCESS);
    return address;
  }
  void after(CUstream waits, CUstream awaited) {
    FERRY_OK(cuEventRecord(done, awaited));
    FERRY_OK(cuStreamWaitEvent(waits, done, 0));
  }
  static void use(CUdeviceptr address, CUstream on) {
    FERRY_OK(cuMemsetD8Async(address, 1, kBytes, on));
  }

  CUstream a = nullptr;
  CUstream b = nullptr;
  CUevent done = nullptr;
};

TEST_P(PoolAllocationTest, UseInAnotherStreamNeedsOrderAfterTheAllocation) {
  const CUdeviceptr address = allocate_on(a);
  use(address, b);
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(PoolAllocationTest, AnEventAfterTheAllocationOrders) {
  const CUdeviceptr address = allocate_on(a);
  after(b, a);
  use(address, b);
  after(a, b);
  FERRY_OK(cuMemFreeAsync(address, a));
}

TEST_P(PoolAllocationTest, AnEventFromBeforeTheAllocationDoesNot) {
  after(b, a);
  const CUdeviceptr address = allocate_on(a);
  use(address, b);
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(PoolAllocationTest, AFreeThatOvertakesAUseIsAHazard) {
  const CUdeviceptr address = allocate_on(a);
  after(b, a);
  use(address, b);
  FERRY_OK(cuMemFreeAsync(address, a));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(PoolAllocationTest, UseAfterTheFreeIsAHazardInEveryStream) {
  const CUdeviceptr address = allocate_on(a);
  FERRY_OK(cuMemFreeAsync(address, a));
  use(address, b);
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
  use(address, a);
  EXPECT_EQ(ferry_sim_take_hazards(), 1U) << "order does not help";
  FERRY_OK(cuCtxSynchronize());
}

TEST_P(PoolAllocationTest, OnceGivenBackTheAddressLeadsNowhere) {
  const CUdeviceptr address = allocate_on(a);
  FERRY_OK(cuMemFreeAsync(address, a));
  FERRY_OK(cuStreamSynchronize(a));
  FERRY_OK(cuMemsetD8Async(address, 1, 1, a));
  EXPECT_EQ(cuStreamSynchronize(a), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_P(PoolAllocationTest, FreedInOneStreamAndUsedAgainInAnotherAfterAnEvent) {
  const CUdeviceptr first = allocate_on(a);
  use(first, a);
  FERRY_OK(cuMemFreeAsync(first, a));
  after(b, a);
  const CUdeviceptr second = allocate_on(b);
  use(second, b);
  FERRY_OK(cuMemFreeAsync(second, b));
  FERRY_OK(cuCtxSynchronize());
}

TEST_P(PoolAllocationTest, ReuseByCompletionAndByAnInsertedWaitIsClean) {
  restart(std::string(GetParam()) + ";capacity=64MiB");
  a = stream();
  b = stream();
  for (int round = 0; round < 6; ++round) {
    for (const CUstream on : {a, b}) {
      const CUdeviceptr address = allocate_on(on, 40 * kMiB);
      FERRY_OK(cuMemsetD8Async(address, 1, kBytes, on));
      FERRY_OK(cuMemFreeAsync(address, on));
    }
  }
  FERRY_OK(cuCtxSynchronize());
}

TEST_P(PoolAllocationTest, NothingOfTheEarlierContentsIsLeft) {
  const CUdeviceptr first = allocate_on(a);
  use(first, a);
  FERRY_OK(cuMemFreeAsync(first, a));
  const CUdeviceptr second = allocate_on(a);
  FERRY_OK(cuStreamSynchronize(a));
  EXPECT_EQ(peek(second), kUnwritten);
  EXPECT_EQ(peek(second + kBytes - 4), kUnwritten);
  FERRY_OK(cuMemFreeAsync(second, a));
}

TEST_P(PoolAllocationTest, AnAllocationEndsWhereItEnds) {
  const CUdeviceptr address = allocate_on(a, 1000);
  static_cast<void>(allocate_on(a, 1000));
  FERRY_OK(cuMemsetD8Async(address, 1, 1001, a));
  EXPECT_EQ(cuStreamSynchronize(a), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_P(PoolAllocationTest, ThePlainFreeWaitsForNothing) {
  const CUdeviceptr used = allocate_on(a);
  use(used, a);
  FERRY_OK(cuMemFree_v2(used));
  EXPECT_EQ(ferry_sim_take_hazards(), 1U) << "the fill may still run";
}

TEST_P(PoolAllocationTest, ThePlainFreeOfUnusedMemoryIsClean) {
  FERRY_OK(cuMemFree_v2(allocate_on(a)));
  const CUdeviceptr next = allocate_on(b);
  use(next, b);
  FERRY_OK(cuStreamSynchronize(b));
  FERRY_OK(cuMemFree_v2(next));
}

TEST_P(PoolAllocationTest, PlainMemoryIsFreedInOrderToo) {
  const CUdeviceptr address = allocate(kBytes);
  const std::uint64_t before = ferry_sim_memory_in_use(0);
  use(address, a);
  FERRY_OK(cuMemFreeAsync(address, a));
  EXPECT_EQ(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE) << "it was freed";
  FERRY_OK(cuStreamSynchronize(a));
  EXPECT_EQ(ferry_sim_memory_in_use(0), before - 4 * kMiB);
  const CUdeviceptr small = allocate(1000);
  FERRY_OK(cuMemFreeAsync(small, a));
  ferry_sim_drain();
  FERRY_OK(cuMemsetD8Async(allocate(1000), 1, 1000, b));
}

TEST_P(PoolAllocationTest, ASecondFreeAndAPointerIntoTheMiddleAreRefused) {
  const CUdeviceptr address = allocate_on(a);
  EXPECT_EQ(cuMemFreeAsync(0, a), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeAsync(address + 512, a), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuMemFreeAsync(address, a));
  EXPECT_EQ(cuMemFreeAsync(address, a), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
  CUmemoryPool pool = nullptr;
  EXPECT_EQ(cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_P(PoolAllocationTest, WithoutAContextOnlyStreamsOfTheirOwnServe) {
  const CUdeviceptr address = allocate_on(a);
  CUcontext popped = nullptr;
  FERRY_OK(cuCtxPopCurrent_v2(&popped));
  CUdeviceptr other = 0;
  EXPECT_EQ(cuMemAllocAsync(&other, 1, nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuMemFreeAsync(address, nullptr), CUDA_ERROR_INVALID_CONTEXT);
  FERRY_OK(cuMemFreeAsync(address, a));
  FERRY_OK(cuCtxPushCurrent_v2(popped));
}

// What is queued behind a wait for a word gets its place in the order when it runs.
TEST_P(PoolAllocationTest, AFreeBehindAWaitForAWordComesAfterWhatWasQueuedBefore) {
  const CUdeviceptr word = SimTest::allocate(4);
  FERRY_OK(cuMemsetD32_v2(word, 0, 1));
  FERRY_OK(cuCtxSynchronize());
  const CUdeviceptr address = allocate_on(a);
  FERRY_OK(cuStreamWaitValue32_v2(a, word, 1, CU_STREAM_WAIT_VALUE_EQ));
  use(address, a);
  FERRY_OK(cuMemFreeAsync(address, a));
  FERRY_OK(cuStreamWriteValue32_v2(b, word, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
  FERRY_OK(cuCtxSynchronize());
}

TEST_P(PoolAllocationTest, UseAfterAFreeBehindAWaitForAWordIsFound) {
  const CUdeviceptr word = SimTest::allocate(4);
  FERRY_OK(cuMemsetD32_v2(word, 0, 1));
  FERRY_OK(cuCtxSynchronize());
  const CUdeviceptr address = allocate_on(a);
  FERRY_OK(cuStreamWaitValue32_v2(a, word, 1, CU_STREAM_WAIT_VALUE_EQ));
  FERRY_OK(cuMemFreeAsync(address, a));
  use(address, a);
  FERRY_OK(cuStreamWriteValue32_v2(b, word, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
  FERRY_OK(cuCtxSynchronize());
  EXPECT_EQ(ferry_sim_take_hazards(), 1U);
}

TEST_P(PoolAllocationTest, PeersReachThePoolOnlyOnceTheyMay) {
  restart(std::string(GetParam()) + ";devices=2");
  const CUdeviceptr address = allocate_on(stream());
  FERRY_OK(cuCtxSynchronize());
  CUcontext other = nullptr;
  FERRY_OK(cuCtxCreate_v2(&other, 0, 1));
  CUmemoryPool pool = nullptr;
  FERRY_OK(cuDeviceGetDefaultMemPool(&pool, 0));
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 1},
                               CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  FERRY_OK(cuMemPoolSetAccess(pool, &access, 1));
  use(address, nullptr);
  FERRY_OK(cuCtxSynchronize());
  const CUmemAccessDesc none{{CU_MEM_LOCATION_TYPE_DEVICE, 1}, CU_MEM_ACCESS_FLAGS_PROT_NONE};
  FERRY_OK(cuMemPoolSetAccess(pool, &none, 1));
  use(address, nullptr);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

INSTANTIATE_TEST_SUITE_P(Schedules, PoolAllocationTest,
                         testing::Values("schedule=eager", "schedule=lazy",
                                         "schedule=random;seed=1", "schedule=random;seed=2"));

}  // namespace
}  // namespace ferry::sim
