// SPDX-License-Identifier: Apache-2.0
#include "sim/order/readiness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/time/round_profile.hpp"

namespace ferry::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two streams of one group; what is appended here has run when a test says so.
struct ReadinessTest : ::testing::Test {
  ReadinessTest() {
    groups.push_back(std::make_unique<StreamGroup>());
    first = &add_stream(1);
    second = &add_stream(2);
  }
  Stream& add_stream(std::uint64_t number) {
    StreamGroup& group = *groups.front();
    return *group.streams.emplace(number, std::make_unique<Stream>(group, number, true, 0))
                .first->second;
  }
  Ticket append(Stream& stream, std::vector<Ticket> after = {}) {
    const Ticket ticket = std::make_shared<Operation>();
    ticket->number = next++;
    ticket->stream = &stream;
    ticket->after = std::move(after);
    stream.queue.push_back(ticket);
    return ticket;
  }
  static void finish(const Ticket& ticket) {
    ticket->done = true;
    ticket->stream->queue.pop_front();
  }

  std::vector<std::unique_ptr<StreamGroup>> groups;
  Stream* first = nullptr;
  Stream* second = nullptr;
  std::uint64_t next = 1;
};

TEST_F(ReadinessTest, NothingIsDone) {
  EXPECT_TRUE(is_done(nullptr));
  EXPECT_FALSE(is_done(std::make_shared<Operation>()));
}

TEST_F(ReadinessTest, TheOldestOfEachStreamIsReadyInTheOrderOfTheCalls) {
  const Ticket in_second = append(*second);
  const Ticket in_first = append(*first);
  append(*first);
  EXPECT_THAT(ready_operations(groups), ElementsAre(in_second, in_first));
}

TEST_F(ReadinessTest, WhatComesAfterUnfinishedWorkIsNotReady) {
  const Ticket earlier = append(*first);
  const Ticket later = append(*second, {earlier});
  EXPECT_THAT(ready_operations(groups), ElementsAre(earlier));
  finish(earlier);
  EXPECT_THAT(ready_operations(groups), ElementsAre(later));
}

TEST_F(ReadinessTest, WhatRunsIsNotReadyAgain) {
  append(*first)->running = true;
  EXPECT_THAT(ready_operations(groups), IsEmpty());
}

TEST_F(ReadinessTest, AConditionIsAskedUnlessTheGroupIsPoisoned) {
  bool met = false;
  const Ticket waits = append(*first);
  waits->may_begin = [&] { return met; };
  EXPECT_THAT(ready_operations(groups), IsEmpty());
  EXPECT_EQ(next_needed(waits), nullptr);
  met = true;
  EXPECT_EQ(next_needed(waits), waits);
  met = false;
  groups.front()->fault = 700;
  EXPECT_THAT(ready_operations(groups), ElementsAre(waits));
}

TEST_F(ReadinessTest, TheWayToATargetLeadsThroughItsStreamAndWhatItComesAfter) {
  const Ticket root = append(*second);
  const Ticket middle = append(*first, {root});
  const Ticket target = append(*first);
  EXPECT_EQ(next_needed(target), root);
  finish(root);
  EXPECT_EQ(next_needed(target), middle);
  middle->running = true;
  EXPECT_EQ(next_needed(target), nullptr) << "somebody else runs it";
}

TEST_F(ReadinessTest, OfWhatATargetComesAfterTheNewestIsNext) {
  const Ticket early = append(*first);
  const Ticket late = append(*second);
  const Ticket target = append(add_stream(3), {late, early});
  EXPECT_EQ(next_needed(target), late);
  finish(late);
  EXPECT_EQ(next_needed(target), early);
  EXPECT_EQ(newest_open(std::vector<Ticket>{early, nullptr, late}), early);
  EXPECT_EQ(newest_open({}), nullptr);
}

TEST_F(ReadinessTest, AStreamThatWaitsForTwoMayMeetTheNewerFirst) {
  const Ticket early = append(*first);
  const Ticket late = append(*second);
  Stream& both = add_stream(3);
  append(both, {early});
  const Ticket own = append(both);
  const Ticket target = append(both, {late});
  EXPECT_EQ(next_needed(own), early) << "what comes later in the queue is not needed";
  EXPECT_EQ(next_needed(target), late);
  finish(late);
  EXPECT_EQ(next_needed(target), early);
  finish(early);
  finish(both.queue.front());
  EXPECT_EQ(next_needed(target), own);
}

TEST_F(ReadinessTest, BehindAConditionTheOrderIsKnownWhenItIsMet) {
  Clock reason;
  reason.set(3, 30);
  Clock finished;
  finished.set(3, 99);
  Clock seen;
  seen.set(4, 40);
  const Ticket waits = append(*first);
  waits->may_begin = [] { return true; };
  waits->reason = [&] { return &reason; };
  place(*waits, finished, seen);
  EXPECT_EQ(waits->clock.of(3), 30U) << "not all that has run";
  EXPECT_EQ(waits->clock.of(4), 40U);

  const Ticket follows = append(*first);
  const Ticket elsewhere = append(*second, {waits});
  place(*follows, finished, seen);
  place(*elsewhere, finished, seen);
  EXPECT_EQ(follows->clock.of(3), 30U);
  EXPECT_EQ(elsewhere->clock.of(3), 30U);
  EXPECT_EQ(second->clock.of(3), 30U) << "what is queued later comes after it too";

  waits->reason = nullptr;
  place(*waits, finished, seen);
  EXPECT_EQ(waits->clock.of(3), 99U);
}

// Work that takes so long in virtual time, and a candidate that runs it.
Ticket timed(Timeline& timeline, std::uint64_t number, Picoseconds duration, bool calls_host) {
  const Ticket ticket = std::make_shared<Operation>();
  ticket->number = number;
  ticket->calls_host = calls_host;
  Load load;
  load.latency = duration;
  ticket->time = timeline.add(load, {});
  return ticket;
}

TEST(ReadinessInTime, HostCodeIsNotReadyBeforeItsMoment) {
  Timeline timeline(std::make_shared<const Profile>(testing_time::round_profile()));
  const Ticket work = timed(timeline, 1, 500, false);
  const Ticket late = timed(timeline, 2, 300, true);
  const Ticket soon = timed(timeline, 3, 100, true);
  std::vector<Ticket> candidates{work, late, soon};
  leave_timely(candidates, timeline);
  EXPECT_THAT(candidates, ElementsAre(work)) << "work of the device has no moment of its own";
  timeline.clock().spend(100);
  candidates = {work, late, soon};
  leave_timely(candidates, timeline);
  EXPECT_THAT(candidates, ElementsAre(work, soon));
  timeline.clock().spend(200);
  candidates = {work, late, soon};
  leave_timely(candidates, timeline);
  EXPECT_THAT(candidates, ElementsAre(work, late, soon));
  EXPECT_EQ(first_in_time(candidates), work);
  EXPECT_EQ(first_in_time(std::span(candidates).subspan(1)), soon);
}

TEST(ReadinessInTime, TheSoonestHostCodeIsFoundBeforeItsMoment) {
  Timeline timeline(std::make_shared<const Profile>(testing_time::round_profile()));
  const Ticket work = timed(timeline, 1, 50, false);
  const Ticket late = timed(timeline, 2, 300, true);
  const Ticket soon = timed(timeline, 3, 100, true);
  EXPECT_EQ(soonest_host_code({work}, timeline), nullptr);
  EXPECT_EQ(soonest_host_code({work, late, soon}, timeline), soon);
  EXPECT_EQ(timeline.clock().now(), 0) << "nobody has waited for it yet";
  EXPECT_FALSE(late->time->ended) << "the timeline goes no further than it must";
  timeline.wait(*late->time);
  EXPECT_EQ(soonest_host_code({work, late, soon}, timeline), soon) << "both have ended";
}

}  // namespace
}  // namespace ferry::sim
