// SPDX-License-Identifier: Apache-2.0
#include "memory/heap_registry.hpp"

#include <gtest/gtest.h>

#include "memory/pool_parts.hpp"

namespace ferry {
namespace {

using testing_support::PoolParts;
constexpr std::uint64_t kPage = PoolParts::kPage;

class HeapRegistryTest : public testing::Test {
 protected:
  std::uint32_t heap_for(StreamRef stream, std::uint64_t private_pool = 0) {
    const Result<std::uint32_t> index = registry_.heap_for(stream, private_pool);
    EXPECT_TRUE(index.ok()) << index.error().describe();
    return index.ok() ? *index : 0;
  }

  PoolParts parts_;
  HeapRegistry registry_{parts_.state};
  StreamRef stream_ = parts_.sim.stream();
};

TEST_F(HeapRegistryTest, AStreamHasOneHeapInEachPrivatePool) {
  registry_.retain(1);
  registry_.retain(2);
  const std::uint32_t common = heap_for(stream_);
  const std::uint32_t first = heap_for(stream_, 1);
  const std::uint32_t second = heap_for(stream_, 2);
  EXPECT_NE(common, first);
  EXPECT_NE(common, second);
  EXPECT_NE(first, second);
  EXPECT_EQ(heap_for(stream_), common);
  EXPECT_EQ(heap_for(stream_, 2), second);
  EXPECT_EQ(parts_.state.heaps[second]->private_pool, 2U);
}

TEST_F(HeapRegistryTest, APrivatePoolIsThereFromTheFirstRetainToTheLastRelease) {
  EXPECT_EQ(registry_.heap_for(stream_, 1).error().code(), Code::invalid_argument);
  EXPECT_EQ(registry_.release(1).code(), Code::invalid_argument);
  registry_.retain(1);
  registry_.retain(1);
  const std::uint32_t heap = heap_for(stream_, 1);
  EXPECT_TRUE(registry_.release(1));
  EXPECT_TRUE(parts_.state.heaps[heap]->is_private());
  EXPECT_TRUE(registry_.release(1));
  EXPECT_FALSE(parts_.state.heaps[heap]->is_private());
  EXPECT_TRUE(parts_.state.heaps[heap]->ended);
  EXPECT_EQ(registry_.heap_for(stream_, 1).error().code(), Code::invalid_argument);
}

TEST_F(HeapRegistryTest, AReleasedHeapIsHeldUntilTheDeviceHasPassed) {
  registry_.retain(1);
  const std::uint32_t heap = heap_for(stream_, 1);
  ASSERT_TRUE(registry_.release(1));
  EXPECT_FALSE(parts_.state.heaps[heap]->clock.passed(0));
  EXPECT_NE(heap_for(stream_), heap) << "nobody knows what still works in it";
  parts_.state.heaps[heap]->clock.pass_all(parts_.state.events);
  EXPECT_EQ(heap_for(parts_.sim.stream()), heap);
}

TEST_F(HeapRegistryTest, APrivatePoolTakesOverAddressesButNoMemory) {
  parts_.commit(0, kPage);
  registry_.stream_will_end(StreamRef::legacy_default());
  parts_.state.heaps[0]->ended = true;
  parts_.state.ended_heaps = {0};
  registry_.retain(1);
  EXPECT_NE(heap_for(stream_, 1), 0U);
  EXPECT_EQ(heap_for(parts_.sim.stream()), 0U) << "the common part may have it";
}

TEST_F(HeapRegistryTest, AHandleOfNoLivingStreamIsRefused) {
  StreamRef gone = parts_.sim.stream();
  ASSERT_TRUE(parts_.sim.test_side().destroy_stream(gone));
  registry_.retain(1);
  EXPECT_EQ(registry_.heap_for(gone, 0).error().code(), Code::invalid_argument);
  EXPECT_EQ(registry_.heap_for(gone, 1).error().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace ferry
