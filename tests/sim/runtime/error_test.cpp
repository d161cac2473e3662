// SPDX-License-Identifier: Apache-2.0
// The names and texts of errors, compared with the runtime's own header.
#include <fstream>
#include <map>
#include <regex>

#include "sim/runtime/runtime_fixture.hpp"

namespace ferry::sim::runtime_test {
namespace {

// The enumerators of cudaError, by the text of driver_types.h.
std::map<std::string, int> errors_of_the_header() {
  std::ifstream file(FERRY_CUDA_HEADERS "/driver_types.h");
  std::map<std::string, int> found;
  bool inside = false;
  const std::regex row(R"(^\s*(cuda(?:Success|Error\w+))\s*=\s*(\d+))");
  for (std::string line; std::getline(file, line);) {
    inside = (inside || line.find("enum __device_builtin__ cudaError") != std::string::npos) &&
             line.find("};") == std::string::npos;
    std::smatch match;
    if (inside && std::regex_search(line, match, row)) found[match[1]] = std::stoi(match[2]);
  }
  return found;
}

TEST(ErrorTest, EveryErrorOfTheHeaderHasItsName) {
  const auto errors = errors_of_the_header();
  ASSERT_GT(errors.size(), 100U);
  for (const auto& [name, number] : errors)
    EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(number)), name.c_str()) << number;
}

TEST(ErrorTest, EveryErrorOfTheHeaderHasItsText) {
  for (const auto& [name, number] : errors_of_the_header()) {
    const std::string text = cudaGetErrorString(static_cast<cudaError_t>(number));
    EXPECT_NE(text, "unrecognized error code") << name;
    EXPECT_NE(text, "") << name;
  }
}

TEST(ErrorTest, ACodeThatIsNoneSaysSo) {
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST(ErrorTest, TextsThatProgramsPrint) {
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
}

TEST(ErrorTest, AskingForTextsLeavesTheLastError) {
  EXPECT_EQ(cudaGetDevice(nullptr), cudaErrorInvalidValue);
  cudaGetErrorName(cudaErrorNotReady);
  cudaGetErrorString(static_cast<cudaError_t>(12345));
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace ferry::sim::runtime_test
