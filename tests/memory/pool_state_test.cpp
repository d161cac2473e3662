// SPDX-License-Identifier: Apache-2.0
#include "memory/pool_state.hpp"

#include <gtest/gtest.h>

#include "memory/pool_parts.hpp"

namespace ferry {
namespace {

using testing_support::PoolParts;
constexpr std::uint64_t kPage = PoolParts::kPage;

TEST(PoolState, TheBudgetIsTheLimitOrTheDevice) {
  PoolParts limited(64_MiB);
  EXPECT_EQ(limited.state.budget(), (64_MiB).count);
  limited.state.limit = Bytes{};
  EXPECT_EQ(limited.state.budget(), (4_GiB).count);
}

TEST(PoolState, UsageCountsEachChunkOnce) {
  PoolParts parts;
  parts.commit(0, kPage);          // live, with slack
  parts.commit(kPage, kPage);      // fenced
  parts.commit(2 * kPage, kPage);  // idle
  parts.hold(0, 512);
  const LiveBlock fenced = parts.hold(kPage, 1024);
  parts.make_pending(kPage, fenced, {});
  const PoolState::Usage usage = parts.state.usage();
  EXPECT_EQ(usage.live, kPage);
  EXPECT_EQ(usage.fenced, kPage);
  EXPECT_EQ(usage.idle, kPage);
  EXPECT_EQ(usage.slack, kPage - 512);
}

TEST(PoolState, AChunkWithALiveBlockIsLiveEvenBesideAFencedOne) {
  PoolParts parts;
  parts.commit(0, kPage);
  const LiveBlock fenced = parts.hold(0, 1024);
  parts.hold(1024, 512);
  parts.make_pending(0, fenced, {});
  const PoolState::Usage usage = parts.state.usage();
  EXPECT_EQ(usage.live, kPage);
  EXPECT_EQ(usage.fenced, 0U);
  EXPECT_EQ(usage.slack, kPage - 1536);
}

}  // namespace
}  // namespace ferry
