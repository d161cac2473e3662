// SPDX-License-Identifier: Apache-2.0
#include "memory/slab_cache.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace ferry {
namespace {

SlabHome home_at(std::uint64_t address) {
  return SlabHome{0, 1, DeviceAddress{address}};
}

TEST(SizeClass, EveryRequestFitsItsClassAndNoSmallerOne) {
  for (std::uint64_t bytes = 1; bytes <= kLargestSlabBlock; ++bytes) {
    const std::size_t size_class = class_of(bytes);
    ASSERT_LT(size_class, kSizeClasses);
    ASSERT_GE(kClassSizes[size_class], bytes);
    if (size_class > 0) {
      ASSERT_LT(kClassSizes[size_class - 1], bytes);
    }
  }
}

TEST(SizeClass, SlabsStaySmall) {
  for (std::size_t size_class = 0; size_class < kSizeClasses; ++size_class) {
    EXPECT_LE(slab_bytes(size_class), std::uint64_t{128} << 10);
    EXPECT_GE(blocks_per_slab(size_class), 4U);
    EXPECT_LE(blocks_per_slab(size_class), 64U);
  }
}

TEST(SlabCache, GivesNothingWithoutSlabs) {
  SlabCache cache;
  EXPECT_FALSE(cache.take(0));
  EXPECT_EQ(cache.free_bytes(), 0U);
}

TEST(SlabCache, HandsOutEachBlockOnce) {
  SlabCache cache;
  cache.add(3, home_at(0x10000));
  std::set<std::uint64_t> addresses;
  while (const auto slot = cache.take(3)) addresses.insert(cache.address_of(*slot).value);
  ASSERT_EQ(addresses.size(), blocks_per_slab(3));
  EXPECT_EQ(*addresses.begin(), 0x10000U);
  EXPECT_EQ(*addresses.rbegin() + kClassSizes[3], 0x10000U + slab_bytes(3));
}

TEST(SlabCache, KeepsOneSlabAtHandAndGivesTheOthersBack) {
  SlabCache cache;
  cache.add(0, home_at(0x10000));
  EXPECT_FALSE(cache.remove_empty(0, true));
  cache.add(0, home_at(0x20000));
  EXPECT_TRUE(cache.remove_empty(0, true));
  EXPECT_FALSE(cache.remove_empty(0, true));
  EXPECT_TRUE(cache.remove_empty(0, false));
  EXPECT_EQ(cache.slab_count(), 0U);
}

TEST(SlabCache, NeverGivesBackASlabInUse) {
  SlabCache cache;
  cache.add(0, home_at(0x10000));
  const auto slot = cache.take(0);
  ASSERT_TRUE(slot);
  EXPECT_FALSE(cache.remove_empty(0, false));
  cache.put_back(*slot);
  EXPECT_TRUE(cache.remove_empty(0, false));
}

TEST(SlabCache, AgreesWithASetOfAddresses) {
  constexpr int kSteps = 200'000;
  SlabCache cache;
  std::mt19937 random(11);
  std::set<std::uint64_t> taken_addresses;
  std::vector<SlabSlot> taken;
  std::uint64_t slabs_added = 0;
  for (int step = 0; step < kSteps; ++step) {
    const std::size_t size_class = random() % 5;
    if (random() % 2 == 0) {
      auto slot = cache.take(size_class);
      if (!slot) {
        cache.add(size_class, home_at(++slabs_added << 20));
        slot = cache.take(size_class);
      }
      ASSERT_TRUE(slot);
      ASSERT_TRUE(cache.is_taken(*slot));
      ASSERT_EQ(cache.class_of_slab(slot->slab), size_class);
      ASSERT_TRUE(taken_addresses.insert(cache.address_of(*slot).value).second)
          << "handed out twice";
      taken.push_back(*slot);
    } else if (!taken.empty()) {
      std::swap(taken[random() % taken.size()], taken.back());
      ASSERT_EQ(taken_addresses.erase(cache.address_of(taken.back()).value), 1U);
      cache.put_back(taken.back());
      taken.pop_back();
      static_cast<void>(cache.remove_empty(size_class, true));
    }
  }
}

}  // namespace
}  // namespace ferry
