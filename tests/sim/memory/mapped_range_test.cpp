// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/mapped_range.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ferry::sim {
namespace {

TEST(IsMapped, EveryPageMustBeThere) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory =
      mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto start = reinterpret_cast<std::uint64_t>(memory);
  EXPECT_TRUE(is_mapped(start, 4 * page));
  EXPECT_TRUE(is_mapped(start + 10, 1)) << "no page needs to begin there";
  ASSERT_EQ(munmap(static_cast<char*>(memory) + 2 * page, page), 0);
  EXPECT_FALSE(is_mapped(start, 4 * page));
  EXPECT_FALSE(is_mapped(start + 2 * page + 5, 1));
  EXPECT_TRUE(is_mapped(start, 2 * page));
  EXPECT_FALSE(is_mapped(start, 2 * page + 1));
  EXPECT_TRUE(is_mapped(start + 3 * page, page));
  munmap(memory, 4 * page);
}

}  // namespace
}  // namespace ferry::sim
