// SPDX-License-Identifier: Apache-2.0
#include "sim/words/driver_log.hpp"

#include <gmock/gmock.h>

namespace ferry::sim {
namespace {

using ::testing::ElementsAre;

struct Received {
  std::vector<std::string> messages;
  DriverLog* log = nullptr;
};

void receive(void* data, CUlogLevel level, char* message, std::size_t length) {
  EXPECT_EQ(level, CU_LOG_LEVEL_ERROR);
  auto* const received = static_cast<Received*>(data);
  received->messages.emplace_back(message, length);
  EXPECT_EQ(message[length], '\0');
  EXPECT_GT(received->log->end(), 0U) << "a callback may use the log";
}

TEST(DriverLogTest, KeepsWhatWasAdded) {
  DriverLog log;
  log.add("one");
  const CUlogIterator here = log.end();
  log.add("two");
  EXPECT_THAT(log.since(0).messages, ElementsAre("one", "two"));
  EXPECT_THAT(log.since(here).messages, ElementsAre("two"));
  EXPECT_EQ(log.since(here).end, here + 1);
  EXPECT_TRUE(log.since(log.end()).messages.empty());
}

TEST(DriverLogTest, ForgetsTheOldestOfTooMany) {
  DriverLog log;
  const std::string half(DriverLog::kMostBytes / 2 - 1, 'a');
  log.add("first");
  log.add(half);
  log.add("last");
  EXPECT_TRUE(log.since(0).complete);
  log.add(half);
  EXPECT_FALSE(log.since(0).complete);
  EXPECT_THAT(log.since(0).messages, ElementsAre("last", half));
  EXPECT_TRUE(log.since(2).complete) << "what is gone was not asked for";
  log.add(std::string(2 * DriverLog::kMostBytes, 'b'));
  ASSERT_EQ(log.since(0).messages.size(), 1U);
  EXPECT_EQ(log.since(0).messages.front().size(), DriverLog::kMostBytes - 1);
}

TEST(DriverLogTest, DeliversOnceToAllThatAreRegistered) {
  DriverLog log;
  Received early{{}, &log};
  Received late{{}, &log};
  log.add("before anyone");
  const CUlogsCallbackHandle handle = log.add_callback(receive, &early);
  log.add("one");
  EXPECT_TRUE(early.messages.empty()) << "not yet";
  log.deliver();
  log.deliver();
  EXPECT_NE(log.add_callback(receive, &late), handle);
  log.add("two");
  log.deliver();
  EXPECT_TRUE(log.remove_callback(handle));
  EXPECT_FALSE(log.remove_callback(handle));
  log.add("three");
  log.deliver();
  EXPECT_THAT(early.messages, ElementsAre("one", "two"));
  EXPECT_THAT(late.messages, ElementsAre("two", "three"));
}

}  // namespace
}  // namespace ferry::sim
