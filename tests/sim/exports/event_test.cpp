// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsEventTest : public SimTest {
 protected:
  void SetUp() override { restart("schedule=lazy"); }
};

TEST_F(ExportsEventTest, ElapsedTimeCountsOperations) {
  const CUstream a_stream = stream();
  const CUevent begin = event(CU_EVENT_DEFAULT);
  const CUevent end = event(CU_EVENT_DEFAULT);
  const CUdeviceptr address = allocate(4096);
  FERRY_OK(cuEventRecord(begin, a_stream));
  for (int i = 0; i < 9; ++i) FERRY_OK(cuMemsetD8Async(address, 1, 16, a_stream));
  FERRY_OK(cuEventRecord(end, a_stream));
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, begin, end), CUDA_ERROR_NOT_READY);
  FERRY_OK(cuEventSynchronize(end));
  FERRY_OK(cuEventElapsedTime(&milliseconds, begin, end));
  EXPECT_FLOAT_EQ(milliseconds, 0.010F);
  EXPECT_EQ(cuEventElapsedTime(nullptr, begin, end), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsEventTest, SynchronisingRunsNoMoreThanNeeded) {
  const CUstream a_stream = stream();
  const CUevent middle = event();
  const CUdeviceptr address = allocate(4096);
  FERRY_OK(cuMemsetD32Async(address, 1, 1024, a_stream));
  FERRY_OK(cuEventRecord(middle, a_stream));
  FERRY_OK(cuMemsetD32Async(address, 2, 1024, a_stream));
  FERRY_OK(cuEventSynchronize(middle));
  EXPECT_EQ(peek(address), 1U);
}

TEST_F(ExportsEventTest, ARecordReplacesTheLast) {
  const CUstream a_stream = stream();
  const CUevent an_event = event();
  const CUdeviceptr address = allocate(4096);
  FERRY_OK(cuEventRecord(an_event, a_stream));
  FERRY_OK(cuMemsetD32Async(address, 1, 1024, a_stream));
  FERRY_OK(cuEventRecord(an_event, a_stream));
  FERRY_OK(cuEventSynchronize(an_event));
  EXPECT_EQ(peek(address), 1U);
}

TEST_F(ExportsEventTest, AQueryLetsALittleHappenAfterAWhile) {
  const CUstream a_stream = stream();
  const CUevent an_event = event();
  FERRY_OK(cuEventRecord(an_event, a_stream));
  EXPECT_EQ(cuEventQuery(an_event), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventQuery(an_event), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventQuery(an_event), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventQuery(an_event), CUDA_SUCCESS);
}

TEST_F(ExportsEventTest, DestroyedAndForeignHandlesAreRefused) {
  const CUevent gone = event();
  FERRY_OK(cuEventDestroy_v2(gone));
  EXPECT_EQ(cuEventDestroy_v2(gone), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventQuery(gone), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventSynchronize(gone), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(gone, nullptr), CUDA_ERROR_INVALID_HANDLE);
  const CUstream a_stream = stream();
  EXPECT_EQ(cuStreamWaitEvent(a_stream, gone, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventQuery(reinterpret_cast<CUevent>(a_stream)), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ExportsEventTest, SharingBetweenProcessesNeedsAnEventWithoutTiming) {
  CUevent an_event = nullptr;
  EXPECT_EQ(cuEventCreate(&an_event, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsEventTest, EventsOfAPoisonedContextReportItsFault) {
  const CUstream a_stream = stream();
  const CUevent an_event = event();
  FERRY_OK(cuMemsetD8Async(allocate(16), 1, 17, a_stream));
  FERRY_OK(cuEventRecord(an_event, a_stream));
  EXPECT_EQ(cuEventSynchronize(an_event), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuEventQuery(an_event), CUDA_ERROR_ILLEGAL_ADDRESS);
}

// A loop of queries is a wait like any other.
TEST_F(ExportsEventTest, AQueryThatSucceedsHasSeenTheWork) {
  const CUdeviceptr address = allocate(64);
  const CUstream a_stream = stream();
  const CUevent an_event = event();
  FERRY_OK(cuMemsetD32Async(address, 1, 1, a_stream));
  FERRY_OK(cuEventRecord(an_event, a_stream));
  while (cuEventQuery(an_event) == CUDA_ERROR_NOT_READY) {
  }
  FERRY_OK(cuMemsetD32Async(address, 2, 1, stream()));
  FERRY_OK(cuCtxSynchronize());
}

}  // namespace
}  // namespace ferry::sim
