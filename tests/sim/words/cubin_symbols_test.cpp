// SPDX-License-Identifier: Apache-2.0
#include "sim/words/cubin_symbols.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "sim/words/made_cubin.hpp"

namespace ferry::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ImageBytes bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string initial_of(const ImageVariable& variable) {
  return {reinterpret_cast<const char*>(variable.initial.data()), variable.initial.size()};
}

TEST(CubinSymbols, KernelsAreTheFunctionsThatAreMarkedAsEntries) {
  const std::string file = MadeCubin().file();
  const auto symbols = read_cubin_symbols(bytes_of(file));
  ASSERT_TRUE(symbols);
  EXPECT_THAT(symbols->kernels, ElementsAre("scale"));
}

class CubinVariables : public testing::TestWithParam<bool> {};

TEST_P(CubinVariables, HaveSizesAndFirstBytes) {
  const std::string file = MadeCubin(GetParam()).file();
  const auto symbols = read_cubin_symbols(bytes_of(file));
  ASSERT_TRUE(symbols);
  ASSERT_EQ(symbols->variables.size(), 4U)
      << "what lies beyond its section, elsewhere or in shared memory is none";
  EXPECT_EQ(symbols->find_variable("plain")->bytes, 8U);
  EXPECT_THAT(symbols->find_variable("plain")->initial, IsEmpty());
  EXPECT_EQ(initial_of(*symbols->find_variable("begun")), "\1\2\3\4");
  EXPECT_FALSE(symbols->find_variable("begun")->managed);
  EXPECT_EQ(initial_of(*symbols->find_variable("fixed")), "\5\6");
  EXPECT_EQ(initial_of(*symbols->find_variable("everywhere")), std::string("\7\0\0\0", 4));
  EXPECT_TRUE(symbols->find_variable("everywhere")->managed);
}

INSTANTIATE_TEST_SUITE_P(LinkedOrNot, CubinVariables, testing::Bool());

TEST(CubinSymbols, WhatIsNoneIsNone) {
  EXPECT_FALSE(read_cubin_symbols({}));
  EXPECT_FALSE(read_cubin_symbols(bytes_of(std::string(100, 'x'))));
  EXPECT_FALSE(
      read_cubin_symbols(bytes_of("\x7f"
                                  "ELF" +
                                  std::string(60, '\0'))))
      << "without a table";
}

// Whatever stands in the file, nothing beyond it is read (the sanitizers tell).
TEST(CubinSymbols, DamagedFilesAreRead) {
  const std::string whole = MadeCubin().file();
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string file = whole.substr(0, round % 3 == 0 ? random() % whole.size() : whole.size());
    for (int i = 0; i < 4 && !file.empty(); ++i)
      file[random() % file.size()] = static_cast<char>(random());
    const std::vector<char> exact(file.begin(), file.end());
    const auto symbols = read_cubin_symbols(std::as_bytes(std::span(exact)));
    if (!symbols) continue;
    for (const ImageVariable& variable : symbols->variables)
      EXPECT_LE(variable.initial.size(), file.size());
  }
}

}  // namespace
}  // namespace ferry::sim
