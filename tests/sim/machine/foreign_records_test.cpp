// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/foreign_records.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace ferry::sim {
namespace {

Ticket ticket(LaneNumber lane, std::uint64_t count) {
  const Ticket made = std::make_shared<Operation>();
  made->lane = lane;
  made->count = count;
  return made;
}

Clock clock(LaneNumber lane, std::uint64_t count) {
  Clock made;
  made.set(lane, count);
  return made;
}

TEST(ForeignRecords, TellsWhatTheHostHasSeenAndNoMore) {
  const auto event = SharedEvent::create();
  ForeignRecords records;
  records.add({event, 1, ticket(0, 5)});
  records.add({event, 2, ticket(0, 6)});
  records.add({event, 3, ticket(1, 1)});
  records.tell(clock(0, 4));
  EXPECT_EQ(event->sights(), 0U);
  records.tell(clock(0, 5));
  EXPECT_TRUE(event->is_seen(1));
  EXPECT_FALSE(event->is_seen(2));
  EXPECT_FALSE(event->is_seen(3));
  records.tell(clock(0, 6));
  EXPECT_TRUE(event->is_seen(2));
  EXPECT_FALSE(event->is_seen(3));
  EXPECT_EQ(event->sights(), 2U) << "each once";
}

TEST(ForeignRecords, ARecordSaysWhatItComesAfter) {
  const auto first = SharedEvent::create();
  const auto other = SharedEvent::create();
  const auto mine = SharedEvent::create();
  ForeignRecords records;
  records.add({first, 7, ticket(0, 5)});
  records.add({other, 8, ticket(1, 5)});
  records.link(*mine, 3, clock(0, 9));
  ASSERT_EQ(mine->links_of(3).size(), 1U);
  EXPECT_EQ(mine->links_of(3)[0].number, 7U);
  EXPECT_TRUE(mine->links_of(2).empty());
  see_record(*mine, 2);
  EXPECT_FALSE(first->is_seen(7));
  see_record(*mine, 3);
  EXPECT_TRUE(mine->is_seen(3));
  EXPECT_TRUE(first->is_seen(7));
  EXPECT_FALSE(other->is_seen(8));
}

TEST(ForeignRecords, WhatWasSeenIsNotPassedOn) {
  const auto first = SharedEvent::create();
  const auto mine = SharedEvent::create();
  ForeignRecords records;
  records.add({first, 1, ticket(0, 1)});
  records.tell(clock(0, 1));
  records.link(*mine, 1, clock(0, 1));
  EXPECT_TRUE(mine->links_of(1).empty());
}

TEST(ForeignRecords, AChainIsFollowedToItsEnd) {
  const auto first = SharedEvent::create();
  const auto second = SharedEvent::create();
  const auto third = SharedEvent::create();
  second->link(5, {4, first->origin(), first->file().id()});
  third->link(6, {5, second->origin(), second->file().id()});
  see_record(*third, 6);
  EXPECT_TRUE(second->is_seen(5));
  EXPECT_TRUE(first->is_seen(4));
}

TEST(ForeignRecords, WhatOthersMadeUpDoesNoHarm) {
  const auto first = SharedEvent::create();
  const auto second = SharedEvent::create();
  second->link(1, {1, first->origin(), first->file().id()});
  first->link(1, {1, second->origin(), second->file().id()});
  first->link(1, {1, first->origin(), second->file().id()});
  first->link(1, {1, {getpid(), 0}, first->file().id()});
  first->link(1, {1, {-1, -1}, first->file().id()});
  see_record(*first, 1);
  EXPECT_TRUE(second->is_seen(1));
  EXPECT_EQ(first->sights(), 1U);
}

TEST(ForeignRecords, TheOldestOfVeryManyAreForgotten) {
  const auto event = SharedEvent::create();
  ForeignRecords records;
  for (std::uint64_t i = 1; i <= ForeignRecords::kMostWaits + 1; ++i)
    records.add({event, i, ticket(0, i)});
  records.tell(clock(0, ForeignRecords::kMostWaits + 1));
  EXPECT_FALSE(event->is_seen(1));
  EXPECT_TRUE(event->is_seen(ForeignRecords::kMostWaits));
  EXPECT_TRUE(event->is_seen(ForeignRecords::kMostWaits + 1));
}

TEST(ForeignRecords, TheNewestOfManyLinksAreSaid) {
  const auto event = SharedEvent::create();
  const auto mine = SharedEvent::create();
  ForeignRecords records;
  for (std::uint64_t i = 1; i <= 2 * ForeignRecords::kMostLinks; ++i)
    records.add({event, i, ticket(0, i)});
  records.link(*mine, 1, clock(0, 2 * ForeignRecords::kMostLinks));
  EXPECT_EQ(mine->links_of(1).size(), ForeignRecords::kMostLinks);
  see_record(*mine, 1);
  EXPECT_TRUE(event->is_seen(2 * ForeignRecords::kMostLinks));
  EXPECT_FALSE(event->is_seen(1));
}

}  // namespace
}  // namespace ferry::sim
