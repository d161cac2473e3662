// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the report's charts, pure functions: lines thinned out to what a screen can
// show, axes with round ticks, and what happened within each column of the chart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"

namespace ferry::replay {

// A step: from `x` on, up to the next point, the line stands at `y`.
struct StepPoint {
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  constexpr bool operator==(const StepPoint&) const = default;
};

// At most `limit` points (12 or more) of a line in order of x. Keeps the first and the last point
// and, in each of equal stretches of x, the highest, the lowest and the last: so every peak stays,
// and what a long level stretch begins with is its true level.
[[nodiscard]] std::vector<StepPoint> thin_steps(const std::vector<StepPoint>& points,
                                                std::size_t limit);

// The highest value of the line in each of `columns` equal stretches of [0, x_end), the value
// carried in from before included. Nothing where the line has not begun, or has ended at
// `line_end`.
[[nodiscard]] std::vector<std::optional<std::uint64_t>> column_peaks(
    const std::vector<StepPoint>& points, std::uint64_t x_end, std::uint64_t line_end,
    std::size_t columns);

// The sum of y over the points in each of `columns` equal stretches of [0, x_end].
[[nodiscard]] std::vector<std::uint64_t> column_sums(const std::vector<StepPoint>& points,
                                                     std::uint64_t x_end, std::size_t columns);

struct AxisTick {
  double position = 0;  // 0 at the axis's start, 1 at its end
  std::string label;
};

struct Axis {
  double end = 1;  // the value at position 1; it starts at zero
  std::vector<AxisTick> ticks;
};

// From zero to at least `largest`, three to seven ticks at 1, 2 or 5 times a power of ten of one
// binary unit.
[[nodiscard]] Axis byte_axis(Bytes largest);

// From zero to exactly `last`, ticks at 1, 2 or 5 times a power of ten.
[[nodiscard]] Axis count_axis(std::uint64_t last);

}  // namespace ferry::replay
