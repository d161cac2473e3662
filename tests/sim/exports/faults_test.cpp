// SPDX-License-Identifier: Apache-2.0
// Faults on request, as a program meets them.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class ExportsFaultsTest : public SimTest {
 protected:
  // The results of so many calls of cuMemAlloc, one after the other.
  static std::vector<CUresult> allocations(int count, std::size_t bytes = 4096) {
    std::vector<CUresult> results;
    for (int i = 0; i < count; ++i) {
      CUdeviceptr address = 0;
      results.push_back(cuMemAlloc_v2(&address, bytes));
    }
    return results;
  }
};

constexpr CUresult kFine = CUDA_SUCCESS;
constexpr CUresult kFull = CUDA_ERROR_OUT_OF_MEMORY;

TEST_F(ExportsFaultsTest, RulesChooseCallsByCount) {
  ASSERT_EQ(ferry_sim_configure("fault=cuMemAlloc@2-3:2;fault=cuMemAlloc@every5:2"), 0);
  EXPECT_EQ(allocations(6), (std::vector{kFine, kFull, kFull, kFine, kFull, kFine}));
}

TEST_F(ExportsFaultsTest, ChancesFollowTheSeedOfTheSettings) {
  const auto with = [](const std::string& settings) {
    EXPECT_EQ(ferry_sim_reset(settings.c_str()), 0);
    CUcontext fresh = nullptr;
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&fresh, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxPushCurrent_v2(fresh), CUDA_SUCCESS);
    return allocations(50);
  };
  const std::vector<CUresult> first = with("fault=cuMemAlloc@p0.5:2;seed=1");
  EXPECT_EQ(with("fault=cuMemAlloc@p0.5:2;seed=1"), first);
  EXPECT_NE(with("fault=cuMemAlloc@p0.5:2;seed=2"), first);
  EXPECT_EQ(with("fault=cuMemAlloc@p0.5/1:2;seed=2"), first);
}

TEST_F(ExportsFaultsTest, ABudgetOfBytesCountsForEveryFunctionThatAsksForMemory) {
  const auto refuses_second = [](const char* function, auto&& call) {
    const std::string rule = "fault=" + std::string(function) + "@after3MiB:2";
    EXPECT_EQ(ferry_sim_configure(rule.c_str()), 0) << function;
    EXPECT_EQ(call(), CUDA_SUCCESS) << function;
    EXPECT_EQ(call(), CUDA_ERROR_OUT_OF_MEMORY) << function;
  };
  CUdeviceptr address = 0;
  void* pointer = nullptr;
  std::size_t pitch = 0;
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle handle = 0;
  std::vector<std::byte> buffer(4 * kMiB);
  std::byte* next = buffer.data();
  refuses_second("cuMemAlloc", [&] { return cuMemAlloc_v2(&address, 2 * kMiB); });
  refuses_second("cuMemAllocPitch",
                 [&] { return cuMemAllocPitch_v2(&address, &pitch, 2048, 1024, 4); });
  refuses_second("cuMemAllocManaged",
                 [&] { return cuMemAllocManaged(&address, 2 * kMiB, CU_MEM_ATTACH_GLOBAL); });
  refuses_second("cuMemAllocHost", [&] { return cuMemAllocHost_v2(&pointer, 2 * kMiB); });
  refuses_second("cuMemHostAlloc", [&] { return cuMemHostAlloc(&pointer, 2 * kMiB, 0); });
  refuses_second("cuMemCreate", [&] { return cuMemCreate(&handle, 2 * kMiB, &prop, 0); });
  refuses_second("cuMemAddressReserve",
                 [&] { return cuMemAddressReserve(&address, 2 * kMiB, 0, 0, 0); });
  refuses_second("cuMemHostRegister", [&] {
    return cuMemHostRegister_v2(std::exchange(next, next + 2 * kMiB), 2 * kMiB, 0);
  });
  FERRY_OK(cuMemHostUnregister(buffer.data()));
}

TEST_F(ExportsFaultsTest, OnlyAStickyFaultPoisonsTheContext) {
  ASSERT_EQ(ferry_sim_configure("fault=cuMemAlloc@1:700"), 0);
  EXPECT_EQ(allocations(2), (std::vector{CUDA_ERROR_ILLEGAL_ADDRESS, kFine}));
  const CUdeviceptr address = allocate(4096);
  ASSERT_EQ(ferry_sim_configure("schedule=lazy;fault=cuMemAlloc@1:700,sticky"), 0);
  FERRY_OK(cuMemsetD32_v2(address, 7, 1024));
  EXPECT_EQ(allocations(2), (std::vector{CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS}));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  ferry_sim_drain();
  EXPECT_EQ(peek(address), kUnwritten) << "what was queued does not run any more";
  CUcontext other = nullptr;
  FERRY_OK(cuCtxCreate_v2(&other, 0, 0));
  EXPECT_EQ(allocations(1), std::vector{kFine}) << "another context is well";
}

TEST_F(ExportsFaultsTest, ACallThatStandsStillHoldsNobodyElseUp) {
  ASSERT_EQ(ferry_sim_configure("stall=cuMemAlloc@1:400"), 0);
  std::atomic<bool> returned = false;
  CUresult result = CUDA_ERROR_UNKNOWN;
  const auto begin = std::chrono::steady_clock::now();
  std::thread stalled([&] {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    CUdeviceptr address = 0;
    result = cuMemAlloc_v2(&address, 4096);
    returned = true;
  });
  while (ferry_sim_calls("cuMemAlloc") == 0) std::this_thread::yield();
  allocate(4096);
  FERRY_OK(cuCtxSynchronize());
  EXPECT_FALSE(returned) << "the others went on meanwhile";
  stalled.join();
  EXPECT_EQ(result, CUDA_SUCCESS);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(400));
}

TEST_F(ExportsFaultsTest, ALostDeviceNeverComesBack) {
  restart("devices=2");
  ASSERT_EQ(ferry_sim_configure("lost=0@3"), 0);
  EXPECT_EQ(allocations(4), (std::vector{kFine, kFine, CUDA_ERROR_DEVICE_UNAVAILABLE,
                                         CUDA_ERROR_DEVICE_UNAVAILABLE}));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_DEVICE_UNAVAILABLE);
  FERRY_OK(cuDevicePrimaryCtxReset_v2(0));
  EXPECT_EQ(allocations(1), std::vector{CUDA_ERROR_DEVICE_UNAVAILABLE}) << "no reset helps";
  CUcontext other = nullptr;
  EXPECT_EQ(cuCtxCreate_v2(&other, 0, 0), CUDA_ERROR_DEVICE_UNAVAILABLE);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&other, 0), CUDA_ERROR_DEVICE_UNAVAILABLE);
  FERRY_OK(cuDevicePrimaryCtxRetain(&other, 1));
  FERRY_OK(cuCtxPushCurrent_v2(other));
  EXPECT_EQ(allocations(1), std::vector{kFine}) << "the other device is there";
}

TEST_F(ExportsFaultsTest, ALostDeviceAnswersWhatItIsTold) {
  ASSERT_EQ(ferry_sim_configure("lost=0:CUDA_ERROR_ECC_UNCORRECTABLE"), 0);
  EXPECT_EQ(allocations(2),
            (std::vector{CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_ECC_UNCORRECTABLE}));
  EXPECT_EQ(ferry_sim_configure("lost=1"), -1) << "there is no such device";
}

// --- Processes of their own ---

CUresult g_at_exit = CUDA_SUCCESS;
CUresult g_after_driver = CUDA_SUCCESS;

void check_early() {
  int count = 0;
  g_at_exit = cuDeviceGetCount(&count);
}

void check_late() {
  int count = 0;
  g_after_driver = cuDeviceGetCount(&count);
  const char* name = nullptr;
  const bool named = cuGetErrorName(g_after_driver, &name) == CUDA_SUCCESS;
  std::_Exit(g_at_exit == CUDA_SUCCESS && named ? static_cast<int>(g_after_driver) : 99);
}

// Handlers run last in, first out: one from before cuInit runs after the driver's own.
void end_with(const char* settings) {
  setenv("FERRY_SIM", settings, 1);
  if (std::atexit(check_late) != 0 || cuInit(0) != CUDA_SUCCESS || std::atexit(check_early) != 0)
    std::_Exit(98);
  std::exit(0);
}

TEST(ExportsFaultsDeathTest, TheDriverMayEndBeforeTheProgramDoes) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(end_with("at_exit=deinitialized"), testing::ExitedWithCode(CUDA_ERROR_DEINITIALIZED),
              "");
  EXPECT_EXIT(end_with(""), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ferry::sim
