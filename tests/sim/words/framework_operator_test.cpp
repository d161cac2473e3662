// SPDX-License-Identifier: Apache-2.0
#include "sim/words/framework_operator.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

TEST(FrameworkOperator, IsOneForTheSameWords) {
  const FrameworkOperator* const first = known_operator("aten::add", "train.py:31");
  EXPECT_EQ(first->name, "aten::add");
  EXPECT_EQ(first->place, "train.py:31");
  EXPECT_EQ(known_operator("aten::add", "train.py:31"), first);
}

TEST(FrameworkOperator, DiffersByNameAndByPlace) {
  const FrameworkOperator* const first = known_operator("aten::add", "train.py:31");
  EXPECT_NE(known_operator("aten::mul", "train.py:31"), first);
  EXPECT_NE(known_operator("aten::add", "train.py:32"), first);
  EXPECT_NE(known_operator("aten::addtrain.py:31", ""), first);
}

}  // namespace
}  // namespace ferry::sim
