// SPDX-License-Identifier: Apache-2.0
#include "sim/order/thread_sanitizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/order/fake_sanitizer.hpp"

namespace ferry::sim {
namespace {

using ::testing::ElementsAre;

// That it is found in a program that is built with it: tests/programs/host_races_test.py.
TEST(ThreadSanitizer, IsNoneWhereTheStandInIsAPartOfTheProgram) {
  EXPECT_EQ(sanitizer(), nullptr);
  const QuietThread quiet;  // does nothing
}

TEST(ThreadSanitizer, AStepLearnsTouchesAndTellsAsTheFiber) {
  FakeSanitizer fake;
  char learnt = 0;
  char told = 0;
  void* const acquired = fake.name(&learnt, "learnt");
  void* const released = fake.name(&told, "told");
  const HostAccess accesses[] = {{0x100, 8, false}, {0x200, 16, true}};
  int fiber = 0;
  int site = 0;
  fake.name(&fiber, "fiber");
  fake.name(&site, "site");
  take_step(FakeSanitizer::functions(), &fiber, {&acquired, 1, accesses, 2, &released, 1, &site});
  EXPECT_THAT(fake.log,
              ElementsAre("to fiber without order", "fiber acquires learnt",
                          "fiber reads 8 at 0x100 from site", "fiber writes 16 at 0x200 from site",
                          "fiber releases told", "to thread without order"));
}

TEST(ThreadSanitizer, AStepWithoutACallIsTheStandInsOwn) {
  FakeSanitizer fake;
  const HostAccess access{0x100, 8, false};
  int fiber = 0;
  fake.name(&fiber, "fiber");
  take_step(FakeSanitizer::functions(), &fiber, {nullptr, 0, &access, 1, nullptr, 0, nullptr});
  ASSERT_EQ(fake.log.size(), 3U);
  EXPECT_EQ(fake.log[1], "fiber reads 8 at 0x100 from elsewhere");
}

}  // namespace
}  // namespace ferry::sim
