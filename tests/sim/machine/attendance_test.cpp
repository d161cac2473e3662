// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/attendance.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

using Verdict = Attendance::Verdict;
using std::chrono::milliseconds;

struct AttendanceTest : ::testing::Test {
  Verdict look(int at, bool host_code_waits = true, bool all_wait = true) {
    return attendance.look(Attendance::Moment() + milliseconds(at), calls, host_code_waits,
                           [all_wait] { return all_wait; });
  }
  Attendance attendance;
  std::uint64_t calls = 0;
};

TEST_F(AttendanceTest, HostCodeRunsWhereAllThreadsHaveBeenSeenWaiting) {
  EXPECT_EQ(look(0), Verdict::leave);
  EXPECT_EQ(look(49), Verdict::leave);
  EXPECT_EQ(look(50), Verdict::leave);
  EXPECT_EQ(look(60), Verdict::leave);
  EXPECT_EQ(look(70), Verdict::run_host_code);
  EXPECT_EQ(look(80), Verdict::leave) << "the program has time to answer";
  EXPECT_EQ(look(90), Verdict::leave);
  EXPECT_EQ(look(100), Verdict::run_host_code);
}

TEST_F(AttendanceTest, ABusyThreadIsLetBe) {
  EXPECT_EQ(look(0), Verdict::leave);
  EXPECT_EQ(look(50), Verdict::leave);
  EXPECT_EQ(look(60), Verdict::leave);
  EXPECT_EQ(look(70, true, false), Verdict::leave);
  EXPECT_EQ(look(80), Verdict::leave) << "from the beginning again";
  EXPECT_EQ(look(90), Verdict::leave);
  EXPECT_EQ(look(100), Verdict::run_host_code);
}

TEST_F(AttendanceTest, WithoutHostCodeThreadsMayWaitForSomethingElse) {
  for (int at = 0; at < 2000; at += 10) EXPECT_EQ(look(at, false), Verdict::leave) << at;
}

TEST_F(AttendanceTest, AnyWorkGoesOnAfterALongSilence) {
  EXPECT_EQ(look(0, false, false), Verdict::leave);
  EXPECT_EQ(look(1999, false, false), Verdict::leave);
  EXPECT_EQ(look(2000, false, false), Verdict::run_any);
  EXPECT_EQ(look(2001, false, false), Verdict::run_any);
}

TEST_F(AttendanceTest, EveryCallBreaksTheSilence) {
  EXPECT_EQ(look(0, false, false), Verdict::leave);
  ++calls;
  EXPECT_EQ(look(1990, false, false), Verdict::leave);
  EXPECT_EQ(look(3000, false, false), Verdict::leave);
  EXPECT_EQ(look(3990, false, false), Verdict::run_any);
}

}  // namespace
}  // namespace ferry::sim
