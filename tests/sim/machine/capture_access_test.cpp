// SPDX-License-Identifier: Apache-2.0
// What is left to say beside the conformance suite: choices that cuda.h leaves open.
#include "sim/machine/capture_access.hpp"

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class CaptureAccessTest : public SimTest {
 protected:
  static void begin(CUstream where) {
    FERRY_OK(cuStreamBeginCapture_v2(where, CU_STREAM_CAPTURE_MODE_RELAXED));
  }
  static CUresult end(CUstream where) {
    CUgraph graph = nullptr;
    const CUresult result = cuStreamEndCapture(where, &graph);
    if (graph != nullptr) {
      EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    }
    return result;
  }
};

TEST_F(CaptureAccessTest, ACapturedEventStaysOneUntilItIsRecordedAgain) {
  const CUstream a_stream = stream();
  const CUevent an_event = event();
  begin(a_stream);
  FERRY_OK(cuEventRecord(an_event, a_stream));
  FERRY_OK(end(a_stream));
  EXPECT_EQ(cuEventQuery(an_event), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(cuStreamWaitEvent(a_stream, an_event, 0), CUDA_ERROR_CAPTURED_EVENT);
  begin(a_stream);
  EXPECT_EQ(cuStreamWaitEvent(a_stream, an_event, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(end(a_stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  FERRY_OK(cuEventRecord(an_event, a_stream));
  FERRY_OK(cuEventSynchronize(an_event));
}

TEST_F(CaptureAccessTest, TheDefaultStreamCannotBeBroughtIn) {
  const CUstream a_stream = stream();
  const CUevent an_event = event();
  begin(a_stream);
  FERRY_OK(cuEventRecord(an_event, a_stream));
  EXPECT_EQ(cuStreamWaitEvent(nullptr, an_event, 0), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(end(a_stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CaptureAccessTest, WhatWaitsForItsOwnWorkCannotBeCaptured) {
  const CUdeviceptr device = allocate(64);
  char bytes[64] = {};
  FERRY_OK(cuStreamBeginCapture_v2(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(cuMemcpyHtoD_v2_ptds(device, bytes, sizeof bytes),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end(CU_STREAM_PER_THREAD), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CaptureAccessTest, ASynchronousCopyIsUnsafeWhereItDependsOnNoCapture) {
  const CUdeviceptr device = allocate(64);
  const CUstream a_stream = stream();
  char bytes[64] = {};
  FERRY_OK(cuStreamBeginCapture_v2(a_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_EQ(cuMemcpyHtoD_v2(device, bytes, sizeof bytes), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end(a_stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(a_stream);
  FERRY_OK(cuMemcpyHtoD_v2(device, bytes, sizeof bytes));
  FERRY_OK(end(a_stream));
}

TEST_F(CaptureAccessTest, CallbacksAndPoolsCannotBeCaptured) {
  const CUstream a_stream = stream();
  CUdeviceptr address = 0;
  begin(a_stream);
  EXPECT_EQ(cuStreamAddCallback(
                a_stream, [](CUstream, CUresult, void*) {}, nullptr, 0),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end(a_stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(a_stream);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuMemAllocAsync(&address, 64, a_stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cuMemAllocAsync"), std::string::npos);
  EXPECT_EQ(end(a_stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CaptureAccessTest, AStreamThatIsDestroyedEndsItsCapture) {
  const CUstream a_stream = stream();
  const CUstream other = stream();
  const CUevent an_event = event();
  begin(a_stream);
  FERRY_OK(cuEventRecord(an_event, a_stream));
  FERRY_OK(cuStreamWaitEvent(other, an_event, 0));
  FERRY_OK(cuStreamDestroy_v2(a_stream));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  FERRY_OK(cuStreamIsCapturing(other, &status));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  FERRY_OK(cuCtxSynchronize());
}

TEST_F(CaptureAccessTest, AContextThatIsResetEndsItsCaptures) {
  begin(stream());
  FERRY_OK(cuDevicePrimaryCtxReset_v2(0));
  FERRY_OK(cuCtxSynchronize());
}

}  // namespace
}  // namespace ferry::sim
