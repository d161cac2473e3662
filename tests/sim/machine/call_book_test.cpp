// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/call_book.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

TEST(CallBook, CountsByBaseNameOverAllVariants) {
  CallBook book;
  EXPECT_EQ(book.enter(Symbol::cuCtxCreate_v2), 0);
  EXPECT_EQ(book.enter(Symbol::cuCtxCreate_v4), 0);
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2), 0);
  EXPECT_EQ(book.calls("cuCtxCreate"), 2U);
  EXPECT_EQ(book.calls("cuMemAlloc"), 1U);
  EXPECT_EQ(book.calls("cuMemFree"), 0U);
  EXPECT_EQ(book.calls("cuNothing"), 0U);
}

TEST(CallBook, FailsTheNthCallOnce) {
  CallBook book;
  book.add_rule({"cuMemAlloc", 3, 2});
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2), 0);
  EXPECT_EQ(book.enter(Symbol::cuMemFree_v2), 0);
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2), 0);
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2), 2);
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2), 0);
  EXPECT_EQ(book.calls("cuMemAlloc"), 4U) << "failed calls count too";
}

TEST(CallBook, RulesOfOneFunctionCountIndependently) {
  CallBook book;
  book.add_rule({"cuMemAlloc", 1, 2});
  book.add_rule({"cuMemAlloc", 2, 700});
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2), 2);
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2), 700);
  EXPECT_EQ(book.enter(Symbol::cuMemAlloc_v2), 0);
}

TEST(CallBook, ARuleCoversEveryVariantOfItsFunction) {
  CallBook book;
  book.add_rule({"cuCtxCreate", 2, 2});
  EXPECT_EQ(book.enter(Symbol::cuCtxCreate_v2), 0);
  EXPECT_EQ(book.enter(Symbol::cuCtxCreate_v4), 2);
}

}  // namespace
}  // namespace ferry::sim
