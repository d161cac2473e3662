// SPDX-License-Identifier: Apache-2.0
// A program that is built with CUDA_API_PER_THREAD_DEFAULT_STREAM: this file is one, so its calls
// are those of the _ptsz and _ptds functions. The fixture's are not, and stay out of it.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <ferry/sim.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>

extern "C" {
void** __cudaRegisterFatBinary(void* image);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device_side, const char* name,
                            int thread_limit, uint3* thread, uint3* block, dim3* block_size,
                            dim3* grid_size, int* warp_size);
void __cudaRegisterVar(void** handle, char* host, char* device_side, const char* name, int external,
                       std::size_t bytes, int constant, int global);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared, cudaStream_t stream);
}

#define FERRY_PT_OK(call) ASSERT_EQ((call), cudaSuccess)

namespace ferry::sim::runtime_test {
namespace {

std::uint64_t hazards() {
  return reinterpret_cast<ferry_sim_take_hazards_fn>(dlsym(RTLD_DEFAULT, FERRY_SIM_TAKE_HAZARDS))();
}

class PerThreadTest : public testing::Test {
 protected:
  // Lazy: what is not waited for has not run.
  void SetUp() override {
    start("schedule=lazy;kernels=skipped");
    FERRY_PT_OK(cudaSetDevice(0));
    FERRY_PT_OK(cudaMalloc(&memory, 64));
    FERRY_PT_OK(cudaMemset(memory, 0, 64));
    FERRY_PT_OK(cudaDeviceSynchronize());
  }
  void TearDown() override {
    EXPECT_EQ(hazards(), 0U) << "hazards that the test did not expect";
    start("");
    cudaGetLastError();
  }
  static void start(const char* settings) {
    const auto reset = reinterpret_cast<ferry_sim_reset_fn>(dlsym(RTLD_DEFAULT, FERRY_SIM_RESET));
    ASSERT_EQ(reset(settings), 0);
  }
  // Whether the thread's own default stream has work left, which it is waited for.
  static void expect_own_work() {
    EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
    EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaSuccess);
  }
  std::uint32_t word() const {
    std::uint32_t value = 0;
    EXPECT_EQ(cudaMemcpy(&value, memory, 4, cudaMemcpyDeviceToHost), cudaSuccess);
    return value;
  }

  void* memory = nullptr;
};

TEST_F(PerThreadTest, NoStreamIsTheThreadsOwn) {
  unsigned long long none = 0;
  unsigned long long own = 1;
  unsigned long long legacy = 0;
  FERRY_PT_OK(cudaStreamGetId(nullptr, &none));
  FERRY_PT_OK(cudaStreamGetId(cudaStreamPerThread, &own));
  FERRY_PT_OK(cudaStreamGetId(cudaStreamLegacy, &legacy));
  EXPECT_EQ(none, own);
  EXPECT_NE(none, legacy);
  unsigned long long elsewhere = 0;
  std::thread([&] { EXPECT_EQ(cudaStreamGetId(nullptr, &elsewhere), cudaSuccess); }).join();
  EXPECT_NE(none, elsewhere);
  int device = -1;
  int priority = -1;
  unsigned flags = 7;
  FERRY_PT_OK(cudaStreamGetDevice(nullptr, &device));
  FERRY_PT_OK(cudaStreamGetPriority(nullptr, &priority));
  FERRY_PT_OK(cudaStreamGetFlags(nullptr, &flags));
  EXPECT_EQ(device, 0);
  EXPECT_EQ(priority, 0);
}

TEST_F(PerThreadTest, AnotherThreadDoesNotWaitForIt) {
  FERRY_PT_OK(cudaMemsetAsync(memory, 1, 4, nullptr));
  std::thread([] {
    EXPECT_EQ(cudaStreamQuery(nullptr), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  }).join();
  expect_own_work();
}

TEST_F(PerThreadTest, TwoThreadsAreOrderedByAnEventAlone) {
  cudaEvent_t written = nullptr;
  FERRY_PT_OK(cudaEventCreateWithFlags(&written, cudaEventDisableTiming));
  FERRY_PT_OK(cudaMemsetAsync(memory, 1, 4, nullptr));
  FERRY_PT_OK(cudaEventRecord(written, nullptr));
  std::thread([&] {
    EXPECT_EQ(cudaStreamWaitEvent(nullptr, written, 0), cudaSuccess);
    EXPECT_EQ(cudaMemsetAsync(memory, 2, 4, nullptr), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  }).join();
  EXPECT_EQ(hazards(), 0U);
  FERRY_PT_OK(cudaEventRecordWithFlags(written, nullptr, cudaEventRecordDefault));
  FERRY_PT_OK(cudaMemsetAsync(static_cast<char*>(memory) + 8, 1, 4, nullptr));
  std::thread([&] {
    EXPECT_EQ(cudaMemsetAsync(static_cast<char*>(memory) + 8, 2, 4, nullptr), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  }).join();
  FERRY_PT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(hazards(), 1U);
}

TEST_F(PerThreadTest, CopiesAndFillsAreQueuedThere) {
  void* host = nullptr;
  FERRY_PT_OK(cudaMallocHost(&host, 64));
  FERRY_PT_OK(cudaMemset(memory, 1, 64));
  expect_own_work();
  FERRY_PT_OK(cudaMemset2D(memory, 8, 2, 4, 2));
  expect_own_work();
  FERRY_PT_OK(cudaMemset2DAsync(memory, 8, 3, 4, 2, nullptr));
  expect_own_work();
  FERRY_PT_OK(cudaMemcpyAsync(host, memory, 8, cudaMemcpyDeviceToHost, nullptr));
  expect_own_work();
  EXPECT_EQ(*static_cast<std::uint64_t*>(host), 0x0101010103030303U);
  FERRY_PT_OK(cudaMemcpy2DAsync(host, 4, memory, 8, 4, 2, cudaMemcpyDeviceToHost, nullptr));
  expect_own_work();
  EXPECT_EQ(*static_cast<std::uint64_t*>(host), 0x0303030303030303U);
}

TEST_F(PerThreadTest, CopiesThatWaitWaitForTheOwnStream) {
  std::uint64_t rows = 0;
  FERRY_PT_OK(cudaMemsetAsync(memory, 5, 16, nullptr));
  EXPECT_EQ(word(), 0x05050505U);
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaSuccess);
  FERRY_PT_OK(cudaMemsetAsync(memory, 6, 16, nullptr));
  FERRY_PT_OK(cudaMemcpy2D(&rows, 4, memory, 8, 4, 2, cudaMemcpyDeviceToHost));
  EXPECT_EQ(rows, 0x0606060606060606U);
  EXPECT_EQ(cudaMemcpy(memory, &rows, 4, static_cast<cudaMemcpyKind>(5)),
            cudaErrorInvalidMemcpyDirection);
}

TEST_F(PerThreadTest, MemoryInOrderOfTheOwnStream) {
  void* taken = nullptr;
  cudaMemPool_t pool = nullptr;
  FERRY_PT_OK(cudaMallocAsync(&taken, 64, nullptr));
  FERRY_PT_OK(cudaMemsetAsync(taken, 1, 4, cudaStreamPerThread));
  FERRY_PT_OK(cudaFreeAsync(taken, nullptr));
  FERRY_PT_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  FERRY_PT_OK(cudaMallocFromPoolAsync(&taken, 64, pool, nullptr));
  FERRY_PT_OK(cudaMemsetAsync(taken, 1, 4, cudaStreamPerThread));
  FERRY_PT_OK(cudaFreeAsync(taken, nullptr));
  expect_own_work();
}

TEST_F(PerThreadTest, HostFunctionsAreQueuedThere) {
  int calls = 0;
  FERRY_PT_OK(cudaLaunchHostFunc(
      nullptr, [](void* data) { ++*static_cast<int*>(data); }, &calls));
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
  FERRY_PT_OK(cudaStreamAddCallback(
      nullptr, [](cudaStream_t, cudaError_t, void* data) { ++*static_cast<int*>(data); }, &calls,
      0));
  FERRY_PT_OK(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(calls, 2);
}

// The legacy default stream cannot be captured; the thread's own can.
TEST_F(PerThreadTest, TheOwnStreamCanBeCaptured) {
  FERRY_PT_OK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeThreadLocal));
  FERRY_PT_OK(cudaMemsetAsync(memory, 4, 4, nullptr));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  FERRY_PT_OK(cudaStreamIsCapturing(nullptr, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  unsigned long long id = 0;
  std::size_t ends = 0;
  FERRY_PT_OK(cudaStreamGetCaptureInfo(nullptr, &status, &id, nullptr, nullptr, nullptr, &ends));
  EXPECT_EQ(ends, 1U);
  FERRY_PT_OK(cudaStreamUpdateCaptureDependencies(nullptr, nullptr, nullptr, 0,
                                                  cudaStreamSetCaptureDependencies));
  cudaGraph_t graph = nullptr;
  FERRY_PT_OK(cudaStreamEndCapture(nullptr, &graph));
  FERRY_PT_OK(cudaStreamBeginCaptureToGraph(nullptr, graph, nullptr, nullptr, 0,
                                            cudaStreamCaptureModeThreadLocal));
  FERRY_PT_OK(cudaStreamEndCapture(nullptr, &graph));
  cudaGraphExec_t exec = nullptr;
  FERRY_PT_OK(cudaGraphInstantiate(&exec, graph, 0));
  FERRY_PT_OK(cudaGraphUpload(exec, nullptr));
  FERRY_PT_OK(cudaGraphLaunch(exec, nullptr));
  expect_own_work();
  EXPECT_EQ(word(), 0x04040404U);
}

TEST_F(PerThreadTest, LaunchesAndVariables) {
  std::uint32_t shadow = 0;
  void** const unit = __cudaRegisterFatBinary(nullptr);
  __cudaRegisterFunction(unit, reinterpret_cast<const char*>(this), nullptr, "nobody_runs_this", -1,
                         nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterVar(unit, reinterpret_cast<char*>(&shadow), nullptr, "a_variable", 0, 4, 0, 0);
  FERRY_PT_OK(cudaLaunchKernel(this, dim3(1), dim3(1), nullptr, 0, nullptr));
  expect_own_work();
  FERRY_PT_OK(cudaLaunchCooperativeKernel(this, dim3(1), dim3(1), nullptr, 0, nullptr));
  expect_own_work();
  cudaKernel_t kernel = nullptr;
  FERRY_PT_OK(cudaGetKernel(&kernel, this));
  FERRY_PT_OK(__cudaLaunchKernel_ptsz(kernel, dim3(1), dim3(1), nullptr, 0, nullptr));
  expect_own_work();
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(1);
  how.blockDim = dim3(1);
  FERRY_PT_OK(cudaLaunchKernelExC(&how, this, nullptr));
  expect_own_work();
  EXPECT_EQ(cudaLaunchKernelExC(nullptr, this, nullptr), cudaErrorInvalidValue);
  const std::uint32_t value = 5;
  std::uint32_t back = 0;
  FERRY_PT_OK(cudaMemcpyToSymbol(&shadow, &value, 4, 0, cudaMemcpyHostToDevice));
  FERRY_PT_OK(cudaMemcpyFromSymbol(&back, &shadow, 4, 0, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back, 5U);
  FERRY_PT_OK(cudaMemcpyToSymbolAsync(&shadow, memory, 4, 0, cudaMemcpyDeviceToDevice, nullptr));
  expect_own_work();
  FERRY_PT_OK(cudaMemcpyFromSymbolAsync(memory, &shadow, 4, 0, cudaMemcpyDeviceToDevice, nullptr));
  expect_own_work();
  __cudaUnregisterFatBinary(unit);
}

TEST_F(PerThreadTest, TheDriversFunctionsAreThoseForSuchPrograms) {
  void* function = nullptr;
  FERRY_PT_OK(cudaGetDriverEntryPointByVersion("cuStreamQuery", &function, 12000, cudaEnableDefault,
                                               nullptr));
  EXPECT_EQ(function, dlsym(RTLD_DEFAULT, "cuStreamQuery_ptsz"));
  FERRY_PT_OK(cudaGetDriverEntryPointByVersion("cuStreamQuery", &function, 12000,
                                               cudaEnableLegacyStream, nullptr));
  EXPECT_EQ(function, dlsym(RTLD_DEFAULT, "cuStreamQuery"));
  // The older question is deprecated.
  const auto older = reinterpret_cast<cudaError_t (*)(const char*, void**, unsigned long long,
                                                      cudaDriverEntryPointQueryResult*)>(
      dlsym(RTLD_DEFAULT, "cudaGetDriverEntryPoint_ptsz"));
  FERRY_PT_OK(older("cuStreamQuery", &function, cudaEnableDefault, nullptr));
  EXPECT_EQ(function, dlsym(RTLD_DEFAULT, "cuStreamQuery_ptsz"));
}

}  // namespace
}  // namespace ferry::sim::runtime_test
