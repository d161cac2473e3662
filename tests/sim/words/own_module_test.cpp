// SPDX-License-Identifier: Apache-2.0
#include "sim/words/own_module.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ferry::sim {
namespace {

// That it is a library as libcuda.so.1: tests/programs, whose reports name call sites.
TEST(OwnModule, IsTheProgramWhereItIsLinkedIn) {
  const OwnModule& module = own_module();
  EXPECT_FALSE(module.is_library);
  EXPECT_TRUE(module.contains(reinterpret_cast<const void*>(&own_module)));
  const int local = 0;
  EXPECT_FALSE(module.contains(&local));
  EXPECT_FALSE(module.contains(std::getenv("PATH")));
}

TEST(OwnModule, HoldsItsFirstByteAndNotTheOneAfterItsLast) {
  const OwnModule module{100, 200, true};
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<const void*>(address); };
  EXPECT_FALSE(module.contains(at(99)));
  EXPECT_TRUE(module.contains(at(100)));
  EXPECT_TRUE(module.contains(at(199)));
  EXPECT_FALSE(module.contains(at(200)));
}

}  // namespace
}  // namespace ferry::sim
