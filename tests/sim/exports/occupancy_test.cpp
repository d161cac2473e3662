// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

struct ExportsOccupancyTest : SimTest {
  void SetUp() override {
    SimTest::SetUp();
    CUmodule module = nullptr;
    FERRY_OK(cuModuleLoadData(&module, ".version 7.0\n.entry scale() { ret; }\n"));
    FERRY_OK(cuModuleGetFunction(&function, module, "scale"));
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

  static CUlaunchConfig launch(CUlaunchAttribute* attribute = nullptr) {
    CUlaunchConfig config{};
    config.gridDimX = 64;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 1024;
    config.blockDimY = config.blockDimZ = 1;
    config.attrs = attribute;
    config.numAttrs = attribute == nullptr ? 0 : 1;
    return config;
  }
  static CUlaunchAttribute cluster_of(unsigned blocks) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {blocks, 1, 1};
    return attribute;
  }

  CUfunction function = nullptr;
  int grid = 0;
  int block = 0;
};

TEST_F(ExportsOccupancyTest, OccupancyFollowsThreadsThenSharedMemoryThenBlocks) {
  EXPECT_EQ(blocks(1024, 0), 2);
  EXPECT_EQ(blocks(32, 0), 32) << "never more than the device has room for";
  EXPECT_EQ(blocks(256, 49'152), 4) << "of 233472 bytes, each with the 1024 that are reserved";
  EXPECT_EQ(blocks(1025, 0), 0);
  int count = 0;
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, function, 0, 0),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsOccupancyTest, BlocksTakeWholeWarps) {
  EXPECT_EQ(blocks(100, 0), 16) << "as if they were of 128";
  EXPECT_EQ(blocks(128, 0), 16);
}

TEST_F(ExportsOccupancyTest, TheBestBlockIsTheLargestOfThoseThatFillMost) {
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

TEST_F(ExportsOccupancyTest, BlocksShareTheSharedMemory) {
  std::size_t bytes = 0;
  FERRY_OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 8, 256));
  EXPECT_EQ(bytes, 233'472U / 8 - 1024);
  FERRY_OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 1, 256));
  EXPECT_EQ(bytes, 49'152U) << "as much as the function may have";
  EXPECT_EQ(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 9, 256),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsOccupancyTest, ClustersShareTheDevice) {
  int count = -1;
  CUlaunchAttribute four = cluster_of(4);
  const CUlaunchConfig config = launch(&four);
  FERRY_OK(cuOccupancyMaxActiveClusters(&count, function, &config));
  EXPECT_EQ(count, 2 * multiprocessors() / 4) << "two blocks of 1024 threads fit each";
  const CUlaunchConfig none = launch();
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&count, function, &none), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  for (const CUfunction_attribute side :
       {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH}) {
    FERRY_OK(cuFuncSetAttribute(function, side,
                                side == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH ? 2 : 1));
  }
  FERRY_OK(cuOccupancyMaxActiveClusters(&count, function, &none));
  EXPECT_EQ(count, multiprocessors()) << "as the function says";
  FERRY_OK(cuOccupancyMaxPotentialClusterSize(&count, function, &none));
  EXPECT_EQ(count, 2);
}

TEST_F(ExportsOccupancyTest, LargeClustersMustBeAllowed) {
  int count = -1;
  CUlaunchAttribute sixteen = cluster_of(16);
  const CUlaunchConfig config = launch(&sixteen);
  FERRY_OK(cuOccupancyMaxPotentialClusterSize(&count, function, &config));
  EXPECT_EQ(count, 8);
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&count, function, &config),
            CUDA_ERROR_INVALID_CLUSTER_SIZE);
  FERRY_OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  FERRY_OK(cuOccupancyMaxPotentialClusterSize(&count, function, &config));
  EXPECT_EQ(count, 16);
  FERRY_OK(cuOccupancyMaxActiveClusters(&count, function, &config));
  EXPECT_EQ(count, 2 * multiprocessors() / 16);
}

TEST_F(ExportsOccupancyTest, OlderDevicesHaveNoClusters) {
  restart("profile=a100-pcie4");
  CUmodule module = nullptr;
  FERRY_OK(cuModuleLoadData(&module, ".version 7.0\n.entry scale() { ret; }\n"));
  FERRY_OK(cuModuleGetFunction(&function, module, "scale"));
  int count = -1;
  const CUlaunchConfig config = launch();
  EXPECT_EQ(cuOccupancyMaxPotentialClusterSize(&count, function, &config),
            CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace ferry::sim
