// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsControlTest : public SimTest {};

TEST_F(ExportsControlTest, NullsAreBadArgumentsAndNoCrash) {
  EXPECT_EQ(ferry_sim_configure(nullptr), -1);
  EXPECT_EQ(ferry_sim_calls(nullptr), 0U);
  EXPECT_EQ(ferry_sim_peek(0, nullptr, 4), -1);
  EXPECT_EQ(ferry_sim_memory_in_use(-1), 0U);
  EXPECT_EQ(ferry_sim_memory_in_use(99), 0U);
  EXPECT_EQ(ferry_sim_reset(nullptr), 0) << "null stands for the defaults";
}

TEST_F(ExportsControlTest, NothingIsWrongWithSettingsThatWereUnderstood) {
  EXPECT_STREQ(ferry_sim_settings_error(), "");
}

TEST_F(ExportsControlTest, MemoryInUseCountsWhatIsBehindAddresses) {
  EXPECT_EQ(ferry_sim_memory_in_use(0), 0U);
  allocate(5 * kMiB);
  EXPECT_EQ(ferry_sim_memory_in_use(0), 6 * kMiB);
}

TEST_F(ExportsControlTest, PeekNeedsDeviceMemory) {
  int on_the_stack = 0;
  int seen = 0;
  EXPECT_EQ(ferry_sim_peek(reinterpret_cast<std::uintptr_t>(&on_the_stack), &seen, 4), -1);
  EXPECT_EQ(ferry_sim_peek(allocate(16), &seen, 4), 0);
  EXPECT_EQ(static_cast<std::uint32_t>(seen), kUnwritten);
}

TEST_F(ExportsControlTest, AThreadOutsideReadsTheTimeOfTheRoundThatIsOver) {
  restart("profile=h200-pcie5;threads=turns");
  EXPECT_EQ(ferry_sim_thread_expect(1), 0);
  std::uint64_t end = 0;
  std::thread worker([&] {
    EXPECT_EQ(ferry_sim_thread_begin(1), 0);
    ferry_sim_host_work(1'000'000);
    end = ferry_sim_now_ps();
    EXPECT_EQ(ferry_sim_thread_end(), 0);
  });
  worker.join();
  EXPECT_EQ(ferry_sim_now_ps(), end);
}

// Where nobody has a turn, the device goes on by itself as it does without turns.
TEST_F(ExportsControlTest, AHostFunctionWakesAProgramWithoutARound) {
  restart("profile=h200-pcie5;threads=turns;schedule=lazy");
  std::promise<void> arrived;
  FERRY_OK(cuLaunchHostFunc(
      stream(), [](void* data) { static_cast<std::promise<void>*>(data)->set_value(); }, &arrived));
  EXPECT_EQ(arrived.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  FERRY_OK(cuCtxSynchronize());
}

TEST_F(ExportsControlTest, AHostFunctionWakesAThreadOutsideTheRound) {
  restart("profile=h200-pcie5;threads=turns;schedule=lazy");
  const CUstream queued = stream();
  EXPECT_EQ(ferry_sim_thread_expect(1), 0);
  std::thread([&] {
    EXPECT_EQ(ferry_sim_thread_begin(1), 0);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    std::promise<void> arrived;
    const auto body = [](void* data) { static_cast<std::promise<void>*>(data)->set_value(); };
    EXPECT_EQ(cuLaunchHostFunc(queued, body, &arrived), CUDA_SUCCESS);
    EXPECT_EQ(ferry_sim_thread_pause(), 0);
    EXPECT_EQ(arrived.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
    EXPECT_EQ(ferry_sim_thread_resume(), 0);
    EXPECT_EQ(ferry_sim_thread_end(), 0);
  }).join();
}

// What runs by itself runs without the lock.
TEST_F(ExportsControlTest, AResetWaitsForWhatRunsByItself) {
  struct Told {
    std::promise<void> began;
    std::atomic<int> reset = 0;
    std::atomic<bool> over = false;
  } told;
  restart("schedule=lazy");
  FERRY_OK(cuLaunchHostFunc(
      stream(),
      [](void* data) {
        auto& its = *static_cast<Told*>(data);
        its.began.set_value();
        its.reset = ferry_sim_reset("");
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        its.over = true;
      },
      &told));
  ASSERT_EQ(told.began.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  restart("");
  EXPECT_TRUE(told.over);
  EXPECT_EQ(told.reset, -1) << "a host function cannot reset the machine that runs it";
}

TEST_F(ExportsControlTest, TheRandomSequenceStartsAnewWithEachConfigure) {
  restart("schedule=random;seed=3");
  const CUdeviceptr address = allocate(4096);
  const CUstream a_stream = stream();
  const auto progress_with = [&](const char* seed) {
    EXPECT_EQ(cuMemsetD32Async(address, 99, 1024, a_stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(a_stream), CUDA_SUCCESS);
    EXPECT_EQ(ferry_sim_configure(seed), 0);
    std::vector<std::uint32_t> seen;
    for (std::uint32_t i = 0; i < 20; ++i) {
      EXPECT_EQ(cuMemsetD32Async(address, i, 1024, a_stream), CUDA_SUCCESS);
      seen.push_back(peek(address));
    }
    return seen;
  };
  const auto first = progress_with("seed=5");
  const auto other = progress_with("seed=6");
  EXPECT_EQ(progress_with("seed=5"), first);
  EXPECT_NE(other, first);
}

}  // namespace
}  // namespace ferry::sim
