// SPDX-License-Identifier: Apache-2.0
// Modules, functions and launches, with a kernel that does nothing: PTX that any driver compiles.
#include <cstring>
#include <string>

#include "conformance/fixture.hpp"

namespace ferry::conformance {
namespace {

constexpr const char* kPtx =
    ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry nothing()\n{\n  ret;\n}\n";

class Module : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    FERRY_OK(cuda().cuModuleLoadData(&module, kPtx));
    FERRY_OK(cuda().cuModuleGetFunction(&nothing, module, "nothing"));
  }
  void TearDown() override {
    EXPECT_EQ(cuda().cuModuleUnload(module), CUDA_SUCCESS);
    WithContext::TearDown();
  }
  CUresult launch(unsigned grid, unsigned block, unsigned shared = 0) {
    return cuda().cuLaunchKernel(nothing, grid, 1, 1, block, 1, 1, shared, nullptr, nullptr,
                                 nullptr);
  }

  CUmodule module = nullptr;
  CUfunction nothing = nullptr;
};

TEST_F(Module, ANameThatIsNotInItIsNotFound) {
  CUfunction other = nullptr;
  EXPECT_EQ(cuda().cuModuleGetFunction(&other, module, "something"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(Module, AFunctionKnowsItsModuleAndName) {
  CUmodule owner = nullptr;
  FERRY_OK(cuda().cuFuncGetModule(&owner, nothing));
  EXPECT_EQ(owner, module);
  const char* name = nullptr;
  FERRY_OK(cuda().cuFuncGetName(&name, nothing));
  EXPECT_STREQ(name, "nothing");
  CUfunction again = nullptr;
  FERRY_OK(cuda().cuModuleGetFunction(&again, module, "nothing"));
  EXPECT_EQ(again, nothing);
}

TEST_F(Module, WhatIsNoImageIsRefused) {
  CUmodule other = nullptr;
  EXPECT_EQ(cuda().cuModuleLoad(&other, "/nonexistent.cubin"), CUDA_ERROR_FILE_NOT_FOUND);
  const char zeros[256] = {};
  EXPECT_EQ(cuda().cuModuleLoadData(&other, zeros), CUDA_ERROR_INVALID_IMAGE);
}

TEST_F(Module, TextThatIsNoPtxIsRefusedAndItsPlaceIsLogged) {
  const std::string head = ".version 7.0\n.target sm_50\n.address_size 64\n";
  for (const char* const rest :
       {".visible .global .u32 x[2] = {1, 2, 3};\n", ".visible .global .u32 x[0];\n",
        ".visible .global .u32 x", ".visible .entry k()\n{\n  ret;\n"}) {
    char log[512] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    const std::string text = head + rest;
    CUmodule other = nullptr;
    EXPECT_EQ(cuda().cuModuleLoadDataEx(&other, text.c_str(), 2, options, values),
              CUDA_ERROR_INVALID_PTX)
        << rest;
    EXPECT_NE(std::strstr(log, "line "), nullptr) << log;
    EXPECT_NE(values[1], nullptr) << "its size";
  }
}

TEST_F(Module, LogsOfTheCompilerEnd) {
  char info[64];
  char error[64];
  std::memset(info, 'x', sizeof info);
  std::memset(error, 'x', sizeof error);
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  const auto size = reinterpret_cast<void*>(sizeof info);
  void* values[] = {info, size, error, size};
  CUmodule logged = nullptr;
  FERRY_OK(cuda().cuModuleLoadDataEx(&logged, kPtx, 4, options, values));
  const auto written = [&](int option) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[option]));
  };
  EXPECT_NE(std::memchr(info, 0, sizeof info), nullptr);
  EXPECT_NE(std::memchr(error, 0, sizeof error), nullptr);
  EXPECT_LE(written(1), sizeof info);
  EXPECT_EQ(written(3), 0U) << error;
  FERRY_OK(cuda().cuModuleUnload(logged));
}

TEST_F(Module, ShapesBeyondTheLimitsAreRefused) {
  EXPECT_EQ(launch(0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 2048), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 32, 1U << 20), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Module, AnAttributeThatIsNotToBeSetIsRefused) {
  EXPECT_EQ(cuda().cuFuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_NUM_REGS, 8),
            CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace ferry::conformance
