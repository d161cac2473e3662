// SPDX-License-Identifier: Apache-2.0
// Host functions in streams.
#include <atomic>
#include <chrono>
#include <future>
#include <vector>

#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

class HostFunction : public WithContext {};

TEST_F(HostFunction, RunsAfterTheWorkBeforeIt) {
  const StreamOwner stream;
  const DeviceBuffer buffer(4096);
  const PinnedBuffer to(4096);
  struct Seen {
    const PinnedBuffer* to;
    bool done_before;
  } seen{&to, false};
  FERRY_OK(cuda().cuMemsetD8Async(buffer.address, 5, 4096, stream.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, buffer.address, 4096, stream.handle));
  FERRY_OK(cuda().cuLaunchHostFunc(
      stream.handle,
      [](void* data) {
        static_cast<Seen*>(data)->done_before = static_cast<Seen*>(data)->to->holds(5);
      },
      &seen));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(seen.done_before);
}

TEST_F(HostFunction, HoldsBackTheWorkAfterIt) {
  const StreamOwner stream;
  const DeviceBuffer buffer(4096);
  PinnedBuffer from(4096);
  PinnedBuffer to(4096);
  from.fill(1);
  FERRY_OK(cuda().cuLaunchHostFunc(
      stream.handle, [](void* data) { static_cast<PinnedBuffer*>(data)->fill(2); }, &from));
  FERRY_OK(cuda().cuMemcpyHtoDAsync_v2(buffer.address, from.pointer, 4096, stream.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, buffer.address, 4096, stream.handle));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_TRUE(to.holds(2));
}

TEST_F(HostFunction, RunInTheOrderOfTheirStream) {
  const StreamOwner stream;
  struct Step {
    std::vector<int>* order;
    int number;
  };
  std::vector<int> order;
  std::vector<Step> steps;
  for (int number = 0; number < 10; ++number) steps.push_back({&order, number});
  for (Step& step : steps) {
    FERRY_OK(cuda().cuLaunchHostFunc(
        stream.handle,
        [](void* data) {
          const Step& now = *static_cast<Step*>(data);
          now.order->push_back(now.number);
        },
        &step));
  }
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

// On a device the work goes on while the host waits for it by its own means.
TEST_F(HostFunction, WakesAThreadThatWaitsWithoutTheDriver) {
  const StreamOwner stream;
  const DeviceBuffer buffer(4096);
  const PinnedBuffer to(4096);
  FERRY_OK(cuda().cuMemsetD8Async(buffer.address, 7, 4096, stream.handle));
  FERRY_OK(cuda().cuMemcpyDtoHAsync_v2(to.pointer, buffer.address, 4096, stream.handle));
  std::promise<void> arrived;
  FERRY_OK(cuda().cuLaunchHostFunc(
      stream.handle, [](void* data) { static_cast<std::promise<void>*>(data)->set_value(); },
      &arrived));
  std::future<void> arrival = arrived.get_future();
  ASSERT_EQ(arrival.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_TRUE(to.holds(7));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
}

TEST_F(HostFunction, SetsAFlagThatTheHostSpinsOn) {
  const StreamOwner stream;
  std::atomic<bool> flag = false;
  FERRY_OK(cuda().cuLaunchHostFunc(
      stream.handle, [](void* data) { *static_cast<std::atomic<bool>*>(data) = true; }, &flag));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!flag && std::chrono::steady_clock::now() < end) {
  }
  ASSERT_TRUE(flag);
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
}

TEST_F(HostFunction, CannotCallCuda) {
  const StreamOwner stream;
  struct Seen {
    CUresult result = CUDA_SUCCESS;
  } seen;
  FERRY_OK(cuda().cuLaunchHostFunc(
      stream.handle,
      [](void* data) {
        CUdeviceptr address = 0;
        static_cast<Seen*>(data)->result = cuda().cuMemAlloc_v2(&address, 4096);
      },
      &seen));
  FERRY_OK(cuda().cuStreamSynchronize(stream.handle));
  EXPECT_EQ(seen.result, CUDA_ERROR_NOT_PERMITTED);
}

TEST_F(HostFunction, NullIsRefused) {
  const StreamOwner stream;
  EXPECT_EQ(cuda().cuLaunchHostFunc(stream.handle, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(HostFunction, ADestroyedStreamStillCallsIt) {
  CUstream stream = nullptr;
  FERRY_OK(cuda().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  std::atomic<int> calls{0};
  FERRY_OK(cuda().cuLaunchHostFunc(
      stream, [](void* data) { static_cast<std::atomic<int>*>(data)->fetch_add(1); }, &calls));
  FERRY_OK(cuda().cuStreamDestroy_v2(stream));
  FERRY_OK(cuda().cuCtxSynchronize());
  EXPECT_EQ(calls.load(), 1);
}

}  // namespace
}  // namespace ferry::conformance
