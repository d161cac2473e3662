// SPDX-License-Identifier: Apache-2.0
// What nvcc's code calls around `kernel<<<grid, block, shared, stream>>>(arguments)`.
#include "sim/runtime/registered_program.hpp"

namespace ferry::sim::runtime_test {
namespace {

class RegistrationTest : public RuntimeTest {
 protected:
  void SetUp() override {
    restart("");
    FillWords::give_to_the_driver();
    unit.kernel(FillWords::host(), FillWords::kName);
  }
  // What nvcc writes for the body of a kernel's host side.
  static cudaError_t host_side(void* memory, std::uint32_t value) {
    dim3 grid;
    dim3 block;
    std::size_t shared = 0;
    cudaStream_t stream = nullptr;
    const cudaError_t popped = __cudaPopCallConfiguration(&grid, &block, &shared, &stream);
    if (popped != cudaSuccess) return popped;
    FillArguments arguments(memory, 4, value);
    return cudaLaunchKernel(FillWords::host(), grid, block, arguments.all, shared, stream);
  }

  RegisteredUnit unit;
};

TEST_F(RegistrationTest, AConfigurationReachesItsLaunch) {
  void* const memory = allocate(16);
  const cudaStream_t own = stream();
  ASSERT_EQ(__cudaPushCallConfiguration(dim3(2, 3), dim3(4), 256, own), 0U);
  FERRY_RT_OK(host_side(memory, 6));
  FERRY_RT_OK(cudaStreamSynchronize(own));
  EXPECT_EQ(word(memory), 6U);
  EXPECT_EQ(FillWords::newest.grid[0], 2U);
  EXPECT_EQ(FillWords::newest.grid[1], 3U);
  EXPECT_EQ(FillWords::newest.block[0], 4U);
  EXPECT_EQ(FillWords::newest.dynamic_shared_bytes, 256U);
}

TEST_F(RegistrationTest, TheNewestConfigurationComesFirst) {
  const cudaStream_t own = stream();
  ASSERT_EQ(__cudaPushCallConfiguration(dim3(1), dim3(1), 1, nullptr), 0U);
  ASSERT_EQ(__cudaPushCallConfiguration(dim3(2), dim3(2), 2, own), 0U);
  dim3 grid;
  dim3 block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
  FERRY_RT_OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  EXPECT_EQ(shared, 2U);
  EXPECT_EQ(grid.x, 2U);
  EXPECT_EQ(stream, own);
  FERRY_RT_OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  EXPECT_EQ(shared, 1U);
  EXPECT_EQ(stream, nullptr);
}

TEST_F(RegistrationTest, ConfigurationsAreTheThreadsOwn) {
  ASSERT_EQ(__cudaPushCallConfiguration(dim3(1), dim3(1), 0, nullptr), 0U);
  elsewhere([] { EXPECT_EQ(host_side(nullptr, 1), cudaErrorMissingConfiguration); });
  void* const memory = allocate(16);
  FERRY_RT_OK(host_side(memory, 2));
  EXPECT_EQ(host_side(memory, 3), cudaErrorMissingConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMissingConfiguration);
}

TEST_F(RegistrationTest, ALaunchByTheKernelItself) {
  void* const memory = allocate(16);
  cudaKernel_t kernel = nullptr;
  FERRY_RT_OK(__cudaGetKernel(&kernel, FillWords::host()));
  FillArguments arguments(memory, 4, 4);
  FERRY_RT_OK(__cudaLaunchKernel(kernel, dim3(1), dim3(4), arguments.all, 0, nullptr));
  EXPECT_EQ(word(memory), 4U);
  int stranger = 0;
  EXPECT_EQ(__cudaGetKernel(&kernel, &stranger), cudaErrorInvalidDeviceFunction);
}

TEST_F(RegistrationTest, AProgramMayRegisterBeforeThereIsADevice) {
  reset("devices=0");
  std::uint32_t shadow = 0;
  {
    RegisteredUnit early;
    early.variable(&shadow, "early", sizeof shadow);
    void** const handle = __cudaRegisterFatBinary(nullptr);
    ASSERT_NE(handle, nullptr);
    EXPECT_NE(__cudaInitModule(handle), 0);
    __cudaRegisterFatBinaryEnd(handle);
    __cudaUnregisterFatBinary(handle);
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
}  // namespace ferry::sim::runtime_test
