// SPDX-License-Identifier: Apache-2.0
// The walk out of a library is seen by tests/programs/call_sites_test.py.
#include "sim/words/go_between.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

TEST(GoBetween, IsKnownByItsName) {
  EXPECT_TRUE(is_go_between("/usr/lib/libferry.so"));
  EXPECT_TRUE(is_go_between("libferry.so.0.1.0"));
  EXPECT_TRUE(is_go_between("/opt/libferry_more.so"));
  EXPECT_TRUE(is_go_between("/usr/local/cuda/lib64/libcudart.so.12"));
  EXPECT_TRUE(is_go_between("/site-packages/libcudart-218eec4c.so.11.0"));
  EXPECT_FALSE(is_go_between(""));
  EXPECT_FALSE(is_go_between("/opt/libferry/program"));
  EXPECT_FALSE(is_go_between("/opt/libferry_test"));
  EXPECT_FALSE(is_go_between("/usr/lib/libtorch.so"));
  EXPECT_FALSE(is_go_between("/usr/lib/libcuda.so.1"));
}

TEST(GoBetween, OtherCodeLiesInNone) {
  const void* const here = __builtin_return_address(0);
  const void* const elsewhere = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
  for (int i = 0; i < 2; ++i) {  // looked up, and remembered
    EXPECT_FALSE(lies_in_go_between(here));
    EXPECT_FALSE(lies_in_go_between(elsewhere));
    EXPECT_FALSE(lies_in_go_between(nullptr));
  }
}

TEST(GoBetween, WhoeverIsNotUnderWayKeepsItsPlace) {
  const void* const elsewhere = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
  EXPECT_EQ(entered_from(elsewhere, own_module()), elsewhere);
}

}  // namespace
}  // namespace ferry::sim
