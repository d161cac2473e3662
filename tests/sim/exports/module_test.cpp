// SPDX-License-Identifier: Apache-2.0
// Files and images as the stand-in takes them; what cuda.h says of modules is judged by the
// conformance suite.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

constexpr const char* kPtx = ".version 7.0\n.target sm_50\n.visible .entry scale() { ret; }\n";

struct ExportsModuleTest : SimTest {
  std::string file(const std::string& content) {
    const std::string path = testing::TempDir() + fmt::format("module-{}.ptx", getpid());
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
};

TEST_F(ExportsModuleTest, AFileIsLoaded) {
  const std::string path = file(kPtx);
  CUmodule module = nullptr;
  FERRY_OK(cuModuleLoad(&module, path.c_str()));
  std::remove(path.c_str());
  CUfunction function = nullptr;
  FERRY_OK(cuModuleGetFunction(&function, module, "scale"));
  EXPECT_EQ(cuModuleGetFunction(&function, module, "scal"), CUDA_ERROR_NOT_FOUND);
  FERRY_OK(cuModuleUnload(module));
}

TEST_F(ExportsModuleTest, ABadFileIsRefused) {
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoad(&module, "/nonexistent.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_EQ(cuModuleLoad(&module, "/"), CUDA_ERROR_FILE_NOT_FOUND);
  for (const std::string& content :
       {std::string(), std::string("text"), std::string("\x50\xed\x55\xba\x01\0\x10\0", 8),
        std::string("\x7f"
                    "ELF") +
            std::string(60, '\xff')}) {
    const std::string path = file(content);
    EXPECT_EQ(cuModuleLoad(&module, path.c_str()), CUDA_ERROR_INVALID_IMAGE) << content.size();
    std::remove(path.c_str());
  }
}

TEST_F(ExportsModuleTest, AFileOfTextThatEndsEarlyIsRefused) {
  CUmodule module = nullptr;
  const std::string path = file(".version 7.0\n.target sm_50\n.entry k()\n{ ret;\n");
  EXPECT_EQ(cuModuleLoad(&module, path.c_str()), CUDA_ERROR_INVALID_PTX);
  std::remove(path.c_str());
}

TEST_F(ExportsModuleTest, AModuleGoesWithItsContext) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  FERRY_OK(cuModuleLoadData(&module, kPtx));
  FERRY_OK(cuModuleGetFunction(&function, module, "scale"));
  CUdevice device = 0;
  FERRY_OK(cuCtxGetDevice(&device));
  FERRY_OK(cuDevicePrimaryCtxReset_v2(device));
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_NONE), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace
}  // namespace ferry::sim
