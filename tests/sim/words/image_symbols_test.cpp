// SPDX-License-Identifier: Apache-2.0
#include "sim/words/image_symbols.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/words/made_cubin.hpp"

namespace ferry::sim {
namespace {

using ::testing::ElementsAre;

constexpr const char* kPtx = ".version 7.0\n.target sm_50\n.entry shift() { ret; }\n";

std::optional<ImageSymbols> read(const std::string& file) {
  return read_symbols(std::as_bytes(std::span(file)));
}

TEST(ImageSymbols, TextAndCubinsAreRead) {
  EXPECT_THAT(read(kPtx)->kernels, ElementsAre("shift"));
  EXPECT_THAT(read(MadeCubin().file())->kernels, ElementsAre("scale"));
}

TEST(ImageSymbols, AFatbinIsItsFirstPartThatCanBeRead) {
  const std::string compressed = "\x28\xb5\x2f\xfd nobody knows";
  EXPECT_THAT(read(made_fatbin({compressed, kPtx, MadeCubin().file()}))->kernels,
              ElementsAre("shift"))
      << "text that is filled up with zeros";
  EXPECT_THAT(read(made_fatbin({MadeCubin().file(), kPtx}))->kernels, ElementsAre("scale"));
  EXPECT_FALSE(read(made_fatbin({compressed})));
  EXPECT_FALSE(read(made_fatbin({})));
}

TEST(ImageSymbols, NamesAreFoundWhole) {
  const ImageSymbols symbols = *read(MadeCubin().file());
  EXPECT_TRUE(symbols.has_kernel("scale"));
  EXPECT_FALSE(symbols.has_kernel("scal"));
  EXPECT_FALSE(symbols.has_kernel("helper"));
  EXPECT_EQ(symbols.find_variable("plain")->name, "plain");
  EXPECT_EQ(symbols.find_variable("scale"), nullptr);
}

}  // namespace
}  // namespace ferry::sim
