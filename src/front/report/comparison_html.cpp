// SPDX-License-Identifier: Apache-2.0
#include "front/report/comparison_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "front/report/chart_frame.hpp"
#include "front/report/comparison_report.hpp"
#include "front/report/html_style.hpp"
#include "front/report/html_text.hpp"

namespace ferry::replay {

namespace {

// Lines differ by dash as well as by colour.
struct LineStyle {
  std::string_view allocator;
  std::string_view style;
};
constexpr LineStyle kLines[] = {
    {"native", "stroke:#c95000;stroke-dasharray:7 4"},
    {"expandable", "stroke:#8a5fbf;stroke-dasharray:2 3"},
    {"cudaMallocAsync", "stroke:#14684a;stroke-dasharray:10 3 2 3"},
    {"ferry", "stroke:var(--ferry)"},
};

std::string_view style_of(std::string_view allocator) {
  const auto* const found = std::ranges::find(kLines, allocator, &LineStyle::allocator);
  return found == std::end(kLines) ? "stroke:var(--ink)" : found->style;
}

struct Extent {
  std::uint64_t operators = 1;
  Bytes memory{1};
};

Extent extent_of(const Comparison& comparison) {
  Extent extent;
  for (const ComparedRun& run : comparison.runs) {
    if (!run.figures) continue;
    for (const ComparedSample& sample : run.figures->samples) {
      extent.operators = std::max(extent.operators, sample.operators);
      extent.memory = std::max({extent.memory, sample.in_use, sample.tensors});
    }
  }
  return extent;
}

std::string path_of(const std::vector<ComparedSample>& samples, Bytes ComparedSample::*amount,
                    double x_end, double y_end) {
  std::string path;
  for (const ComparedSample& sample : samples) {
    const double x = static_cast<double>(sample.operators) / x_end * kGrid;
    const double y = (1 - static_cast<double>((sample.*amount).count) / y_end) * kGrid;
    fmt::format_to(std::back_inserter(path), "{}{} {}", path.empty() ? "M" : "L", std::lround(x),
                   std::lround(y));
  }
  return path;
}

void add_chart(std::string& out, const Comparison& comparison) {
  const Extent extent = extent_of(comparison);
  const Axis memory = byte_axis(extent.memory);
  const Axis operators = count_axis(extent.operators);
  out +=
      "<figure><ul class=\"legend\">\n<li><svg width=\"26\" height=\"10\"><rect class=\"live\" "
      "width=\"26\" height=\"10\"/></svg>in tensors</li>\n";
  for (const ComparedRun& run : comparison.runs) {
    fmt::format_to(std::back_inserter(out),
                   "<li><svg width=\"26\" height=\"10\"><path style=\"{}\" d=\"M0 5H26\"/></svg>"
                   "{}</li>\n",
                   style_of(run.allocator), escape_html(run.allocator));
  }
  out += "</ul>\n<div class=\"plot\">\n";
  add_axes(out, memory, operators);
  out +=
      "<svg viewBox=\"0 0 10000 10000\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"Device memory in use over the operators of the program\">\n";
  const double x_end = operators.end;
  bool tensors_drawn = false;
  for (const ComparedRun& run : comparison.runs) {
    if (!run.figures || run.figures->samples.empty()) continue;
    const auto& samples = run.figures->samples;
    if (!tensors_drawn && run.exit == 0) {
      tensors_drawn = true;
      fmt::format_to(std::back_inserter(out), "<path class=\"live\" d=\"{}V10000H0z\"/>\n",
                     path_of(samples, &ComparedSample::tensors, x_end, memory.end));
    }
    fmt::format_to(std::back_inserter(out), "<path style=\"{}\" d=\"{}\"/>\n",
                   style_of(run.allocator),
                   path_of(samples, &ComparedSample::in_use, x_end, memory.end));
  }
  out +=
      "</svg>\n</div>\n<figcaption>Device memory in use under each allocator, and what the "
      "program had in tensors, over its operators.</figcaption></figure>\n";
}

void add_table(std::string& out, const Comparison& comparison) {
  out +=
      "<div class=\"wide\"><table><tr><th>allocator</th><th>peak allocated</th>"
      "<th>peak reserved</th><th>smallest capacity</th><th>driver time (modelled)</th>"
      "<th>exit</th></tr>\n";
  for (const ComparedRun& run : comparison.runs) {
    const auto bytes = [&](Bytes ComparedFigures::*amount) {
      return run.figures ? precise_bytes((*run.figures).*amount) : std::string("–");
    };
    fmt::format_to(std::back_inserter(out),
                   "<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                   escape_html(run.allocator), bytes(&ComparedFigures::peak_allocated),
                   bytes(&ComparedFigures::peak_reserved),
                   run.min_capacity ? precise_bytes(*run.min_capacity) : "–",
                   run.figures ? fmt::format("{:.3f} ms", run.figures->driver_ms) : "–", run.exit);
  }
  out += "</table></div>\n";
}

}  // namespace

std::string comparison_html(const Comparison& comparison) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>ferry compare: {0}</title>"
      "<style>{1}</style></head>\n<body><header><h1>{0}</h1><p class=\"soft\">On {2}, on Ferry's "
      "stand-in: sizes and calls are counted, times are modelled.</p></header>\n<section>\n",
      escape_html(program_line(comparison)), kReportStyle, escape_html(comparison.gpu));
  add_chart(out, comparison);
  add_table(out, comparison);
  for (const ComparedRun& run : comparison.runs) {
    if (run.error.empty()) continue;
    fmt::format_to(std::back_inserter(out), "<p class=\"error\">{}: {}</p>\n",
                   escape_html(run.allocator), escape_html(run.error));
  }
  return out + "</section></body></html>\n";
}

}  // namespace ferry::replay
