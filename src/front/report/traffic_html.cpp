// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "front/report/chart_frame.hpp"
#include "front/report/html_style.hpp"
#include "front/report/html_text.hpp"
#include "front/report/traffic_report.hpp"

namespace ferry::replay {

namespace {

using traffic::Copy;
using traffic::Way;

constexpr std::size_t kColumns = 250;             // of a strip
constexpr std::size_t kMostPoints = 1500;         // of a line
constexpr double kNarrowestName = 0.04;           // of the width, for a phase to bear its name
constexpr std::int64_t kMicrosecond = 1'000'000;  // in picoseconds

constexpr std::string_view kTrafficStyle = R"css(
.band { fill: var(--note-back); }
.band.step, .band.backward { fill: var(--grid); }
text.band { fill: var(--soft); text-anchor: middle; }
.up { fill: var(--ferry); stroke: var(--ferry); stroke-width: .6; }
.down { fill: var(--recorded); stroke: var(--recorded); stroke-width: .6; }
)css";

std::uint64_t microseconds(std::int64_t picoseconds) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(picoseconds, 0) / kMicrosecond);
}

std::uint64_t end_of(const traffic::Records& records) {
  std::uint64_t end = 1;
  for (const auto& sample : records.memory) end = std::max(end, microseconds(sample.at_ps));
  for (const Copy& copy : records.copies)
    end = std::max(end, microseconds(copy.end_ps.value_or(0)));
  return end;
}

std::vector<StepPoint> line_of(const traffic::Records& records,
                               Bytes traffic::MemorySample::*amount) {
  std::vector<StepPoint> points;
  for (const auto& sample : records.memory)
    points.push_back({microseconds(sample.at_ps), (sample.*amount).count});
  std::ranges::stable_sort(points, {}, &StepPoint::x);
  return thin_steps(points, kMostPoints);
}

std::string path_of(const std::vector<StepPoint>& points, double x_end, double y_end) {
  std::string path;
  for (const StepPoint& point : points) {
    const long x = std::lround(static_cast<double>(point.x) / x_end * kGrid);
    const long y = std::lround((1 - static_cast<double>(point.y) / y_end) * kGrid);
    path += path.empty() ? fmt::format("M{} {}", x, y) : fmt::format("H{}V{}", x, y);
  }
  if (!path.empty()) path += "H10000";
  return path;
}

// Behind the lines: when each phase was.
void add_phases(std::string& out, const traffic::Records& records, double x_end) {
  for (std::size_t i = 0; i < records.phases.size(); ++i) {
    const traffic::PhaseBegin& phase = records.phases[i];
    if (phase.name == "other") continue;
    const double begin = static_cast<double>(microseconds(phase.at_ps)) / x_end;
    const double end = i + 1 < records.phases.size()
                           ? static_cast<double>(microseconds(records.phases[i + 1].at_ps)) / x_end
                           : 1;
    fmt::format_to(std::back_inserter(out),
                   "<rect class=\"band {}\" x=\"{:.2f}%\" width=\"{:.2f}%\" height=\"100%\">"
                   "<title>{}, step {}</title></rect>\n",
                   phase.name == "step" || phase.name == "backward" ? phase.name : "", begin * 100,
                   std::max(end - begin, 0.0) * 100, escape_html(phase.name), phase.step);
    if (end - begin >= kNarrowestName) {
      fmt::format_to(std::back_inserter(out),
                     "<text class=\"band\" x=\"{:.2f}%\" y=\"-8\">{}</text>\n", (begin + end) * 50,
                     escape_html(phase.name));
    }
  }
}

void add_memory(std::string& out, const traffic::Records& records, const Axis& along) {
  const auto in_use = line_of(records, &traffic::MemorySample::in_use);
  const auto allocated = line_of(records, &traffic::MemorySample::allocated);
  std::uint64_t most = 1;
  for (const auto& points : {in_use, allocated}) {
    for (const StepPoint& point : points) most = std::max(most, point.y);
  }
  const Axis memory = byte_axis(Bytes{most});
  out +=
      "<ul class=\"legend\"><li><svg width=\"26\" height=\"10\"><rect class=\"live\" width=\"26\" "
      "height=\"10\"/></svg>in tensors</li><li><svg width=\"26\" height=\"10\"><path "
      "class=\"ferry\" d=\"M0 5H26\"/></svg>of the device in use</li></ul>\n<div class=\"plot\">\n"
      "<svg>\n";
  add_phases(out, records, along.end);
  out += "</svg>\n";
  add_axes(out, memory, along);
  out +=
      "<svg viewBox=\"0 0 10000 10000\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"Device memory over time\">\n";
  fmt::format_to(std::back_inserter(out),
                 "<path class=\"live\" d=\"{}V10000H0z\"/>\n<path class=\"ferry\" d=\"{}\"/>\n",
                 path_of(allocated, along.end, memory.end), path_of(in_use, along.end, memory.end));
  out += "</svg>\n</div>\n";
}

void add_strip(std::string& out, const traffic::Records& records, Way way, double x_end,
               std::string_view style) {
  std::vector<StepPoint> points;
  for (const Copy& copy : records.copies) {
    if (copy.way == way && copy.end_ps)
      points.push_back({microseconds(*copy.end_ps), copy.bytes.count});
  }
  const auto sums = column_sums(points, static_cast<std::uint64_t>(x_end), kColumns);
  const std::uint64_t most = std::max<std::uint64_t>(*std::ranges::max_element(sums), 1);
  const long width = std::lround(kGrid / kColumns);
  std::string path;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] == 0) continue;
    const long height = std::max(
        std::lround(static_cast<double>(sums[i]) / static_cast<double>(most) * kGrid), 200L);
    fmt::format_to(std::back_inserter(path), "M{0} 10000v-{1}h{2}v{1}z",
                   static_cast<long>(i) * width, height, width);
  }
  fmt::format_to(std::back_inserter(out),
                 "<svg class=\"strip\" role=\"img\" aria-label=\"Bytes {0} over time\">"
                 "<text class=\"strip-name\" x=\"-8\" y=\"50%\" dy=\".35em\">{0}</text>"
                 "<svg width=\"100%\" height=\"100%\" viewBox=\"0 0 10000 10000\" "
                 "preserveAspectRatio=\"none\"><path class=\"{1}\" d=\"{2}\"/></svg></svg>\n",
                 words_for(way), style, path);
}

void add_table(std::string& out, const ProcessTraffic& process) {
  out +=
      "<div class=\"wide\"><table><tr><th>phase</th><th>copies</th><th>bytes</th>"
      "<th>B a parameter</th><th>calls</th><th>&lt; 64 KiB</th><th>pageable</th>"
      "<th>waits of the phase</th></tr>\n";
  for (const traffic::PhaseAccount& phase : process.step().phases) {
    for (std::size_t way = 0; way < traffic::kWays; ++way) {
      const traffic::Amount& amount = phase.ways[way];
      if (amount.calls == 0) continue;
      fmt::format_to(std::back_inserter(out),
                     "<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
                     "<td>{}</td><td>{}</td></tr>\n",
                     escape_html(phase.name), words_for(static_cast<Way>(way)),
                     precise_bytes(amount.bytes), by_parameter(amount.bytes, process.parameters),
                     grouped(amount.calls), grouped(amount.small_calls),
                     precise_bytes(amount.pageable_bytes), grouped(phase.waits));
    }
  }
  out += "</table></div>\n";
}

void add_process(std::string& out, const ProcessTraffic& process, bool with_values) {
  const Axis along = count_axis(end_of(process.records));
  fmt::format_to(std::back_inserter(out), "<section><h2>Process {}: step {} of {}</h2>\n<figure>\n",
                 process.process, process.step().step, process.steps.size());
  add_memory(out, process.records, along);
  add_strip(out, process.records, Way::to_device, along.end, "up");
  add_strip(out, process.records, Way::to_host, along.end, "down");
  out +=
      "<figcaption>Over microseconds of modelled time, in which kernels take none. A bar is the "
      "bytes of the copies that ended in its stretch, against the highest.</figcaption></figure>\n";
  add_table(out, process);
  out += "<ul class=\"notes\">\n";
  for (const std::string& sentence : finding_sentences(process, with_values))
    out += "<li>" + escape_html(sentence) + "</li>\n";
  out += "</ul></section>\n";
}

}  // namespace

std::string traffic_html(const TrafficReport& report) {
  std::string program;
  for (const std::string& word : report.program) program += (program.empty() ? "" : " ") + word;
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>traffic: {0}</title>"
      "<style>{1}{2}</style></head>\n<body><header><h1>{0}</h1><p class=\"soft\">Copies on {3}, "
      "on Ferry's stand-in: bytes and calls are counted, times are modelled.</p></header>\n",
      escape_html(program), kReportStyle, kTrafficStyle,
      report.gpu.empty() ? "no machine in particular" : escape_html(report.gpu));
  for (const ProcessTraffic& process : report.processes)
    add_process(out, process, report.with_values);
  if (report.processes.empty()) out += "<p>No process copied anything.</p>\n";
  return out + "</body></html>\n";
}

}  // namespace ferry::replay
