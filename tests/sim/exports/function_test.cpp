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
  CUfunction function = nullptr;
};

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

}  // namespace
}  // namespace ferry::sim
