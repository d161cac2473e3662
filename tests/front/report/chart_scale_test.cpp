// SPDX-License-Identifier: Apache-2.0
#include "front/report/chart_scale.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>

namespace ferry::replay {
namespace {

using Points = std::vector<StepPoint>;

// A saw of `size` points around a drifting level, with one high and one low point.
Points saw(std::size_t size, std::size_t high, std::size_t low, std::uint32_t seed) {
  std::mt19937 random(seed);
  Points points;
  for (std::size_t i = 0; i < size; ++i) {
    points.push_back({i, 1000 + i / 100 + random() % 500});
  }
  points[high].y = 1'000'000;
  points[low].y = 1;
  return points;
}

// What the line shows at x.
std::uint64_t value_at(const Points& points, std::uint64_t x) {
  std::uint64_t value = 0;
  for (const StepPoint& point : points) {
    if (point.x <= x) value = point.y;
  }
  return value;
}

TEST(ThinSteps, LeavesAShortLineAlone) {
  const Points points = saw(1500, 7, 9, 1);
  EXPECT_EQ(thin_steps(points, 1500), points);
  EXPECT_EQ(thin_steps({}, 1500), Points{});
}

TEST(ThinSteps, KeepsTheHighestTheLowestAndTheEnds) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const std::size_t high = 1 + (seed * 7919) % 49'998;
    const std::size_t low = 1 + (seed * 104'729 + 13) % 49'998;
    if (high == low) continue;
    const Points points = saw(50'000, high, low, seed);
    const Points thin = thin_steps(points, 1500);
    ASSERT_LE(thin.size(), 1500u);
    EXPECT_GE(thin.size(), 1000u);
    EXPECT_EQ(thin.front(), points.front());
    EXPECT_EQ(thin.back(), points.back());
    EXPECT_EQ(std::count(thin.begin(), thin.end(), points[high]), 1);
    EXPECT_EQ(std::count(thin.begin(), thin.end(), points[low]), 1);
  }
}

TEST(ThinSteps, KeepsOnlyPointsOfTheLineInOrder) {
  const Points points = saw(20'000, 500, 600, 3);
  const Points thin = thin_steps(points, 300);
  for (std::size_t i = 0; i < thin.size(); ++i) {
    EXPECT_EQ(thin[i], points[thin[i].x]);
    if (i > 0) {
      EXPECT_LT(thin[i - 1].x, thin[i].x);
    }
  }
}

// A burst and then a long level stretch without a single point: the level is the burst's last
// value, neither its highest nor its lowest.
TEST(ThinSteps, ShowsALevelStretchAtItsLevel) {
  Points points;
  for (std::uint64_t x = 0; x < 2000; ++x) points.push_back({x, 100 + x % 50});
  points.push_back({2000, 120});
  points.push_back({1'000'000, 5});
  const Points thin = thin_steps(points, 100);
  ASSERT_LE(thin.size(), 100u);
  EXPECT_EQ(value_at(thin, 500'000), 120u);
  EXPECT_EQ(value_at(thin, 1'000'000), 5u);
}

TEST(ThinSteps, TakesAnyCoordinate) {
  Points points;
  for (std::uint64_t i = 0; i < 100; ++i) {
    points.push_back({std::numeric_limits<std::uint64_t>::max() / 100 * i, i});
  }
  EXPECT_LE(thin_steps(points, 12).size(), 12u);
  EXPECT_LE(thin_steps(Points(100, StepPoint{5, 5}), 12).size(), 12u);
}

TEST(ColumnPeaks, TakesTheHighestOfEachColumnAndCarriesTheLevelIn) {
  const Points points{{0, 10}, {1, 30}, {2, 5}, {5, 7}};
  const auto peaks = column_peaks(points, 8, 8, 4);
  ASSERT_EQ(peaks.size(), 4u);
  EXPECT_EQ(peaks[0], 30u);  // events 0 and 1
  EXPECT_EQ(peaks[1], 5u);   // 30 ended where this column begins
  EXPECT_EQ(peaks[2], 7u);   // 5, then 7
  EXPECT_EQ(peaks[3], 7u);
}

TEST(ColumnPeaks, HasNothingBeforeTheLineBeginsAndAfterItEnds) {
  const auto peaks = column_peaks({{4, 9}}, 8, 6, 8);
  EXPECT_FALSE(peaks[3]);
  EXPECT_EQ(peaks[4], 9u);
  EXPECT_EQ(peaks[5], 9u);
  EXPECT_FALSE(peaks[6]);
  for (const auto& peak : column_peaks({}, 8, 8, 3)) EXPECT_FALSE(peak);
}

TEST(ColumnPeaks, ShowsALastPointThatEndsTheLineAtOnce) {
  EXPECT_EQ(column_peaks({{0, 4}, {8, 6}}, 8, 8, 2)[1], 6u);
}

TEST(ColumnSums, AddsWhatFallsIntoEachColumn) {
  const auto sums = column_sums({{0, 3}, {1, 2}, {4, 1}, {8, 5}, {9, 7}}, 8, 4);
  EXPECT_EQ(sums, (std::vector<std::uint64_t>{5, 0, 1, 12}));
}

double leading_number(const std::string& label) {
  return std::strtod(label.c_str(), nullptr);
}

std::string unit_of(const std::string& label) {
  const std::size_t space = label.find(' ');
  return space == std::string::npos ? "" : label.substr(space + 1);
}

TEST(ByteAxis, HasRoundTicksOfOneUnitInOrder) {
  for (const Bytes largest : {1_B, 7_B, 900_B, 1_KiB, 1000_KiB, 1_MiB, 3_MiB, 904_MiB, 1023_MiB,
                              1_GiB, 1701_MiB, 11851_MiB, 19894_MiB, 80_GiB, 700_GiB, 1500_GiB,
                              Bytes{std::numeric_limits<std::uint64_t>::max()}}) {
    const Axis axis = byte_axis(largest);
    SCOPED_TRACE(format_bytes(largest));
    EXPECT_GE(axis.end, static_cast<double>(largest.count) * 0.999999);
    EXPECT_LE(axis.end, static_cast<double>(largest.count) * 2);
    ASSERT_GE(axis.ticks.size(), 2u);
    EXPECT_LE(axis.ticks.size(), 7u);
    EXPECT_EQ(axis.ticks.front().label, "0");
    EXPECT_EQ(axis.ticks.front().position, 0);
    EXPECT_DOUBLE_EQ(axis.ticks.back().position, 1);
    const double step = leading_number(axis.ticks[1].label);
    double digit = step;
    while (digit >= 10) digit /= 10;
    while (digit < 1) digit *= 10;
    EXPECT_TRUE(digit == 1 || digit == 2 || digit == 5) << axis.ticks[1].label;
    for (std::size_t i = 1; i < axis.ticks.size(); ++i) {
      EXPECT_GT(axis.ticks[i].position, axis.ticks[i - 1].position);
      EXPECT_NEAR(leading_number(axis.ticks[i].label), step * static_cast<double>(i), 1e-9);
      EXPECT_EQ(unit_of(axis.ticks[i].label), unit_of(axis.ticks[1].label));
    }
  }
}

TEST(ByteAxis, ChoosesTheUnitThatTheReaderExpects) {
  EXPECT_EQ(byte_axis(1701_MiB).ticks.back().label, "2.0 GiB");
  EXPECT_EQ(byte_axis(1701_MiB).ticks[1].label, "0.5 GiB");
  EXPECT_EQ(byte_axis(11851_MiB).ticks.back().label, "12 GiB");
  EXPECT_EQ(byte_axis(11851_MiB).ticks[1].label, "2 GiB");
  EXPECT_EQ(byte_axis(904_MiB).ticks[1].label, "200 MiB");
  EXPECT_EQ(byte_axis(3_B).ticks.back().label, "3 B");
  EXPECT_DOUBLE_EQ(byte_axis(11851_MiB).end, 12.0 * 1024 * 1024 * 1024);
}

TEST(ByteAxis, OfNothingStillHasAnEnd) {
  const Axis axis = byte_axis(0_B);
  EXPECT_GT(axis.end, 0);
  EXPECT_GE(axis.ticks.size(), 2u);
}

TEST(CountAxis, EndsAtTheLastEventAndHasRoundTicks) {
  const Axis axis = count_axis(14'961);
  EXPECT_EQ(axis.end, 14'961);
  ASSERT_EQ(axis.ticks.size(), 3u);
  EXPECT_EQ(axis.ticks[0].label, "0");
  EXPECT_EQ(axis.ticks[1].label, "5,000");
  EXPECT_EQ(axis.ticks[2].label, "10,000");
  EXPECT_DOUBLE_EQ(axis.ticks[2].position, 10'000.0 / 14'961.0);
}

TEST(CountAxis, CountsWholeEvents) {
  EXPECT_EQ(count_axis(0).end, 1);
  ASSERT_EQ(count_axis(2).ticks.size(), 3u);
  EXPECT_EQ(count_axis(2).ticks[1].label, "1");
  for (std::uint64_t last : {1ULL, 9ULL, 60ULL, 61ULL, 50'000ULL, 4'000'000'000ULL}) {
    EXPECT_GE(count_axis(last).ticks.size(), 2u) << last;
    EXPECT_LE(count_axis(last).ticks.size(), 7u) << last;
  }
}

}  // namespace
}  // namespace ferry::replay
