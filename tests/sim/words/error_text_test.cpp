// SPDX-License-Identifier: Apache-2.0
#include "sim/words/error_text.hpp"

#include <cuda.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <string>

namespace ferry::sim {
namespace {

// The enumerators of CUresult, from the header itself.
std::set<std::pair<std::string, int>> results_of_header() {
  std::ifstream header(FERRY_CUDA_HEADERS "/cuda.h");
  EXPECT_TRUE(header) << FERRY_CUDA_HEADERS "/cuda.h";
  std::set<std::pair<std::string, int>> results;
  const std::regex enumerator(R"(^\s+(CUDA_[A-Z0-9_]+)\s*=\s*(\d+))");
  bool inside = false;
  for (std::string line; std::getline(header, line);) {
    if (line.find("typedef enum cudaError_enum") != std::string::npos) inside = true;
    if (inside && line.find("} CUresult;") != std::string::npos) break;
    std::smatch match;
    if (inside && std::regex_search(line, match, enumerator))
      results.emplace(match[1], std::stoi(match[2]));
  }
  return results;
}

TEST(ErrorText, EveryResultOfTheHeaderHasItsNameAndAPhrase) {
  const auto results = results_of_header();
  ASSERT_GT(results.size(), 90U);
  for (const auto& [name, value] : results) {
    const ErrorText* const text = error_text(value);
    if (text == nullptr && CUDA_VERSION > 13000)
      continue;  // younger than the driver that is stood in for
    ASSERT_NE(text, nullptr) << name;
    EXPECT_EQ(text->name, name);
    EXPECT_FALSE(std::string(text->phrase).empty()) << name;
    EXPECT_EQ(result_by_name(name), value);
  }
}

TEST(ErrorText, UnknownResultsHaveNone) {
  EXPECT_EQ(error_text(12345), nullptr);
  EXPECT_FALSE(is_result(-1));
  EXPECT_TRUE(is_result(700));
  EXPECT_EQ(result_by_name("CUDA_ERROR_NO_SUCH_THING"), std::nullopt);
}

}  // namespace
}  // namespace ferry::sim
