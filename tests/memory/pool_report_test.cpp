// SPDX-License-Identifier: Apache-2.0
#include "memory/pool_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/pool_parts.hpp"

namespace ferry {
namespace {

using testing::HasSubstr;
using testing_support::PoolParts;
constexpr std::uint64_t kPage = PoolParts::kPage;

TEST(PoolReport, StatisticsAreOfNow) {
  PoolParts parts;
  parts.commit(0, 4 * kPage);
  const LiveBlock fenced = parts.hold(0, kPage);
  parts.hold(kPage, 512);
  parts.make_pending(0, fenced, {});
  const DevicePoolStats stats = current_stats(parts.state);
  EXPECT_EQ(stats.reserved_bytes.count, 4 * kPage);
  EXPECT_EQ(stats.fenced_bytes.count, kPage);
  EXPECT_EQ(stats.chunks, parts.space().chunks().size());
  EXPECT_EQ(stats.allocations, 1U);
  EXPECT_GT(stats.slack_bytes, 0_B);
}

TEST(PoolReport, NamesTheLargestBlocksAndTheStreams) {
  PoolParts parts(16_MiB);
  parts.add_heap(StreamRef{reinterpret_cast<void*>(0xabc0)});
  parts.commit(0, 4 * kPage);
  parts.commit(0, 2 * kPage, 1);
  parts.hold(0, 3 * kPage);
  parts.hold(0, kPage, 1);
  const std::string report = describe_out_of_memory(parts.state, 10_MiB, parts.heap());
  EXPECT_THAT(report, HasSubstr("10 MiB for default stream could not be had"));
  EXPECT_THAT(report, HasSubstr("12 MiB of 16 MiB (its limit)"));
  EXPECT_LT(report.find("6 MiB  at"), report.find("2 MiB  at")) << report;
  EXPECT_THAT(report, HasSubstr("in stream 0xabc0, largest piece 2 MiB"));
  EXPECT_THAT(report, HasSubstr("are less than the request"));
}

TEST(PoolReport, SaysWhenTheRequestIsLargerThanTheDevice) {
  PoolParts parts;
  EXPECT_THAT(describe_out_of_memory(parts.state, 5_GiB, parts.heap()),
              HasSubstr("The request alone is larger"));
}

TEST(PoolReport, SaysWhenTheDriverRefused) {
  PoolParts parts;
  EXPECT_THAT(describe_out_of_memory(parts.state, 1_GiB, parts.heap()),
              HasSubstr("the driver gave no memory"));
}

}  // namespace
}  // namespace ferry
