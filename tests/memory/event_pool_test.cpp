// SPDX-License-Identifier: Apache-2.0
#include "memory/event_pool.hpp"

#include <gtest/gtest.h>

#include "memory/sim_device.hpp"

namespace ferry {
namespace {

using testing_support::SimDevice;

TEST(EventPool, ReusesEventsAndDestroysThemAll) {
  SimDevice sim;
  const StreamRef stream = sim.stream();
  {
    EventPool events(sim.pool_side());
    const Result<EventHandle> first = events.record(stream);
    ASSERT_TRUE(first.ok());
    events.give_back(*first);
    const Result<EventHandle> second = events.record(stream);
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(first->value, second->value);
    events.give_back(*second);
  }
  EXPECT_EQ(sim.calls("cuEventCreate"), 1U);
  EXPECT_EQ(sim.calls("cuEventDestroy"), 1U);
}

TEST(EventPool, AFailedRecordLosesNoEvent) {
  SimDevice sim;
  const StreamRef stream = sim.stream();
  EventPool events(sim.pool_side());
  sim.fail_nth("cuEventRecord", 1, 999);
  EXPECT_FALSE(events.record(stream).ok());
  const Result<EventHandle> event = events.record(stream);
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(sim.calls("cuEventCreate"), 1U);
  events.give_back(*event);
}

TEST(EventPool, AnEventComesBackOnlyOnceItsWorkHasFinished) {
  SimDevice sim("schedule=lazy");
  const StreamRef stream = sim.stream();
  const DeviceAddress memory = sim.test_side().alloc(4_KiB).value();
  EventPool events(sim.pool_side());
  sim.write(memory, 1, stream);
  const EventHandle event = events.record(stream).value();
  EXPECT_FALSE(events.give_back_if_reached(event));
  EXPECT_NE(events.take().value().value, event.value) << "it still stands for queued work";
  sim.drain();
  sim.fail_nth("cuEventQuery", 1, 999);
  EXPECT_FALSE(events.give_back_if_reached(event)) << "an unanswered query is no answer";
  EXPECT_TRUE(events.give_back_if_reached(event));
  EXPECT_EQ(events.take().value().value, event.value);
  ASSERT_TRUE(sim.test_side().free(memory));
}

TEST(EventPool, ReportsThatNoEventCanBeMade) {
  SimDevice sim;
  const StreamRef stream = sim.stream();
  EventPool events(sim.pool_side());
  sim.fail_nth("cuEventCreate", 1, 2);
  const Result<EventHandle> event = events.record(stream);
  ASSERT_FALSE(event.ok());
  EXPECT_EQ(event.error().code(), Code::out_of_memory);
}

}  // namespace
}  // namespace ferry
