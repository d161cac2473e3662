// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

struct ExportsFunctionTest : SimTest {
  void SetUp() override {
    SimTest::SetUp();
    CUmodule module = nullptr;
    FERRY_OK(cuModuleLoadData(&module, ".version 7.0\n.entry scale() { ret; }\n"));
    FERRY_OK(cuModuleGetFunction(&function, module, "scale"));
  }
  int attribute(CUfunction_attribute which) {
    int value = -7;
    EXPECT_EQ(cuFuncGetAttribute(&value, which, function), CUDA_SUCCESS);
    return value;
  }
  int blocks(int threads, std::size_t shared) {
    int count = -1;
    EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, function, threads, shared),
              CUDA_SUCCESS);
    return count;
  }
  static int multiprocessors() {
    int count = 0;
    EXPECT_EQ(cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0),
              CUDA_SUCCESS);
    return count;
  }

  CUfunction function = nullptr;
  int grid = 0;
  int block = 0;
};

constexpr std::size_t kScaleSizes[] = {1, 8};
std::size_t touch_nothing(const ferry_sim_launch*, const void* const*, ferry_sim_range*,
                          std::size_t) {
  return 0;
}
void run_nothing(const ferry_sim_launch*, const void* const*, void* const*) {}

TEST_F(ExportsFunctionTest, AttributesAreThoseOfTheDevice) {
  EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
  EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 0);
  int value = 0;
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, function), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, function),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsFunctionTest, SharedMemoryBeyondTheDefaultMustBeAskedFor) {
  constexpr auto kShared = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  EXPECT_EQ(attribute(kShared), 49152);
  FERRY_OK(cuFuncSetAttribute(function, kShared, 100'000));
  EXPECT_EQ(attribute(kShared), 100'000);
  EXPECT_EQ(cuFuncSetAttribute(function, kShared, 232'449), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 1), CUDA_ERROR_INVALID_VALUE);
  FERRY_OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100));
  EXPECT_EQ(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsFunctionTest, OccupancyFollowsThreadsThenSharedMemoryThenBlocks) {
  EXPECT_EQ(blocks(1024, 0), 2);
  EXPECT_EQ(blocks(32, 0), 32) << "never more than the device has room for";
  EXPECT_EQ(blocks(256, 49'152), 4) << "of 233472 bytes, each with the 1024 that are reserved";
  EXPECT_EQ(blocks(1025, 0), 0);
  int count = 0;
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, function, 0, 0),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsFunctionTest, BlocksTakeWholeWarps) {
  EXPECT_EQ(blocks(100, 0), 16) << "as if they were of 128";
  EXPECT_EQ(blocks(128, 0), 16);
}

TEST_F(ExportsFunctionTest, TheBestBlockIsTheLargestOfThoseThatFillMost) {
  FERRY_OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, nullptr, 0, 0));
  EXPECT_EQ(block, 1024);
  EXPECT_EQ(grid, 2 * multiprocessors());
  FERRY_OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, nullptr, 0, 100));
  EXPECT_EQ(block, 64) << "32 blocks of 64 are more threads than 16 of 100 or 21 of 96";
  EXPECT_EQ(grid, 32 * multiprocessors());
  const auto by_threads = [](int threads) { return static_cast<std::size_t>(threads) * 200; };
  FERRY_OK(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, function, by_threads, 0, 0,
                                                     CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE));
  EXPECT_EQ(block, 576) << "two of 116224 bytes fit into 233472";
  EXPECT_EQ(grid, 2 * multiprocessors());
  EXPECT_EQ(cuOccupancyMaxPotentialBlockSize(nullptr, &block, function, nullptr, 0, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, function, nullptr, 0, 0, 2),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsFunctionTest, BlocksShareTheSharedMemory) {
  std::size_t bytes = 0;
  FERRY_OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 8, 256));
  EXPECT_EQ(bytes, 233'472U / 8 - 1024);
  FERRY_OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 1, 256));
  EXPECT_EQ(bytes, 49'152U) << "as much as the function may have";
  EXPECT_EQ(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 9, 256),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsFunctionTest, ParametersAreThoseOfTheRegisteredCode) {
  std::size_t offset = 9;
  std::size_t size = 9;
  EXPECT_EQ(cuFuncGetParamInfo(function, 0, &offset, &size), CUDA_ERROR_NOT_SUPPORTED);
  const ferry_sim_kernel kernel{"scale", 2, kScaleSizes, touch_nothing, run_nothing, nullptr};
  ASSERT_EQ(ferry_sim_register_kernel(&kernel), 0);
  FERRY_OK(cuFuncGetParamInfo(function, 1, &offset, &size));
  EXPECT_EQ(offset, 8U);
  EXPECT_EQ(size, 8U);
  FERRY_OK(cuFuncGetParamInfo(function, 0, &offset, nullptr));
  EXPECT_EQ(offset, 0U);
  EXPECT_EQ(cuFuncGetParamInfo(function, 2, &offset, &size), CUDA_ERROR_INVALID_VALUE);
  CUlibrary library = nullptr;
  CUkernel same = nullptr;
  FERRY_OK(cuLibraryLoadData(&library, ".version 7.0\n.entry scale() { ret; }\n", nullptr, nullptr,
                             0, nullptr, nullptr, 0));
  FERRY_OK(cuLibraryGetKernel(&same, library, "scale"));
  FERRY_OK(cuKernelGetParamInfo(same, 1, &offset, &size));
  EXPECT_EQ(offset, 8U);
}

}  // namespace
}  // namespace ferry::sim
