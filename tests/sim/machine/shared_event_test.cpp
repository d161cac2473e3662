// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/shared_event.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

namespace ferry::sim {
namespace {

TEST(SharedEvent, RecordsAreReachedOneByOne) {
  const auto event = SharedEvent::create();
  ASSERT_TRUE(event);
  const auto other =
      SharedEvent::open(SealedFile::open(event->file().descriptor(), SharedKind::event));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->latest().number, 0U);
  const std::uint64_t first = event->record();
  const std::uint64_t second = other->record();
  EXPECT_EQ(event->latest().number, second);
  EXPECT_NE(first, second);
  event->reach(second);
  EXPECT_TRUE(other->is_reached(second));
  EXPECT_FALSE(other->is_reached(first)) << "in another process, on another stream";
  event->reach(first);
  EXPECT_TRUE(other->is_reached(first));
  event->reach(second + SharedEvent::kRemembered);
  EXPECT_TRUE(other->is_reached(second)) << "nobody remembers so many";
}

// Two processes at once, for long enough to come between each other.
TEST(SharedEvent, NoTwoRecordsAreOne) {
  const auto event = SharedEvent::create();
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(150);
  std::uint64_t records = 0;
  for (; std::chrono::steady_clock::now() < end; ++records) static_cast<void>(event->record());
  if (child == 0) {
    static_cast<void>(!write(ends[1], &records, sizeof records));
    _exit(0);
  }
  std::uint64_t of_child = 0;
  ASSERT_EQ(read(ends[0], &of_child, sizeof of_child), static_cast<ssize_t>(sizeof of_child));
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(event->latest().number, records + of_child);
  close(ends[0]);
  close(ends[1]);
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
  EXPECT_TRUE(event->is_asked_for(first)) << "what comes before is waited for too";
}

std::shared_ptr<SharedEvent> open_again(const SharedEvent& event) {
  return SharedEvent::open(SealedFile::open(event.file().descriptor(), SharedKind::event));
}

TEST(SharedEvent, ARecordIsOverWhenItsRecorderIsGone) {
  const auto waiting = SharedEvent::create();
  auto first = open_again(*waiting);
  static_cast<void>(first->record());
  const SharedEvent::Record old = waiting->latest();
  auto second = open_again(*waiting);
  const std::uint64_t number = second->record();
  const SharedEvent::Record record = waiting->latest();
  EXPECT_EQ(record.number, number);
  EXPECT_NE(record.recorder, old.recorder);
  EXPECT_FALSE(waiting->is_over(old));
  EXPECT_FALSE(first->is_over(old)) << "it is there itself";
  first.reset();
  EXPECT_TRUE(waiting->is_over(old));
  EXPECT_FALSE(waiting->is_over(record)) << "another one's";
  const auto third = open_again(*waiting);
  static_cast<void>(third->record());
  EXPECT_TRUE(waiting->is_over(old)) << "nobody takes the place of who is gone";
  second->reach(number);
  EXPECT_TRUE(waiting->is_over(record));
  EXPECT_FALSE(waiting->is_over(waiting->latest()));
}

TEST(SharedEvent, ARecorderIsOneHoweverOftenItRecords) {
  const auto event = SharedEvent::create();
  static_cast<void>(event->record());
  const std::uint64_t recorder = event->latest().recorder;
  static_cast<void>(event->record());
  EXPECT_EQ(event->latest().recorder, recorder);
}

// Nobody can tell when it ends; that it had ended already must not be what is said.
TEST(SharedEvent, WithoutASignOfLifeARecordIsNotOver) {
  const auto event = SharedEvent::create();
  const auto another = SealedFile::open(event->file().descriptor(), SharedKind::event);
  ASSERT_TRUE(another->hold(1));
  const std::uint64_t record = event->record();
  EXPECT_EQ(event->latest().recorder, 0U);
  EXPECT_FALSE(open_again(*event)->is_over(event->latest()));
  event->reach(record);
  EXPECT_TRUE(open_again(*event)->is_over(event->latest()));
}

TEST(SharedEvent, MoreRecordersThanHaveNumbersStillRecord) {
  constexpr std::uint64_t kRecorders = (1U << 20) - 1;  // so many there were
  const auto event = SharedEvent::create();
  const MappedPart words = event->file().map(0, 4096);
  std::memcpy(words.data() + 8, &kRecorders, sizeof kRecorders);
  EXPECT_EQ(event->record(), 1U);
  EXPECT_EQ(event->record(), 2U);
  EXPECT_EQ(event->latest().number, 2U);
  EXPECT_EQ(event->latest().recorder, 0U);
}

TEST(SharedEvent, WhoHasOnlyOpenedItIsNobodysRecorder) {
  const auto waiting = SharedEvent::create();
  const auto opened = open_again(*waiting);
  auto recorder = open_again(*waiting);
  static_cast<void>(recorder->record());
  recorder.reset();
  EXPECT_TRUE(opened->is_over(waiting->latest()));
}

// A child of fork has the descriptor too, until it leaves.
TEST(SharedEvent, AChildDoesNotStandInForItsParent) {
  const auto waiting = SharedEvent::create();
  auto recorder = open_again(*waiting);
  static_cast<void>(recorder->record());
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    recorder->leave();
    const bool left = true;
    static_cast<void>(!write(ends[1], &left, sizeof left));
    pause();
    _exit(0);
  }
  bool left = false;
  ASSERT_EQ(read(ends[0], &left, sizeof left), static_cast<ssize_t>(sizeof left));
  EXPECT_FALSE(waiting->is_over(waiting->latest())) << "the parent is there";
  recorder.reset();
  EXPECT_TRUE(waiting->is_over(waiting->latest()));
  EXPECT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  close(ends[0]);
  close(ends[1]);
}

TEST(SharedEvent, ASightIsOfOneRecord) {
  const auto event = SharedEvent::create();
  const auto other = open_again(*event);
  EXPECT_FALSE(event->is_seen(2));
  const std::uint64_t before = event->sights();
  other->see(2);
  EXPECT_NE(event->sights(), before);
  EXPECT_TRUE(event->is_seen(2));
  EXPECT_FALSE(event->is_seen(1));
  EXPECT_FALSE(event->is_seen(3));
  EXPECT_FALSE(event->is_seen(2 + SharedEvent::kRemembered));
  other->see(2 + SharedEvent::kRemembered);
  EXPECT_FALSE(event->is_seen(2)) << "nobody remembers so many";
}

TEST(SharedEvent, OfManyLinksTheNewestStay) {
  const auto event = SharedEvent::create();
  const auto other = open_again(*event);
  other->link(3, {9, event->origin(), event->file().id()});
  ASSERT_EQ(event->links_of(3).size(), 1U);
  const SharedEvent::Link link = event->links_of(3)[0];
  EXPECT_EQ(link.number, 9U);
  EXPECT_EQ(link.origin.process, getpid());
  EXPECT_EQ(link.origin.descriptor, event->file().descriptor());
  EXPECT_EQ(link.file, event->file().id());
  for (std::uint64_t i = 0; i < SharedEvent::kLinks; ++i) other->link(4, {i, {}, {}});
  EXPECT_TRUE(event->links_of(3).empty());
  EXPECT_EQ(event->links_of(4).size(), SharedEvent::kLinks);
}

TEST(SharedEvent, AFileOfAnotherSizeIsNone) {
  SharedDescription description;
  description.kind = SharedKind::event;
  EXPECT_FALSE(SharedEvent::open(SealedFile::create(description, 4096)));
  EXPECT_FALSE(SharedEvent::open(nullptr));
}

}  // namespace
}  // namespace ferry::sim
