// SPDX-License-Identifier: Apache-2.0
#include "front/report/chart_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "front/report/html_text.hpp"

namespace ferry::replay {

namespace {

constexpr double kMostSteps = 6;  // between the ticks of an axis

// Which of `columns` equal stretches of [0, x_end] holds x; in floating point, as x * columns may
// not fit.
std::size_t column_of(std::uint64_t x, std::uint64_t x_end, std::size_t columns) {
  if (x >= x_end) return columns - 1;
  const double share = static_cast<double>(x) / static_cast<double>(x_end);
  return std::min(static_cast<std::size_t>(share * static_cast<double>(columns)), columns - 1);
}

// The smallest of 1, 2 and 5 times a power of ten that is at least `step`.
double round_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    // The tolerance keeps 0.2, which no double holds, from being rounded up to 0.5.
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// Adds the highest, the lowest and the last point of [begin, end) in order, each once.
void keep_extremes(const std::vector<StepPoint>& points, std::size_t begin, std::size_t end,
                   std::vector<StepPoint>& kept) {
  const auto lower = [](const StepPoint& a, const StepPoint& b) { return a.y < b.y; };
  const auto first = points.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto [lowest, highest] =
      std::minmax_element(first, points.begin() + static_cast<std::ptrdiff_t>(end), lower);
  const auto index = [&](auto at) { return static_cast<std::size_t>(at - points.begin()); };
  std::array<std::size_t, 3> chosen{index(lowest), index(highest), end - 1};
  std::sort(chosen.begin(), chosen.end());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (i == 0 || chosen[i] != chosen[i - 1]) kept.push_back(points[chosen[i]]);
  }
}

}  // namespace

std::vector<StepPoint> thin_steps(const std::vector<StepPoint>& points, std::size_t limit) {
  if (points.size() <= limit) return points;
  // The first point stands for itself; each stretch keeps up to three of the others.
  const std::size_t stretches = std::max<std::size_t>((limit - 1) / 3, 1);
  const std::uint64_t x_first = points.front().x;
  const std::uint64_t x_span = points.back().x - x_first;
  std::vector<StepPoint> kept{points.front()};
  std::size_t begin = 1;
  while (begin < points.size()) {
    const std::size_t stretch = column_of(points[begin].x - x_first, x_span, stretches);
    std::size_t end = begin + 1;
    while (end < points.size() &&
           column_of(points[end].x - x_first, x_span, stretches) == stretch) {
      ++end;
    }
    keep_extremes(points, begin, end, kept);
    begin = end;
  }
  return kept;
}

std::vector<std::optional<std::uint64_t>> column_peaks(const std::vector<StepPoint>& points,
                                                       std::uint64_t x_end, std::uint64_t line_end,
                                                       std::size_t columns) {
  std::vector<std::optional<std::uint64_t>> peaks(columns);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool is_last = i + 1 == points.size();
    const std::uint64_t until = is_last ? std::max(line_end, points[i].x) : points[i + 1].x;
    const std::size_t first = column_of(points[i].x, x_end, columns);
    // A step that ends where a column begins has no part in that column.
    const std::size_t last = column_of(until > points[i].x ? until - 1 : until, x_end, columns);
    for (std::size_t column = first; column <= std::max(first, last); ++column) {
      peaks[column] = std::max(peaks[column].value_or(0), points[i].y);
    }
  }
  return peaks;
}

std::vector<std::uint64_t> column_sums(const std::vector<StepPoint>& points, std::uint64_t x_end,
                                       std::size_t columns) {
  std::vector<std::uint64_t> sums(columns);
  for (const StepPoint& point : points) sums[column_of(point.x, x_end, columns)] += point.y;
  return sums;
}

Axis byte_axis(Bytes largest) {
  constexpr std::array<std::string_view, 7> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = largest.count == 0 ? 1024 : static_cast<double>(largest.count);
  double unit_bytes = 1;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    unit_bytes *= 1024;
    ++unit;
  }
  double step = round_step(value / kMostSteps);
  if (unit == 0) step = std::max(step, 1.0);
  const double steps = std::max(std::ceil(value / step - 1e-9), 1.0);
  Axis axis{.end = steps * step * unit_bytes, .ticks = {}};
  axis.ticks.push_back({0, "0"});
  for (double i = 1; i <= steps; ++i) {
    axis.ticks.push_back(
        {i / steps, fmt::format("{:.{}f} {}", i * step, step < 1 ? 1 : 0, kUnits[unit])});
  }
  return axis;
}

Axis count_axis(std::uint64_t last) {
  const double end = last == 0 ? 1 : static_cast<double>(last);
  const double step = std::max(round_step(end / kMostSteps), 1.0);
  Axis axis{.end = end, .ticks = {}};
  for (double value = 0; value <= end; value += step) {
    axis.ticks.push_back({value / end, grouped(static_cast<std::uint64_t>(value))});
  }
  return axis;
}

}  // namespace ferry::replay
