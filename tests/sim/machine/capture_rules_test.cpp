// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/capture_rules.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

TEST(CaptureRules, MemoryOutsideTheOrderOfStreamsIsUnsafe) {
  EXPECT_TRUE(is_unsafe_in_capture(Symbol::cuMemAlloc_v2));
  EXPECT_TRUE(is_unsafe_in_capture(Symbol::cuMemFree_v2));
  EXPECT_TRUE(is_unsafe_in_capture(Symbol::cuMemHostAlloc));
  EXPECT_TRUE(is_unsafe_in_capture(Symbol::cuCtxSynchronize_v2)) << "every variant of a name";
  EXPECT_TRUE(is_unsafe_in_capture(Symbol::cuModuleLoadData));
}

TEST(CaptureRules, WorkAndMappingsAreNot) {
  for (const Symbol symbol :
       {Symbol::cuMemcpyAsync, Symbol::cuLaunchKernel, Symbol::cuEventRecord, Symbol::cuMemCreate,
        Symbol::cuMemMap, Symbol::cuMemSetAccess, Symbol::cuMemUnmap, Symbol::cuStreamEndCapture,
        Symbol::cuEventCreate, Symbol::cuMemAllocAsync}) {
    EXPECT_FALSE(is_unsafe_in_capture(symbol)) << row_of(symbol).name;
  }
}

}  // namespace
}  // namespace ferry::sim
