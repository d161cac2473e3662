// SPDX-License-Identifier: Apache-2.0
#include "transfer/ticket.hpp"

#include <gtest/gtest.h>

#include "transfer/copy_engine_fixture.hpp"

namespace ferry {
namespace {

class TicketTest : public testing_support::CopyTest {};

TEST_P(TicketTest, IsCompleteOnceTheCopyHasRun) {
  unsigned char* const from = pinned();
  const Ticket ticket = copy({{device_, address_of(from), Bytes{kBytes}}});
  if (std::string(GetParam()) == "schedule=lazy") {
    EXPECT_FALSE(ticket.is_complete().value());
  }
  ASSERT_TRUE(ticket.wait());
  EXPECT_TRUE(ticket.is_complete().value());
}

TEST_P(TicketTest, PollingComesToAnEnd) {
  const Ticket ticket = copy({{device_, address_of(pinned()), Bytes{kBytes}}});
  while (!ticket.is_complete().value()) {
  }
}

TEST_P(TicketTest, MayGoBeforeItsCopies) {
  unsigned char* const from = pinned();
  std::memset(from, 2, kBytes);
  { const Ticket forgotten = copy({{device_, address_of(from), Bytes{kBytes}}}); }
  const Ticket next = copy({{device_, address_of(from), Bytes{kBytes}}});
  EXPECT_EQ(fetch(next), std::vector<unsigned char>(kBytes, 2));
}

TEST_P(TicketTest, FailuresAreToldNotSwallowed) {
  const Ticket ticket = copy({{device_, address_of(pinned()), Bytes{kBytes}}});
  sim_.fail_nth("cuEventQuery", 1, testing_support::kCudaUnknown);
  EXPECT_FALSE(ticket.is_complete().ok());
  sim_.fail_nth("cuEventSynchronize", 1, testing_support::kCudaUnknown);
  EXPECT_FALSE(ticket.wait());
  sim_.fail_nth("cuStreamWaitEvent", 1, testing_support::kCudaUnknown);
  EXPECT_FALSE(ticket.wait_on(sim_.stream()));
  EXPECT_TRUE(ticket.wait());
}

INSTANTIATE_TEST_SUITE_P(Schedules, TicketTest, testing::ValuesIn(testing_support::kSchedules),
                         testing_support::schedule_name);

}  // namespace
}  // namespace ferry
