// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/modules.hpp"

#include <gtest/gtest.h>

#include "sim/machine/machine.hpp"

namespace ferry::sim {
namespace {

struct ModulesTest : ::testing::Test {
  static ImageBytes image() {
    static const std::string text = ".version 7.0\n.entry scale() {}\n.entry shift() {}\n";
    return std::as_bytes(std::span(text));
  }
  static Settings settings() {
    Settings settings;
    settings.capacity = Bytes{1 << 20};
    return settings;
  }
  std::uint64_t add_library() {
    LibraryEntry entry;
    entry.image = std::make_shared<const LoadedImage>(image());
    return machine.libraries.add(std::move(entry));
  }

  HazardLog log;
  Machine machine{settings(), {0}, log};
};

TEST_F(ModulesTest, AFunctionIsTheSameEachTime) {
  const std::uint64_t module = add_module(machine, 5, keep_image(image()));
  const auto scale = function_of(machine, module, "scale");
  ASSERT_TRUE(scale);
  EXPECT_EQ(function_of(machine, module, "scale"), scale);
  EXPECT_NE(function_of(machine, module, "shift"), scale);
  EXPECT_EQ(function_of(machine, module, "sca"), std::nullopt);
  const FunctionEntry* const entry = find_function(machine, 5, *scale);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->context, 5U);
  EXPECT_EQ(entry->module, module);
  EXPECT_EQ(entry->name, "scale");
}

TEST_F(ModulesTest, AFunctionGoesWithItsModule) {
  const std::uint64_t module = add_module(machine, 5, keep_image(image()));
  const std::uint64_t scale = *function_of(machine, module, "scale");
  unload_module(machine, module);
  EXPECT_EQ(machine.modules.find(module), nullptr);
  EXPECT_EQ(find_function(machine, 5, scale), nullptr);
}

TEST_F(ModulesTest, ALibraryHasOneModuleInEachContext) {
  const std::uint64_t library = add_library();
  const std::uint64_t first = module_of(machine, library, 5);
  EXPECT_EQ(module_of(machine, library, 5), first);
  const std::uint64_t second = module_of(machine, library, 6);
  EXPECT_NE(second, first);
  machine.modules.erase_all_of(5);
  EXPECT_NE(module_of(machine, library, 5), first) << "a new one, for a context that came back";
  EXPECT_EQ(module_of(machine, library, 6), second);
}

TEST_F(ModulesTest, AKernelStandsForAFunctionOfTheContext) {
  const std::uint64_t library = add_library();
  const auto kernel = kernel_of(machine, library, "shift");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel_of(machine, library, "shift"), kernel);
  EXPECT_EQ(kernel_of(machine, library, "none"), std::nullopt);
  FunctionEntry* const in_five = find_function(machine, 5, *kernel);
  FunctionEntry* const in_six = find_function(machine, 6, *kernel);
  ASSERT_NE(in_five, nullptr);
  ASSERT_NE(in_six, nullptr);
  EXPECT_EQ(in_five->context, 5U);
  EXPECT_EQ(in_six->context, 6U);
  EXPECT_EQ(find_function(machine, 5, *kernel), in_five);
}

TEST_F(ModulesTest, ALibraryTakesEverythingWithIt) {
  const std::uint64_t library = add_library();
  const std::uint64_t kernel = *kernel_of(machine, library, "shift");
  const std::uint64_t module = module_of(machine, library, 5);
  machine.modules.erase_all_of(6);
  unload_library(machine, library);
  EXPECT_EQ(machine.libraries.find(library), nullptr);
  EXPECT_EQ(machine.modules.find(module), nullptr);
  EXPECT_EQ(find_function(machine, 5, kernel), nullptr);
}

}  // namespace
}  // namespace ferry::sim
