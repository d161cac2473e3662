// SPDX-License-Identifier: Apache-2.0
#include "front/report/memory_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

#include "front/report/chart_scale.hpp"
#include "front/report/html_text.hpp"

namespace ferry::replay {

namespace {

// The drawing's own grid, stretched to the width of the page; integers keep the page small.
constexpr double kGrid = 10'000;
constexpr std::size_t kMostPoints = 1500;   // of one line
constexpr std::size_t kHoverColumns = 100;  // with figures under the pointer
constexpr std::size_t kCallColumns = 400;   // bars of the strip
// A limit this many times above everything else would press the lines flat; it is only named then.
constexpr double kTallestCapacity = 1.5;

using Points = std::vector<StepPoint>;

struct Lines {
  Points live;
  Points ferry;
  Points recorded;
  Points calls;
  std::uint64_t x_end = 1;      // of the chart
  std::uint64_t ferry_end = 1;  // where the replay ended: before x_end when it ran out of memory
};

Lines lines_of(const DeviceResult& device) {
  Lines lines;
  for (const Sample& sample : device.timeline) {
    lines.live.push_back({sample.event, sample.live.count});
    lines.ferry.push_back({sample.event, sample.reserved.count});
  }
  for (const RecordedReserved& point : device.recorded_reserved) {
    lines.recorded.push_back({point.event, point.reserved.count});
  }
  for (const CallMark& mark : device.marks) lines.calls.push_back({mark.event, mark.calls});
  lines.x_end = std::max<std::uint64_t>(device.events, 1);
  lines.ferry_end = lines.x_end;
  if (!device.completed && !lines.live.empty()) {
    lines.ferry_end = std::min(lines.live.back().x, lines.x_end);
  }
  return lines;
}

std::uint64_t highest(const Points& points) {
  std::uint64_t most = 0;
  for (const StepPoint& point : points) most = std::max(most, point.y);
  return most;
}

// Where values stand on the grid.
struct Scale {
  double x_end = 1;
  double y_end = 1;

  [[nodiscard]] long x(std::uint64_t value) const {
    return std::lround(std::min(static_cast<double>(value) / x_end, 1.0) * kGrid);
  }
  [[nodiscard]] long y(std::uint64_t value) const {
    return std::lround((1 - std::min(static_cast<double>(value) / y_end, 1.0)) * kGrid);
  }
};

// A line of steps in path commands, from the first point to x = `line_end`; closed along the
// bottom if it is an area.
std::string step_path(const Points& line, const Scale& scale, std::uint64_t line_end, bool area) {
  const Points points = thin_steps(line, kMostPoints);
  long x = scale.x(points.front().x);
  long y = scale.y(points.front().y);
  std::string path = fmt::format("M{} {}", x, y);
  const auto go_right = [&](long to) {
    if (to > x) fmt::format_to(std::back_inserter(path), "h{}", to - x);
    x = std::max(x, to);
  };
  for (const StepPoint& point : points) {
    const long next = scale.y(point.y);
    if (next == y) continue;
    go_right(scale.x(point.x));
    fmt::format_to(std::back_inserter(path), "v{}", next - y);
    y = next;
  }
  go_right(scale.x(line_end));
  if (area) {
    fmt::format_to(std::back_inserter(path), "V{}H{}z", std::lround(kGrid),
                   scale.x(points.front().x));
  }
  return path;
}

void add_line(std::string& out, std::string_view name, const Points& line, const Scale& scale,
              std::uint64_t line_end) {
  if (line.empty()) return;
  fmt::format_to(std::back_inserter(out), "<path class=\"{}\" d=\"{}\"/>\n", name,
                 step_path(line, scale, line_end, name == "live"));
}

void add_y_axis(std::string& out, const Axis& axis) {
  out += "<g class=\"axis\">\n";
  for (const AxisTick& tick : axis.ticks) {
    fmt::format_to(std::back_inserter(out),
                   "<line x1=\"0\" x2=\"100%\" y1=\"{0:.2f}%\" y2=\"{0:.2f}%\"/>"
                   "<text x=\"-8\" y=\"{0:.2f}%\" dy=\".35em\">{1}</text>\n",
                   (1 - tick.position) * 100, tick.label);
  }
  out += "</g>\n";
}

void add_x_grid(std::string& out, const Axis& axis) {
  out += "<g class=\"axis\">\n";
  for (const AxisTick& tick : axis.ticks) {
    fmt::format_to(std::back_inserter(out),
                   "<line x1=\"{0:.2f}%\" x2=\"{0:.2f}%\" y1=\"0\" y2=\"100%\"/>\n",
                   tick.position * 100);
  }
  out += "</g>\n";
}

// A label in the middle of its tick, but for those that would stand out at the edges.
std::string_view alignment_at(double position) {
  if (position < 0.02) return "first";
  return position > 0.96 ? "last" : "middle";
}

void add_x_axis(std::string& out, const Axis& axis) {
  out += "<g class=\"axis x\">\n";
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    // Every other label gives way on narrow screens.
    fmt::format_to(std::back_inserter(out),
                   "<text class=\"{}{}\" x=\"{:.2f}%\" y=\"100%\" dy=\"1.5em\">{}</text>\n",
                   alignment_at(axis.ticks[i].position), i % 2 == 1 ? " alternate" : "",
                   axis.ticks[i].position * 100, axis.ticks[i].label);
  }
  out += "</g>\n";
}

// What column `i` shows while the pointer is over it, in two lines: which events and calls, and the
// memory.
struct Reading {
  std::string events;
  std::string memory;

  void add_memory(std::string_view name, std::optional<std::uint64_t> bytes) {
    if (!bytes) return;
    fmt::format_to(std::back_inserter(memory), "{}<tspan>{}</tspan> {}",
                   memory.empty() ? "" : " · ", name, precise_bytes(Bytes{*bytes}));
  }
};

Reading events_reading(std::uint64_t x_end, std::size_t column, std::size_t columns,
                       std::uint64_t calls) {
  const auto at = [&](std::size_t edge) {
    return grouped(static_cast<std::uint64_t>(
        static_cast<double>(x_end) * static_cast<double>(edge) / static_cast<double>(columns)));
  };
  return {fmt::format("<tspan>events</tspan> {}–{}{}", at(column), at(column + 1),
                      calls == 0 ? "" : " · " + counted(calls, "driver call")),
          {}};
}

// Lies over the drawing, as an SVG of its own: the title of the drawing would cover the figures.
void add_hover_columns(std::string& out, const Lines& lines) {
  const std::size_t columns =
      static_cast<std::size_t>(std::min<std::uint64_t>(lines.x_end, kHoverColumns));
  const auto live = column_peaks(lines.live, lines.x_end, lines.ferry_end, columns);
  const auto ferry = column_peaks(lines.ferry, lines.x_end, lines.ferry_end, columns);
  const auto recorded = column_peaks(lines.recorded, lines.x_end, lines.x_end, columns);
  const auto calls = column_sums(lines.calls, lines.x_end, columns);
  const double width = 100.0 / static_cast<double>(columns);
  out +=
      "<svg class=\"hover\" aria-hidden=\"true\">\n"
      "<text class=\"hint\" y=\"-8\">Point at the chart to read its figures: "
      "the highest of each column.</text>\n";
  for (std::size_t i = 0; i < columns; ++i) {
    Reading reading = events_reading(lines.x_end, i, columns, calls[i]);
    reading.add_memory("live", live[i]);
    reading.add_memory("Ferry", ferry[i]);
    reading.add_memory("PyTorch", recorded[i]);
    fmt::format_to(std::back_inserter(out),
                   "<g><rect x=\"{:.2f}%\" width=\"{:.2f}%\" height=\"100%\"/>"
                   "<text y=\"-23\">{}</text><text y=\"-8\">{}</text></g>\n",
                   static_cast<double>(i) * width, width, reading.events, reading.memory);
  }
  out += "</svg>\n";
}

void add_calls_strip(std::string& out, const Lines& lines) {
  const std::vector<std::uint64_t> sums = column_sums(lines.calls, lines.x_end, kCallColumns);
  const std::uint64_t most = *std::max_element(sums.begin(), sums.end());
  const auto height_of = [&](std::uint64_t calls) {
    // Logarithmic: the first event of a cold pass may make hundreds, later ones mostly a few.
    const double share =
        std::log2(1 + static_cast<double>(calls)) / std::log2(1 + static_cast<double>(most));
    return std::lround(share * kGrid);
  };
  const long width = std::lround(kGrid / kCallColumns);
  out += "<text class=\"strip-name\" x=\"-8\" y=\"50%\" dy=\".35em\">driver calls</text>\n";
  if (most == 0) {
    out += "<text class=\"strip-none\" x=\"50%\" y=\"50%\" dy=\".35em\">none</text>\n";
    return;
  }
  std::string path;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] == 0) continue;
    fmt::format_to(std::back_inserter(path), "M{0} {1}v-{2}h{3}v{2}z", static_cast<long>(i) * width,
                   std::lround(kGrid), height_of(sums[i]), width);
  }
  fmt::format_to(std::back_inserter(out),
                 "<svg width=\"100%\" height=\"100%\" viewBox=\"0 0 {0} {0}\" "
                 "preserveAspectRatio=\"none\"><path class=\"calls\" d=\"{1}\"/></svg>\n",
                 std::lround(kGrid), path);
}

void add_legend_entry(std::string& out, std::string_view name, std::string_view text,
                      std::string_view figure) {
  const std::string_view shape = name == "live" ? "M0 3h26v11h-26z" : "M0 8h26";
  fmt::format_to(std::back_inserter(out),
                 "<li><svg width=\"26\" height=\"16\" aria-hidden=\"true\"><path class=\"{}\" "
                 "d=\"{}\"/></svg><span>{} <b>{}</b></span></li>\n",
                 name, shape, text, figure);
}

void add_legend(std::string& out, const DeviceResult& device, const Lines& lines,
                bool capacity_drawn) {
  out += "<ul class=\"legend\">\n";
  add_legend_entry(out, "live", "Live, as requested: peak", precise_bytes(device.peak_live));
  add_legend_entry(out, "ferry", "Held by Ferry: peak", precise_bytes(device.peak_reserved));
  if (!lines.recorded.empty()) {
    const Bytes peak = device.recorded_peak_reserved.value_or(Bytes{highest(lines.recorded)});
    add_legend_entry(out, "recorded", "Held by PyTorch, as recorded: peak", precise_bytes(peak));
  }
  if (device.capacity) {
    add_legend_entry(out, "capacity", capacity_drawn ? "Capacity" : "Capacity, above the chart:",
                     precise_bytes(*device.capacity));
  }
  out += "</ul>\n";
}

// A point on the highest live memory, with its figure: the eye may miss a peak of a single event.
void add_peak(std::string& out, const Lines& lines, const Scale& scale) {
  const auto lower = [](const StepPoint& a, const StepPoint& b) { return a.y < b.y; };
  const auto peak = std::max_element(lines.live.begin(), lines.live.end(), lower);
  if (peak == lines.live.end() || peak->y == 0) return;
  const double x = static_cast<double>(scale.x(peak->x)) / kGrid * 100;
  const double y = static_cast<double>(scale.y(peak->y)) / kGrid * 100;
  fmt::format_to(std::back_inserter(out),
                 "<circle class=\"peak\" cx=\"{0:.2f}%\" cy=\"{1:.2f}%\" r=\"4\"/>"
                 "<text class=\"peak {2}\" x=\"{0:.2f}%\" dx=\"{3}\" y=\"{1:.2f}%\" "
                 "dy=\"1.3em\">peak {4}</text>\n",
                 x, y, x > 50 ? "last" : "first", x > 50 ? -8 : 8, precise_bytes(Bytes{peak->y}));
}

// The left edge of the stretch that an unfinished replay did not reach.
void add_stop(std::string& out, const Lines& lines, const Scale& scale) {
  if (lines.ferry_end >= lines.x_end) return;
  const double position = static_cast<double>(scale.x(lines.ferry_end)) / kGrid * 100;
  fmt::format_to(
      std::back_inserter(out),
      "<rect class=\"unreached\" x=\"{0:.2f}%\" width=\"{1:.2f}%\" height=\"100%\"/>\n"
      "<line class=\"stop\" x1=\"{0:.2f}%\" x2=\"{0:.2f}%\" y1=\"0\" y2=\"100%\"/>\n"
      "<text class=\"stop {2}\" x=\"{0:.2f}%\" dx=\"{3}\" y=\"16\">stopped here</text>\n",
      position, 100 - position, position > 50 ? "last" : "first", position > 50 ? -6 : 6);
}

}  // namespace

std::string memory_chart(const DeviceResult& device, std::string_view id, std::string_view title,
                         std::string_view description) {
  const Lines lines = lines_of(device);
  const std::uint64_t tallest =
      std::max({highest(lines.live), highest(lines.ferry), highest(lines.recorded)});
  const bool capacity_drawn =
      device.capacity && static_cast<double>(device.capacity->count) <=
                             kTallestCapacity * static_cast<double>(tallest);
  const Axis y_axis =
      byte_axis(Bytes{capacity_drawn ? std::max(tallest, device.capacity->count) : tallest});
  const Axis x_axis = count_axis(lines.x_end);
  const Scale scale{.x_end = x_axis.end, .y_end = y_axis.end};

  std::string out = "<figure class=\"chart\">\n";
  add_legend(out, device, lines, capacity_drawn);
  fmt::format_to(std::back_inserter(out),
                 "<div class=\"plot\">\n<svg role=\"img\" aria-labelledby=\"{0}-title {0}-text\">\n"
                 "<title id=\"{0}-title\">{1}</title>\n<desc id=\"{0}-text\">{2}</desc>\n",
                 id, escape_html(title), escape_html(description));
  add_y_axis(out, y_axis);
  add_x_grid(out, x_axis);
  fmt::format_to(std::back_inserter(out),
                 "<svg class=\"lines\" width=\"100%\" height=\"100%\" viewBox=\"0 0 {0} {0}\" "
                 "preserveAspectRatio=\"none\">\n",
                 std::lround(kGrid));
  add_line(out, "live", lines.live, scale, lines.ferry_end);
  if (capacity_drawn) {
    add_line(out, "capacity", {{0, device.capacity->count}}, scale, lines.x_end);
  }
  add_line(out, "ferry", lines.ferry, scale, lines.ferry_end);
  // Dashes over the solid line: where the two are at one level both can be seen.
  add_line(out, "recorded", lines.recorded, scale, lines.x_end);
  out += "</svg>\n";
  add_peak(out, lines, scale);
  add_stop(out, lines, scale);
  out += "</svg>\n";
  add_hover_columns(out, lines);
  out += "</div>\n<svg class=\"strip\" role=\"img\" aria-label=\"Driver calls over the events\">\n";
  add_x_grid(out, x_axis);
  add_calls_strip(out, lines);
  add_x_axis(out, x_axis);
  out +=
      "</svg>\n<figcaption>Events of the first pass. A bar’s height is the number of driver "
      "calls on a logarithmic scale.</figcaption>\n</figure>\n";
  return out;
}

}  // namespace ferry::replay
