// SPDX-License-Identifier: Apache-2.0
#include "sim/words/machine_limits.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

TEST(MachineLimits, EachIsRead) {
  MachineLimits limits;
  EXPECT_EQ(read_vmm(limits, "off"), std::nullopt);
  EXPECT_EQ(read_granularity(limits, "64KiB"), std::nullopt);
  EXPECT_EQ(read_rdma(limits, "refused"), std::nullopt);
  EXPECT_EQ(read_taken(limits, "3GiB"), std::nullopt);
  EXPECT_EQ(read_largest_piece(limits, "16MiB"), std::nullopt);
  EXPECT_EQ(read_reserve_total(limits, "1GiB"), std::nullopt);
  EXPECT_EQ(read_register_call(limits, "512MiB"), std::nullopt);
  EXPECT_EQ(read_register_total(limits, "2GiB"), std::nullopt);
  EXPECT_EQ(read_reuse(limits, "immediate"), std::nullopt);
  EXPECT_FALSE(limits.virtual_memory);
  EXPECT_EQ(limits.granularity, 64_KiB);
  EXPECT_EQ(limits.rdma, Rdma::refused);
  EXPECT_EQ(limits.taken, 3_GiB);
  EXPECT_EQ(limits.largest_piece, 16_MiB);
  EXPECT_EQ(limits.reserve_total, 1_GiB);
  EXPECT_EQ(limits.register_call, 512_MiB);
  EXPECT_EQ(limits.register_total, 2_GiB);
  EXPECT_TRUE(limits.reuse_at_once);
}

TEST(MachineLimits, NoneTakesALimitAway) {
  MachineLimits limits;
  limits.taken = 1_GiB;
  limits.register_call = 1_GiB;
  EXPECT_EQ(read_taken(limits, "none"), std::nullopt);
  EXPECT_EQ(read_register_call(limits, "none"), std::nullopt);
  EXPECT_EQ(limits.taken, Bytes{});
  EXPECT_EQ(limits.register_call, std::nullopt);
}

TEST(MachineLimits, WrongValuesChangeNothing) {
  MachineLimits limits;
  EXPECT_EQ(read_vmm(limits, "no"), "on or off");
  for (const char* const wrong : {"3MiB", "32KiB", "2GiB", "0", "big"})
    EXPECT_NE(read_granularity(limits, wrong), std::nullopt) << wrong;
  EXPECT_EQ(read_rdma(limits, "yes"), "off, on or refused");
  EXPECT_EQ(read_largest_piece(limits, "0"), "a size such as 1GiB, or none");
  EXPECT_EQ(read_reuse(limits, "never"), "late or immediate");
  EXPECT_TRUE(limits.same_build(MachineLimits{}));
  EXPECT_EQ(limits.largest_piece, std::nullopt);
}

TEST(MachineLimits, SomeAreBuiltIn) {
  MachineLimits other;
  other.taken = 1_GiB;
  EXPECT_TRUE(other.same_build(MachineLimits{})) << "may change while the machine runs";
  other.granularity = 4_MiB;
  EXPECT_FALSE(other.same_build(MachineLimits{}));
}

}  // namespace
}  // namespace ferry::sim
