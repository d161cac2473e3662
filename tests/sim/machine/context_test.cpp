// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/context.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

class ContextsTest : public testing::Test {
 protected:
  StreamEngine engine{Schedule::eager, 0};
  Contexts contexts{engine, 2};
};

TEST_F(ContextsTest, AreFoundByHandleWhileTheyLive) {
  Context& context = contexts.create(1, 0);
  const std::uint64_t handle = context.handle;
  EXPECT_EQ(contexts.find(handle), &context);
  EXPECT_EQ(context.device, 1);
  ASSERT_NE(context.streams, nullptr);
  EXPECT_EQ(contexts.find(handle + 1), nullptr);
  EXPECT_EQ(contexts.find(0), nullptr);
  contexts.erase(context);
  EXPECT_EQ(contexts.find(handle), nullptr);
  EXPECT_NE(contexts.create(1, 0).handle, handle) << "handles are never reused";
}

TEST_F(ContextsTest, PrimaryKeepsItsHandleOverItsLives) {
  EXPECT_EQ(contexts.active_primary(0), nullptr);
  Context& first = contexts.retain_primary(0);
  const std::uint64_t handle = first.handle;
  EXPECT_TRUE(contexts.is_primary(first));
  EXPECT_EQ(&contexts.retain_primary(0), &first);
  EXPECT_EQ(contexts.primary(0).references, 2U);
  EXPECT_NE(contexts.retain_primary(1).handle, handle);
  contexts.primary(0).references = 0;
  contexts.erase(first);
  EXPECT_EQ(contexts.active_primary(0), nullptr);
  EXPECT_EQ(contexts.retain_primary(0).handle, handle);
}

TEST_F(ContextsTest, RenewedStreamsHaveNoFault) {
  Context& context = contexts.create(0, 0);
  StreamGroup* const before = context.streams;
  before->fault = 700;
  contexts.renew_streams(context);
  EXPECT_NE(context.streams, before);
  EXPECT_EQ(context.streams->fault, 0);
}

TEST_F(ContextsTest, ALostDevicePoisonsItsContextsForGood) {
  Context& mine = contexts.create(0, 0);
  Context& other = contexts.create(1, 0);
  contexts.lose(0, 46);
  contexts.lose(7, 46);  // no device of this process
  EXPECT_EQ(contexts.lost(0), 46);
  EXPECT_EQ(contexts.lost(1), 0);
  EXPECT_EQ(mine.streams->fault, 46);
  EXPECT_EQ(other.streams->fault, 0);
  contexts.renew_streams(mine);
  EXPECT_EQ(mine.streams->fault, 46);
  EXPECT_EQ(contexts.create(0, 0).streams->fault, 46);
}

}  // namespace
}  // namespace ferry::sim
