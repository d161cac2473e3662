// SPDX-License-Identifier: Apache-2.0
#include "memory/heap.hpp"

#include <gtest/gtest.h>

#include "memory/sim_device.hpp"

namespace ferry {
namespace {

using testing_support::SimDevice;

constexpr std::uint64_t kPage = 2 << 20;

class HeapTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const SpaceKind kind : {SpaceKind::slabs, SpaceKind::blocks}) {
      auto space = Space::reserve(sim_.pool_side(), 16 * kPage, kPage);
      ASSERT_TRUE(space.ok());
      heap_.spaces.push_back(HeapSpace{kind, std::move(space).value()});
    }
  }

  SimDevice sim_;
  GrowthPolicy policy_{kPage, (4_GiB).count};
  Heap heap_{StreamRef::legacy_default(), 0};
};

TEST_F(HeapTest, TakesOnlyFromSpacesOfTheKind) {
  ASSERT_TRUE(heap_.space(1).commit_new(Gap{0, 2 * kPage}, policy_));
  EXPECT_FALSE(heap_.take_idle(SpaceKind::slabs, kPage, ~std::uint64_t{0}));
  const std::optional<Placement> found =
      heap_.take_idle(SpaceKind::blocks, kPage, ~std::uint64_t{0});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->space, 1U);
}

TEST_F(HeapTest, WindowsAreSearchedInTheKindsSpaces) {
  const auto window = heap_.find_window(SpaceKind::blocks, 3 * kPage);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->first, 1U);
  EXPECT_FALSE(heap_.find_window(SpaceKind::slabs, 17 * kPage));
}

TEST_F(HeapTest, EmptySlabsReturnTheirMemoryWithTheTimeOfNow) {
  ASSERT_TRUE(heap_.space(0).commit_new(Gap{0, kPage}, policy_));
  const std::optional<Placement> home =
      heap_.take_idle(SpaceKind::slabs, slab_bytes(0), ~std::uint64_t{0});
  ASSERT_TRUE(home);
  heap_.slabs.add(0, SlabHome{home->space, home->block, heap_.space(0).address(0)});
  EXPECT_EQ(heap_.idle_bytes(), kPage - slab_bytes(0));
  heap_.return_empty_slabs(0, true);
  EXPECT_EQ(heap_.idle_bytes(), kPage - slab_bytes(0)) << "one slab of a class stays at hand";
  heap_.return_all_empty_slabs();
  EXPECT_EQ(heap_.idle_bytes(), kPage);
  EXPECT_FALSE(heap_.take_idle(SpaceKind::slabs, kPage, 0))
      << "blocks freed just now have not passed";
}

}  // namespace
}  // namespace ferry
