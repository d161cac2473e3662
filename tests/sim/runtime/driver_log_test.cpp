// SPDX-License-Identifier: Apache-2.0
#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime_test {
namespace {

class RuntimeDriverLogTest : public RuntimeTest {};

TEST_F(RuntimeDriverLogTest, IsTheDrivers) {
  std::string received;
  cudaLogsCallbackHandle handle = nullptr;
  FERRY_RT_OK(cudaLogsRegisterCallback(
      [](void* data, cudaLogLevel level, char* message, std::size_t length) {
        EXPECT_EQ(level, cudaLogLevelError);
        static_cast<std::string*>(data)->assign(message, length);
      },
      &received, &handle));
  cudaLogIterator before = 0;
  FERRY_RT_OK(cudaLogsCurrent(&before, 0));
  EXPECT_EQ(cuGraphicsUnregisterResource(nullptr), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(received, "cuGraphicsUnregisterResource is not supported by the stand-in");
  std::string text(200, 'x');
  std::size_t size = text.size();
  cudaLogIterator at = before;
  FERRY_RT_OK(cudaLogsDumpToMemory(&at, text.data(), &size, 0));
  EXPECT_EQ(text.substr(0, size), received + "\n");
  EXPECT_EQ(at, before + 1);
  FERRY_RT_OK(cudaLogsUnregisterCallback(handle));
  EXPECT_EQ(cudaLogsUnregisterCallback(handle), cudaErrorInvalidValue);
  EXPECT_EQ(cudaLogsDumpToFile(nullptr, "/nowhere/at/all", 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace ferry::sim::runtime_test
