// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/stream_access.hpp"

#include <thread>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class StreamAccessTest : public SimTest {
 protected:
  // Runs body(Call&) as a call of the program would.
  template <typename Body>
  static CUresult in_call(Body&& body) {
    return Library::get().call(Symbol::cuCtxSynchronize, Need::initialised, body);
  }
};

TEST_F(StreamAccessTest, DefaultStreamsAreThoseOfTheCurrentContext) {
  const CUresult result = in_call([&](Call& call) {
    StreamUse null_stream;
    StreamUse legacy;
    StreamUse per_thread;
    EXPECT_EQ(find_stream(call, nullptr, null_stream), CUDA_SUCCESS);
    EXPECT_EQ(find_stream(call, CU_STREAM_LEGACY, legacy), CUDA_SUCCESS);
    EXPECT_EQ(find_stream(call, CU_STREAM_PER_THREAD, per_thread), CUDA_SUCCESS);
    EXPECT_EQ(null_stream.stream, legacy.stream);
    EXPECT_NE(per_thread.stream, legacy.stream);
    EXPECT_TRUE(per_thread.stream->blocking);
    EXPECT_EQ(per_thread.context, call.context);
    return CUDA_SUCCESS;
  });
  EXPECT_EQ(result, CUDA_SUCCESS);
}

TEST_F(StreamAccessTest, PerThreadStreamsDifferByThread) {
  const auto per_thread = [] {
    StreamUse use;
    EXPECT_EQ(in_call([&](Call& call) { return find_stream(call, CU_STREAM_PER_THREAD, use); }),
              CUDA_SUCCESS);
    return use.stream;
  };
  const Stream* const mine = per_thread();
  EXPECT_EQ(per_thread(), mine);
  const Stream* other = nullptr;
  std::thread([&] {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    other = per_thread();
  }).join();
  EXPECT_NE(other, mine);
}

TEST_F(StreamAccessTest, HandlesOfOtherKindsAndDeadOnesAreRefused) {
  const CUevent an_event = event();
  const CUstream dead = stream();
  FERRY_OK(cuStreamDestroy_v2(dead));
  in_call([&](Call& call) {
    StreamUse use;
    EXPECT_EQ(find_stream(call, reinterpret_cast<CUstream>(an_event), use),
              CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(find_stream(call, reinterpret_cast<CUstream>(context), use),
              CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(find_stream(call, dead, use), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(find_event(call, reinterpret_cast<CUevent>(dead)), nullptr);
    EXPECT_NE(find_event(call, an_event), nullptr);
    return CUDA_SUCCESS;
  });
}

TEST_F(StreamAccessTest, SubmittedWorkRunsOnTheStreamsDevice) {
  restart("devices=2;schedule=lazy");
  CUcontext second = nullptr;
  FERRY_OK(cuCtxCreate_v2(&second, 0, 1));
  const CUstream on_second = stream();
  FERRY_OK(cuCtxPopCurrent_v2(nullptr));
  int device = -1;
  const auto work = [&](int which) {
    device = which;
    return CUDA_SUCCESS;
  };
  const auto submit_with = [&](Wait wait) {
    return in_call([&](Call& call) {
      return submit(call, {Symbol::cuMemcpyAsync, on_second, wait, {}, work});
    });
  };
  EXPECT_EQ(submit_with(Wait::no), CUDA_SUCCESS);
  EXPECT_EQ(device, -1);
  EXPECT_EQ(submit_with(Wait::until_done), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
}

TEST_F(StreamAccessTest, TheFaultOfWaitedWorkIsReported) {
  const auto fails = [](int) { return CUDA_ERROR_LAUNCH_FAILED; };
  EXPECT_EQ(in_call([&](Call& call) {
              return submit(call, {Symbol::cuMemcpyAsync, nullptr, Wait::until_done, {}, fails});
            }),
            CUDA_ERROR_LAUNCH_FAILED);
  in_call([&](Call& call) {
    EXPECT_EQ(fault_of(call, value_of(context)), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(fault_of(call, 12345), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    return CUDA_SUCCESS;
  });
}

}  // namespace
}  // namespace ferry::sim
