// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/kernels.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace ferry::sim {
namespace {

constexpr std::size_t kSizes[] = {8, 4};

void run_nothing(const ferry_sim_launch*, const void* const*, void* const*) {}

// As many ranges as its second argument says, one after the other from its first.
std::size_t ranges_in_a_row(const ferry_sim_launch*, const void* const* arguments,
                            ferry_sim_range* out, std::size_t room) {
  std::uint64_t start = 0;
  std::uint32_t count = 0;
  std::memcpy(&start, arguments[0], sizeof start);
  std::memcpy(&count, arguments[1], sizeof count);
  for (std::size_t i = 0; i < count && i < room; ++i) out[i] = {start + i * 16, 16, 0};
  return count;
}

ferry_sim_kernel a_kernel() {
  return {"rows", 2, kSizes, ranges_in_a_row, run_nothing, nullptr};
}

TEST(Kernels, AreFoundByName) {
  Kernels kernels;
  EXPECT_EQ(kernels.find("rows"), nullptr);
  ASSERT_TRUE(kernels.add(a_kernel()));
  const auto kernel = kernels.find("rows");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->argument_bytes, (std::vector<std::size_t>{8, 4}));
  EXPECT_EQ(kernels.find("row"), nullptr);
}

TEST(Kernels, UnknownOnesMayDoNothing) {
  Kernels kernels;
  ASSERT_TRUE(kernels.add(a_kernel()));
  kernels.skip_unknown(true);
  EXPECT_EQ(kernels.find("rows")->argument_bytes.size(), 2U);
  const auto unknown = kernels.find("row");
  ASSERT_NE(unknown, nullptr);
  EXPECT_TRUE(ranges_of(*unknown, {}, KernelArguments(*unknown)).empty());
  kernels.skip_unknown(false);
  EXPECT_EQ(kernels.find("row"), nullptr);
}

TEST(Kernels, ArgumentsLieAsTheirSizesAreAligned) {
  Kernel kernel;
  kernel.argument_bytes = {1, 8, 4, 12, 16, 2, 64, 3};
  EXPECT_EQ(kernel.argument_offsets(), (std::vector<std::size_t>{0, 8, 16, 20, 32, 48, 64, 128}));
}

TEST(Kernels, WithoutTheirPartsAreRefused) {
  Kernels kernels;
  for (const auto spoil :
       {+[](ferry_sim_kernel& k) { k.name = nullptr; }, +[](ferry_sim_kernel& k) { k.name = ""; },
        +[](ferry_sim_kernel& k) { k.argument_bytes = nullptr; },
        +[](ferry_sim_kernel& k) { k.ranges = nullptr; },
        +[](ferry_sim_kernel& k) { k.run = nullptr; }}) {
    ferry_sim_kernel kernel = a_kernel();
    spoil(kernel);
    EXPECT_FALSE(kernels.add(kernel));
  }
  EXPECT_EQ(kernels.find("rows"), nullptr);
}

TEST(Kernels, ALaunchKeepsTheOneItFound) {
  Kernels kernels;
  ASSERT_TRUE(kernels.add(a_kernel()));
  const auto first = kernels.find("rows");
  ferry_sim_kernel another = a_kernel();
  another.argument_count = 0;
  ASSERT_TRUE(kernels.add(another));
  EXPECT_EQ(first->argument_bytes.size(), 2U);
  EXPECT_EQ(kernels.find("rows")->argument_bytes.size(), 0U);
}

TEST(KernelArguments, AreCopies) {
  Kernels kernels;
  ASSERT_TRUE(kernels.add(a_kernel()));
  const auto kernel = kernels.find("rows");
  for (const std::uint32_t count : {0U, 3U, 8U, 9U, 100U}) {
    KernelArguments arguments(*kernel);
    std::uint64_t start = 4096;
    arguments.set(0, &start, sizeof start);
    arguments.set(1, &count, sizeof count);
    start = 1;
    const auto ranges = ranges_of(*kernel, {}, arguments);
    ASSERT_EQ(ranges.size(), count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(ranges[i].address, 4096 + i * 16);
  }
}

}  // namespace
}  // namespace ferry::sim
