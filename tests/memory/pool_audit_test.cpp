// SPDX-License-Identifier: Apache-2.0
// Every rule of the audit must be able to fail: each test breaks the state in one way.
#include "memory/pool_audit.hpp"

#include <gtest/gtest.h>

#include "memory/pool_parts.hpp"

namespace ferry {
namespace {

using testing_support::PoolParts;
constexpr std::uint64_t kPage = PoolParts::kPage;

class PoolAuditTest : public testing::Test {
 protected:
  void SetUp() override {
    parts_.commit(0, 4 * kPage);
    block_ = parts_.hold(0, kPage);
    ASSERT_TRUE(audit_pool(parts_.state)) << audit_pool(parts_.state).describe();
  }
  void expect_broken(const std::string& rule) {
    const Status audit = audit_pool(parts_.state);
    EXPECT_EQ(audit.code(), Code::internal);
    EXPECT_EQ(audit.site(), rule);
  }

  PoolParts parts_;
  LiveBlock block_;
};

TEST_F(PoolAuditTest, SeesMemoryUnderEmptyAddresses) {
  parts_.space().segment().decommit(3 * kPage, kPage);
  expect_broken("a chunk reaches into addresses without memory");
  parts_.space().segment().decommit(2 * kPage, kPage);
  expect_broken("a chunk lies in addresses without memory");
}

TEST_F(PoolAuditTest, SeesABlockWithoutMemory) {
  parts_.space().segment().commit(8 * kPage, kPage);
  expect_broken("a block lies on addresses without memory");
}

TEST_F(PoolAuditTest, SeesAWrongCountOfCommittedBytes) {
  parts_.state.committed += kPage;
  expect_broken("the count of committed bytes is wrong");
}

TEST_F(PoolAuditTest, SeesABlockNobodyOwns) {
  Segment& segment = parts_.space().segment();
  segment.take(segment.find_idle(512), kPage, 512);
  expect_broken("a live block has no owner, or two");
}

TEST_F(PoolAuditTest, SeesABlockFreedBehindItsOwnersBack) {
  parts_.space().segment().put_back(block_.id, 1);
  expect_broken("an owned block is in the wrong state");
}

TEST_F(PoolAuditTest, SeesAWrongSize) {
  parts_.state.live.begin().value().size = 2 * kPage;
  expect_broken("an owned block has the wrong size");
}

TEST_F(PoolAuditTest, SeesAFreeSlabBlockWithAnOwner) {
  parts_.make_pending(0, block_, {});
  parts_.state.pending.clear();
  parts_.heap().slabs.add(0, SlabHome{0, block_.id, parts_.space().address(0)});
  LiveBlock small{.slot = 0};
  small.size = small.requested = 512;
  parts_.state.live.insert({parts_.space().address(0).value, small});
  expect_broken("an owned slab block is marked free");
}

TEST_F(PoolAuditTest, SeesWrongStatistics) {
  ++parts_.state.stats.allocations;
  expect_broken("the count of live blocks is wrong");
  --parts_.state.stats.allocations;
  parts_.state.stats.allocated_bytes += 1_B;
  expect_broken("the sum of allocated bytes is wrong");
  parts_.state.stats.allocated_bytes -= 1_B;
  parts_.state.stats.requested_bytes += 1_B;
  expect_broken("the sum of requested bytes is wrong");
}

TEST_F(PoolAuditTest, DiesWhenAPoolIsNotSound) {
  die_unless_sound(audit_pool(parts_.state));
  parts_.state.committed += kPage;
  EXPECT_DEATH(die_unless_sound(audit_pool(parts_.state)), "committed bytes is wrong");
}

}  // namespace
}  // namespace ferry
