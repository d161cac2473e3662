// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/operator_scope.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace ferry::sim {
namespace {

using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Ranges unwritten(const OperatorScope& scope, std::uint64_t start, std::uint64_t bytes) {
  Ranges ranges;
  for (const AddressRange& range : scope.unwritten_in({start, bytes}))
    ranges.emplace_back(range.start, range.bytes);
  return ranges;
}

class OperatorScopeTest : public testing::Test {
 protected:
  void begin(const char* name, std::vector<AddressRange> inputs = {}) {
    scope.begin(known_operator(name, ""), inputs);
  }
  OperatorScope scope;
};

TEST_F(OperatorScopeTest, IsInNoneBeforeAndAfter) {
  EXPECT_EQ(scope.current(), nullptr);
  EXPECT_FALSE(scope.end());
  begin("aten::add");
  EXPECT_EQ(scope.current()->name, "aten::add");
  EXPECT_TRUE(scope.end());
  EXPECT_EQ(scope.current(), nullptr);
}

TEST_F(OperatorScopeTest, InnerOperatorsArePartsOfTheOutermost) {
  begin("aten::linear", {{100, 10}});
  begin("aten::addmm", {{200, 10}});
  EXPECT_EQ(scope.current()->name, "aten::linear");
  EXPECT_TRUE(scope.end());
  EXPECT_EQ(scope.current()->name, "aten::linear");
  EXPECT_TRUE(scope.is_given(205, 1)) << "what a part of it was given";
  EXPECT_TRUE(scope.end());
}

TEST_F(OperatorScopeTest, KnowsWhatItWasGiven) {
  begin("aten::nonzero", {{100, 10}});
  EXPECT_TRUE(scope.is_given(109, 5));
  EXPECT_FALSE(scope.is_given(110, 5));
  scope.note_write(110, 5);
  EXPECT_FALSE(scope.is_given(110, 5));
  EXPECT_TRUE(scope.end());
  begin("aten::nonzero");
  EXPECT_FALSE(scope.is_given(100, 20)) << "another operator";
}

TEST_F(OperatorScopeTest, UnwrittenIsWhatNoneOfItsWritesCovers) {
  begin("aten::cat");
  EXPECT_EQ(unwritten(scope, 100, 50), (Ranges{{100, 50}}));
  scope.note_write(140, 20);
  scope.note_write(110, 10);
  scope.note_write(115, 10);
  scope.note_write(10, 5);
  EXPECT_EQ(unwritten(scope, 100, 50), (Ranges{{100, 10}, {125, 15}}));
  scope.note_write(0, 1000);
  EXPECT_EQ(unwritten(scope, 100, 50), Ranges{});
}

}  // namespace
}  // namespace ferry::sim
