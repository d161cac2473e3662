// SPDX-License-Identifier: Apache-2.0
#include "sim/traffic_fixture.hpp"

namespace ferry::sim {
namespace {

class TrafficMarks : public TrafficTest {};

TEST_F(TrafficMarks, AreTakenAlsoWhereNoRecordIsKept) {
  Library::get().traffic() = TrafficLog();
  EXPECT_EQ(ferry_sim_traffic_mark("phase", "forward", 1), 0);
  EXPECT_EQ(ferry_sim_traffic_mark("phase", nullptr, 1), -1);
  EXPECT_EQ(ferry_sim_traffic_mark(nullptr, "forward", 1), -1);
  EXPECT_EQ(ferry_sim_traffic_mark("other", "forward", 1), -1);
}

TEST_F(TrafficMarks, CarryTheMomentAndTheMemoryInUse) {
  static_cast<void>(allocate(kMiB));
  EXPECT_EQ(ferry_sim_traffic_mark("parameters", "", 406'000'000), 0);
  const auto marks = recorded("mark");
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0]["kind"], "parameters");
  EXPECT_EQ(marks[0]["value"], 406'000'000);
  EXPECT_GE(marks[0]["in_use_bytes"][0], kMiB);
  EXPECT_TRUE(marks[0].contains("at_ps"));
}

}  // namespace
}  // namespace ferry::sim
