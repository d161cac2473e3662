// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/shared_event.hpp"

#include <gtest/gtest.h>

namespace ferry::sim {
namespace {

TEST(SharedEvent, RecordsAreReachedOneByOne) {
  const auto event = SharedEvent::create();
  ASSERT_TRUE(event);
  const auto other =
      SharedEvent::open(SealedFile::open(event->file().descriptor(), SharedKind::event));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->latest(), 0U);
  const std::uint64_t first = event->record();
  const std::uint64_t second = other->record();
  EXPECT_EQ(event->latest(), second);
  EXPECT_NE(first, second);
  event->reach(second);
  EXPECT_TRUE(other->is_reached(second));
  EXPECT_FALSE(other->is_reached(first)) << "in another process, on another stream";
  event->reach(first);
  EXPECT_TRUE(other->is_reached(first));
}

TEST(SharedEvent, WhoeverWaitsIsHeard) {
  const auto event = SharedEvent::create();
  const std::uint64_t first = event->record();
  const std::uint64_t second = event->record();
  EXPECT_FALSE(event->is_asked_for(first));
  event->ask(first);
  EXPECT_TRUE(event->is_asked_for(first));
  EXPECT_FALSE(event->is_asked_for(second));
  event->ask(second);
  event->ask(first);
  EXPECT_TRUE(event->is_asked_for(second));
}

TEST(SharedEvent, AFileOfAnotherSizeIsNone) {
  SharedDescription description;
  description.kind = SharedKind::event;
  EXPECT_FALSE(SharedEvent::open(SealedFile::create(description, 4096)));
  EXPECT_FALSE(SharedEvent::open(nullptr));
}

}  // namespace
}  // namespace ferry::sim
