// SPDX-License-Identifier: Apache-2.0
#include "front/report/report_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "front/report/html_text.hpp"
#include "front/report/report_words.hpp"
#include "front/traces/messages.hpp"
#include "front/traces/trace.hpp"

namespace ferry::replay {

namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kLabelWidth = 24;  // with the margin before it

void add_line(std::string& out, std::string_view label, std::string_view text) {
  fmt::format_to(std::back_inserter(out), "  {:<{}}{}\n", label, kLabelWidth - 2,
                 wrap(text, kLabelWidth, kWidth));
}

// "   5.312 GiB   1.004 x live"
std::string amount(Bytes bytes, Bytes live) {
  std::string text = fmt::format("{:>12}", precise_bytes(bytes, " "));
  if (live != Bytes{}) {
    text += fmt::format("   {:.3f} x live",
                        static_cast<double>(bytes.count) / static_cast<double>(live.count));
  }
  return text;
}

std::string describe(const PassResult& pass) {
  std::string text;
  for (std::size_t i = 0; i < kDriverCallKinds; ++i) {
    const auto call = static_cast<DriverCall>(i);
    if (pass.calls[call].calls == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", pass.calls[call].calls, name_of(call));
  }
  if (text.empty()) {
    text = "none";
  } else {
    text = fmt::format("{} calls, {:.3f} ms: {}", pass.calls.total_calls(), pass.driver_ms, text);
  }
  if (pass.calls.event_calls != 0) text += fmt::format("; {} event calls", pass.calls.event_calls);
  return text;
}

void add_passes(std::string& out, const DeviceResult& device) {
  if (device.passes.empty()) return;
  add_line(out, "driver, cold pass", describe(device.passes.front()));
  if (device.passes.size() > 1) {
    add_line(out, fmt::format("driver, pass {}", device.passes.size()),
             describe(device.passes.back()));
  }
}

// The error's own lines, each with a margin: an out-of-memory report has several.
void add_error(std::string& out, const DeviceResult& device) {
  add_line(out, "did not complete",
           device.out_of_memory ? "out of memory" : "a check failed, or the driver did");
  std::string_view rest = device.error;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const std::size_t indent = 4 + std::min(line.find_first_not_of(' '), line.size());
    fmt::format_to(std::back_inserter(out), "    {}\n", wrap(line, indent, kWidth));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
}

void add_device(std::string& out, const DeviceResult& device) {
  add_line(out, "peak live", amount(device.peak_live, Bytes{}));
  add_line(out, "recorded reserved",
           device.recorded_peak_reserved ? amount(*device.recorded_peak_reserved, device.peak_live)
                                         : "not in the file");
  if (device.unlimited_peak_reserved) {
    add_line(out, "Ferry, unlimited", amount(*device.unlimited_peak_reserved, device.peak_live));
  }
  if (device.min_capacity) {
    add_line(out, "smallest capacity", amount(*device.min_capacity, device.peak_live));
  } else if (device.capacity) {
    add_line(out, "capacity given", amount(*device.capacity, device.peak_live));
  }
  add_line(out, "Ferry's reserved", amount(device.peak_reserved, device.peak_live));
  add_passes(out, device);
  if (device.pair_ns_p50 > 0) {
    add_line(out, "allocate and free",
             fmt::format("{:.0f} ns median, {:.0f} ns p99 of Ferry's own code", device.pair_ns_p50,
                         device.pair_ns_p99));
  }
  if (!device.completed) add_error(out, device);
}

void add_notes(std::string& out, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    fmt::format_to(std::back_inserter(out), "  note: {}\n", wrap(printable(note), 8, kWidth));
  }
  if (!notes.empty()) out += '\n';
}

void add_file(std::string& out, const FileResult& file) {
  if (file.devices.empty()) {
    fmt::format_to(std::back_inserter(out), "{}: not replayed\n\n", printable(file.name));
    return;
  }
  for (const DeviceResult& device : file.devices) {
    std::string title = printable(file.name);
    if (file.devices.size() > 1) title += ", " + device_name(device.device);
    fmt::format_to(std::back_inserter(out), "{}: {}, {} events\n", title, file.format,
                   device.events);
    add_device(out, device);
    out += '\n';
  }
  add_notes(out, file.notes);
}

}  // namespace

std::string wrap(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    // A word with the spaces before it: they are kept within a line, so that columns stay aligned.
    const std::size_t start = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find(' ', start), text.size());
    if (column + end > width && column > indent) {
      out += fmt::format("\n{:{}}{}", "", indent, text.substr(start, end - start));
      column = indent + end - start;
    } else {
      out += text.substr(0, end);
      column += end;
    }
    text.remove_prefix(end);
  }
  return out;
}

std::string render_table(const ReplayReport& report) {
  std::string out;
  for (const FileResult& file : report.files) add_file(out, file);
  add_notes(out, report.notes);
  if (report.anything_replayed()) {
    out += wrap(setting_sentence(report) + " " + explanation(report), 0, kWidth) + "\n";
  }
  return out;
}

}  // namespace ferry::replay
