// SPDX-License-Identifier: Apache-2.0
#include "front/replay/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ferry::replay {
namespace {

TEST(Timeline, KeepsEverythingOfAShortTrace) {
  Timeline timeline(3);
  for (std::uint32_t event = 0; event <= 3; ++event) {
    timeline.add({event, Bytes{event * 10}, Bytes{event * 20}});
  }
  const std::vector<Sample> samples = timeline.take_samples();
  ASSERT_EQ(samples.size(), 4U);
  for (std::uint32_t event = 0; event <= 3; ++event) {
    EXPECT_EQ(samples[event].event, event);
    EXPECT_EQ(samples[event].live, Bytes{event * 10});
    EXPECT_EQ(samples[event].reserved, Bytes{event * 20});
  }
}

TEST(Timeline, ALongOneIsThinnedWithoutLosingAPeak) {
  constexpr std::uint32_t kEvents = 1'000'000;
  std::mt19937 random(1);
  Timeline timeline(kEvents);
  Bytes most_live;
  Bytes least_live{~std::uint64_t{0}};
  Bytes most_reserved;
  for (std::uint32_t event = 0; event <= kEvents; ++event) {
    Sample sample{event, Bytes{1000 + random() % 1000}, Bytes{3000}};
    if (event == 345'678) sample.live = Bytes{5000};
    if (event == 345'679) sample.live = Bytes{1};
    if (event == 777'777) sample.reserved = Bytes{9000};
    most_live = std::max(most_live, sample.live);
    least_live = std::min(least_live, sample.live);
    most_reserved = std::max(most_reserved, sample.reserved);
    timeline.add(sample);
  }
  const std::vector<Sample> samples = timeline.take_samples();
  EXPECT_LE(samples.size(), 6000U);
  const auto holds = [&](std::uint32_t event) {
    return std::ranges::count(samples, event, &Sample::event) == 1;
  };
  EXPECT_TRUE(holds(0) && holds(345'678) && holds(345'679) && holds(777'777) && holds(kEvents));
  EXPECT_EQ(std::ranges::max(samples, {}, &Sample::live).live, most_live);
  EXPECT_EQ(std::ranges::min(samples, {}, &Sample::live).live, least_live);
  EXPECT_EQ(std::ranges::max(samples, {}, &Sample::reserved).reserved, most_reserved);
  EXPECT_TRUE(std::ranges::is_sorted(samples, std::less{}, &Sample::event));
}

TEST(Timeline, CallsOfOneEventAreOneMark) {
  Timeline timeline(10);
  timeline.mark(0, 3);
  timeline.mark(0, 2);
  timeline.mark(7, 1);
  const std::vector<CallMark> marks = timeline.take_marks();
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(marks[0].event, 0U);
  EXPECT_EQ(marks[0].calls, 5U);
  EXPECT_EQ(marks[1].event, 7U);
  EXPECT_EQ(marks[1].calls, 1U);
}

TEST(Timeline, MayBeEmpty) {
  Timeline timeline(0);
  EXPECT_TRUE(timeline.take_samples().empty());
  EXPECT_TRUE(timeline.take_marks().empty());
}

}  // namespace
}  // namespace ferry::replay
