// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> found;
  std::ifstream file(FERRY_RUNTIME_NAMES);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') found.push_back(line);
  }
  return found;
}

TEST(RuntimeStubs, EveryNameIsExportedWithItsVersion) {
  void* const library = dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(names().size(), 452U);
  for (const std::string& name : names())
    EXPECT_NE(dlvsym(library, name.c_str(), "libcudart.so.13"), nullptr) << name;
}

TEST_F(RuntimeTest, WhatIsNotThereSaysSoOnce) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaFreeArray(nullptr), cudaErrorNotSupported);
  EXPECT_EQ(cudaFreeArray(nullptr), cudaErrorNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ferry-sim: cudaFreeArray is not supported by the stand-in\n");
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

}  // namespace
}  // namespace ferry::sim::runtime
