// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

constexpr const char* kPtx = ".version 7.0\n.target sm_50\n.visible .entry ferry_fill() { ret; }\n";

struct Fill {
  CUdeviceptr to;
  std::uint64_t count;
  std::uint32_t value;
};

struct ExportsLibraryTest : SimTest {
  void SetUp() override {
    SimTest::SetUp();
    FERRY_OK(cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  }
  CUlibrary library = nullptr;
};

TEST_F(ExportsLibraryTest, AKernelIsLaunchedInWhicheverContextIsCurrent) {
  CUkernel kernel = nullptr;
  FERRY_OK(cuLibraryGetKernel(&kernel, library, "ferry_fill"));
  CUcontext other = nullptr;
  FERRY_OK(cuCtxCreate_v2(&other, 0, 0));
  for (const std::uint32_t value : {3U, 4U}) {
    const CUdeviceptr memory = allocate(16);
    Fill fill{memory, 4, value};
    void* arguments[] = {&fill};
    FERRY_OK(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 4, 1, 1, 0, nullptr,
                            arguments, nullptr));
    FERRY_OK(cuCtxSynchronize());
    EXPECT_EQ(peek(memory + 12), value);
    FERRY_OK(cuCtxSetCurrent(context));
  }
  FERRY_OK(cuLibraryUnload(library));
  EXPECT_EQ(cuLibraryGetKernel(&kernel, library, "ferry_fill"), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ExportsLibraryTest, LogsOfTheCompilerEnd) {
  char info[8] = "xxxxxxx";
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {info, reinterpret_cast<void*>(sizeof info)};
  CUlibrary logged = nullptr;
  FERRY_OK(cuLibraryLoadData(&logged, kPtx, options, values, 2, nullptr, nullptr, 0));
  EXPECT_STREQ(info, "");
  EXPECT_EQ(values[1], nullptr);
  EXPECT_EQ(cuLibraryLoadData(&logged, kPtx, nullptr, values, 2, nullptr, nullptr, 0),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsLibraryTest, TextWithAFaultIsRefusedAndItsPlaceIsLogged) {
  char log[64] = "x";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUlibrary other = nullptr;
  EXPECT_EQ(cuLibraryLoadData(&other, ".version 7.0\n.target sm_50\n.global .u8 x[0];\n", options,
                              values, 2, nullptr, nullptr, 0),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_STREQ(log, "line 3: a size that is no number above 0");
  EXPECT_EQ(values[1], reinterpret_cast<void*>(std::strlen(log)));
  EXPECT_EQ(other, nullptr);
}

TEST_F(ExportsLibraryTest, BadRequestsAreRefused) {
  CUlibrary other = nullptr;
  EXPECT_EQ(cuLibraryLoadFromFile(&other, "/nonexistent", nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_EQ(cuLibraryLoadData(&other, "text", nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(cuLibraryLoadData(&other, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 1),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLibraryUnload(nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace ferry::sim
