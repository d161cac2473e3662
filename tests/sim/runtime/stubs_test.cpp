// SPDX-License-Identifier: Apache-2.0
// The library's file: every function of the runtime is exported with its version, and those that
// the stand-in does not have say so.
#include <elf.h>
#include <link.h>

#include <fstream>
#include <map>

#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime_test {
namespace {

// By name, from src/abi/runtime_names.txt.
std::vector<std::string> names() {
  std::ifstream file(FERRY_RUNTIME_NAMES);
  std::vector<std::string> found;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.front() != '#') found.push_back(line);
  }
  return found;
}

void* exported(const std::string& name) {
  return dlvsym(RTLD_DEFAULT, name.c_str(), "libcudart.so.13");
}

// The list beside the library: "implemented" or "stub", by name.
std::map<std::string, std::string> manifest() {
  Dl_info where{};
  EXPECT_NE(dladdr(exported("cudaMalloc"), &where), 0);
  std::string folder(where.dli_fname);
  folder.erase(folder.rfind('/'));
  std::ifstream file(folder + "/runtime_capabilities.txt");
  std::map<std::string, std::string> found;
  for (std::string line; std::getline(file, line);) {
    const std::size_t space = line.find(' ');
    if (!line.starts_with('#')) found.emplace(line.substr(0, space), line.substr(space + 1));
  }
  return found;
}

// A stub gives way to a function that is written: it is weak.
bool is_stub(void* function) {
  Dl_info where{};
  void* extra = nullptr;
  EXPECT_NE(dladdr1(function, &where, &extra, RTLD_DL_SYMENT), 0);
  const auto* const symbol = static_cast<const ElfW(Sym)*>(extra);
  return symbol != nullptr && ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
}

using RuntimeStubsTest = RuntimeTest;

TEST_F(RuntimeStubsTest, EveryNameIsExportedWithItsVersion) {
  EXPECT_GT(names().size(), 400U);
  for (const std::string& name : names()) {
    void* const function = exported(name);
    ASSERT_NE(function, nullptr) << name;
    Dl_info where{};
    ASSERT_NE(dladdr(function, &where), 0);
    EXPECT_NE(std::string(where.dli_fname).find("libcudart.so.13"), std::string::npos) << name;
  }
}

TEST_F(RuntimeStubsTest, AStubSaysSoOnce) {
  const auto stub = reinterpret_cast<cudaError_t (*)()>(exported("cudaCreateSurfaceObject"));
  ASSERT_NE(stub, nullptr);
  ASSERT_TRUE(is_stub(reinterpret_cast<void*>(stub)));
  testing::internal::CaptureStderr();
  EXPECT_EQ(stub(), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
  EXPECT_EQ(stub(), cudaErrorNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ferry-sim: cudaCreateSurfaceObject is not supported by the stand-in\n");
}

TEST_F(RuntimeStubsTest, EveryStubRefuses) {
  testing::internal::CaptureStderr();
  int stubs = 0;
  for (const std::string& name : names()) {
    void* const function = exported(name);
    if (function == nullptr || !is_stub(function)) continue;
    ++stubs;
    EXPECT_EQ(reinterpret_cast<cudaError_t (*)()>(function)(), cudaErrorNotSupported) << name;
  }
  testing::internal::GetCapturedStderr();
  EXPECT_GT(stubs, 0);
}

TEST_F(RuntimeStubsTest, WhatProgramsStandOnIsNoStub) {
  for (const char* name : {"cudaMalloc", "cudaMemcpyAsync", "cudaLaunchKernel",
                           "cudaStreamGetCaptureInfo", "__cudaRegisterFatBinary"})
    EXPECT_FALSE(is_stub(exported(name))) << name;
}

TEST_F(RuntimeStubsTest, TheListTellsWhatIsThere) {
  const auto listed = manifest();
  EXPECT_EQ(listed.size(), names().size());
  for (const std::string& name : names()) {
    ASSERT_TRUE(listed.contains(name)) << name;
    EXPECT_EQ(listed.at(name), is_stub(exported(name)) ? "stub" : "implemented") << name;
  }
}

// What programs with a default stream for each thread call is there where the usual one is.
TEST_F(RuntimeStubsTest, EveryFunctionHasItsVariantForThreads) {
  int variants = 0;
  for (const std::string& name : names()) {
    if (!name.ends_with("_ptsz") && !name.ends_with("_ptds")) continue;
    void* const usual = exported(name.substr(0, name.size() - 5));
    if (usual == nullptr) continue;
    ++variants;
    EXPECT_EQ(is_stub(exported(name)), is_stub(usual)) << name;
  }
  EXPECT_GT(variants, 50);
}

}  // namespace
}  // namespace ferry::sim::runtime_test
