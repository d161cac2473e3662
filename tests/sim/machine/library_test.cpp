// SPDX-License-Identifier: Apache-2.0
// The gate: settings, start-up, forks, and when a call is refused. What must happen in a process
// that has not used the driver yet happens in processes of its own.
#include "sim/machine/library.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

class LibraryTest : public SimTest {};

TEST_F(LibraryTest, InjectedFaultsAndCounts) {
  ASSERT_EQ(ferry_sim_fail_nth("cuMemAlloc", 2, CUDA_ERROR_OUT_OF_MEMORY), 0);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc_v2(&address, 4096), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc_v2(&address, 4096), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc_v2(&address, 4096), CUDA_SUCCESS);
  EXPECT_EQ(ferry_sim_calls("cuMemAlloc"), 3U);
}

TEST_F(LibraryTest, BadFaultsAreRefused) {
  EXPECT_EQ(ferry_sim_fail_nth("cuNothing", 1, 2), -1);
  EXPECT_EQ(ferry_sim_fail_nth("cuMemAlloc", 0, 2), -1);
  EXPECT_EQ(ferry_sim_fail_nth("cuMemAlloc", 1, 0), -1);
  EXPECT_EQ(ferry_sim_fail_nth("cuMemAlloc", 1, 12345), -1);
  EXPECT_EQ(ferry_sim_fail_nth(nullptr, 1, 2), -1);
}

TEST_F(LibraryTest, ConfigureChangesTheScheduleButNotTheMachine) {
  EXPECT_EQ(ferry_sim_configure("schedule=lazy;fault=cuMemAlloc@1:2"), 0);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc_v2(&address, 4096), CUDA_ERROR_OUT_OF_MEMORY);
  address = allocate(4096);
  FERRY_OK(cuMemsetD32_v2(address, 7, 1024));
  EXPECT_EQ(peek(address), kUnwritten) << "lazy from now on";
  EXPECT_EQ(ferry_sim_configure("devices=2"), -1);
  EXPECT_EQ(ferry_sim_configure("capacity=1GiB"), -1);
  EXPECT_EQ(ferry_sim_configure("data=none"), -1);
  EXPECT_EQ(ferry_sim_configure("nonsense"), -1);
  EXPECT_EQ(ferry_sim_configure("schedule=eager"), 0);
  FERRY_OK(cuMemsetD32_v2(address, 8, 1024));
  EXPECT_EQ(peek(address), 8U);
}

TEST_F(LibraryTest, ResetForgetsEverything) {
  const CUdeviceptr address = allocate(4096);
  ASSERT_EQ(ferry_sim_reset("devices=2;capacity=1GiB"), 0);
  EXPECT_EQ(ferry_sim_calls("cuMemAlloc"), 0U);
  int count = 0;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS) << "no second cuInit is needed";
  EXPECT_EQ(count, 2);
  CUcontext current = context;
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, nullptr);
  EXPECT_EQ(cuCtxPushCurrent_v2(context), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(ferry_sim_memory_in_use(0), 0U);
  std::uint32_t word = 0;
  EXPECT_EQ(ferry_sim_peek(address, &word, 4), -1);
  EXPECT_EQ(ferry_sim_reset("devices=many"), -1);
}

TEST_F(LibraryTest, OtherThreadsForgetTheirContextsOnReset) {
  std::atomic<int> step = 0;
  std::thread other([&] {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    step = 1;
    while (step != 2) std::this_thread::yield();
    CUcontext current = context;
    EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, nullptr);
  });
  while (step != 1) std::this_thread::yield();
  EXPECT_EQ(ferry_sim_reset(""), 0);
  step = 2;
  other.join();
}

TEST_F(LibraryTest, AForkedChildIsNotInitialised) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int count = 0;
    std::size_t free = 0;
    const bool refused = cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED &&
                         cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                         cuMemGetInfo_v2(&free, &free) == CUDA_ERROR_NOT_INITIALIZED;
    ferry_sim_drain();
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_NE(allocate(4096), 0U) << "the parent goes on";
}

TEST_F(LibraryTest, AFaultSticksToItsContextUntilTheReset) {
  const CUdeviceptr address = allocate(4096);
  EXPECT_EQ(cuMemsetD8_v2(address, 1, 8192), CUDA_SUCCESS) << "found out when it runs";
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr other = 0;
  EXPECT_EQ(cuMemAlloc_v2(&other, 4096), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuMemAddressReserve(&other, 2 * kMiB, 0, 0, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUcontext current = nullptr;
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS) << "contexts can still be left";
  FERRY_OK(cuDevicePrimaryCtxReset_v2(0));
  EXPECT_EQ(cuMemAlloc_v2(&other, 4096), CUDA_SUCCESS);
}

// --- Processes of their own ---

class LibraryDeathTest : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

[[noreturn]] void end_with(CUresult result) {
  std::_Exit(static_cast<int>(result));
}

TEST_F(LibraryDeathTest, BadSettingsInTheEnvironmentFailInit) {
  EXPECT_EXIT(
      {
        setenv("FERRY_SIM", "devices=2;schedule=never", 1);
        end_with(cuInit(0));
      },
      testing::ExitedWithCode(CUDA_ERROR_INVALID_VALUE), "schedule=never.*eager, lazy or random");
}

TEST_F(LibraryDeathTest, SettingsInTheEnvironmentCount) {
  EXPECT_EXIT(
      {
        setenv("FERRY_SIM", "devices=3;fault=cuDeviceGetCount@1:999", 1);
        int count = 0;
        if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&count) != CUDA_ERROR_UNKNOWN)
          std::_Exit(1);
        if (cuDeviceGetCount(&count) != CUDA_SUCCESS || count != 3) std::_Exit(1);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(LibraryDeathTest, NothingWorksBeforeInit) {
  EXPECT_EXIT(
      {
        int count = 0;
        end_with(cuDeviceGetCount(&count));
      },
      testing::ExitedWithCode(CUDA_ERROR_NOT_INITIALIZED), "");
}

TEST_F(LibraryDeathTest, NoDevicesIsNoDevice) {
  EXPECT_EXIT(
      {
        setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
        end_with(cuInit(0));
      },
      testing::ExitedWithCode(CUDA_ERROR_NO_DEVICE), "");
  EXPECT_EXIT(
      {
        setenv("FERRY_SIM", "devices=0", 1);
        end_with(cuInit(0));
      },
      testing::ExitedWithCode(CUDA_ERROR_NO_DEVICE), "");
}

TEST_F(LibraryDeathTest, VisibleDevicesAreRenumbered) {
  EXPECT_EXIT(
      {
        setenv("FERRY_SIM", "devices=4", 1);
        setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
        char bus[16] = {};
        int count = 0;
        if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&count) != CUDA_SUCCESS || count != 2)
          std::_Exit(1);
        if (cuDeviceGetPCIBusId(bus, sizeof bus, 0) != CUDA_SUCCESS) std::_Exit(1);
        std::_Exit(std::string(bus) == "0000:03:00.0" ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

// Calls the driver after everything of main has been destroyed.
struct LateCaller {
  ~LateCaller() {
    std::size_t free = 0;
    std::size_t total = 0;
    if (armed && cuMemGetInfo_v2(&free, &total) != CUDA_SUCCESS) std::_Exit(1);
  }
  bool armed = false;
};
LateCaller g_late_caller;

TEST_F(LibraryDeathTest, StaticDestructorsMayCallTheDriver) {
  EXPECT_EXIT(
      {
        CUcontext context = nullptr;
        if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
            cuCtxPushCurrent_v2(context) != CUDA_SUCCESS) {
          std::_Exit(2);
        }
        g_late_caller.armed = true;
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ferry::sim
