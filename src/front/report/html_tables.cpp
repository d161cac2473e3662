// SPDX-License-Identifier: Apache-2.0
#include "front/report/html_tables.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

#include "front/report/html_text.hpp"

namespace ferry::replay {

namespace {

constexpr std::string_view kNone = "–";

std::string badge(std::string_view text, bool good) {
  return fmt::format("<span class=\"badge {}\">{}</span>", good ? "good" : "bad", text);
}

std::string ratio_or_none(const std::optional<Bytes>& bytes, Bytes whole) {
  return bytes ? ratio_text(*bytes, whole) : std::string(kNone);
}

void add_memory_row(std::string& out, std::string_view name, const std::optional<Bytes>& bytes,
                    Bytes live) {
  if (!bytes) return;
  fmt::format_to(std::back_inserter(out),
                 "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n", name,
                 precise_bytes(*bytes), ratio_text(*bytes, live));
}

std::string memory_table(const DeviceResult& device) {
  std::string out =
      "<table><caption>Peak memory</caption>\n<thead><tr><td></td><th scope=\"col\">size</th>"
      "<th scope=\"col\">of peak live</th></tr></thead>\n<tbody>\n";
  const Bytes live = device.peak_live;
  add_memory_row(out, "Live, as requested", live, live);
  add_memory_row(out, "Held by Ferry", device.peak_reserved, live);
  add_memory_row(out, "the same, memory unlimited", device.unlimited_peak_reserved, live);
  add_memory_row(out, "PyTorch, as recorded", device.recorded_peak_reserved, live);
  add_memory_row(out, "Smallest capacity", device.min_capacity, live);
  add_memory_row(out, "Capacity of this run", device.capacity, live);
  return out + "</tbody></table>\n";
}

// One row of the table of calls: the cold pass and, where there are several, the last.
template <typename Figure>
void add_calls_row(std::string& out, std::string_view row_class, std::string_view name,
                   const DeviceResult& device, Figure figure) {
  fmt::format_to(std::back_inserter(out), "<tr class=\"{}\"><th scope=\"row\">{}</th><td>{}</td>",
                 row_class, name, figure(device.passes.front()));
  if (device.passes.size() > 1) {
    fmt::format_to(std::back_inserter(out), "<td>{}</td>", figure(device.passes.back()));
  }
  out += "</tr>\n";
}

std::string calls_table(const DeviceResult& device, const std::string& costs) {
  if (device.passes.empty()) return {};
  std::string out =
      "<table><caption>Driver calls</caption>\n<thead><tr><td></td><th scope=\"col\">cold "
      "pass</th>";
  if (device.passes.size() > 1) {
    fmt::format_to(std::back_inserter(out), "<th scope=\"col\">pass {}</th>",
                   grouped(device.passes.size()));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t kind = 0; kind < kDriverCallKinds; ++kind) {
    const auto calls = [&](const PassResult& pass) { return pass.calls.by_kind[kind].calls; };
    if (calls(device.passes.front()) == 0 && calls(device.passes.back()) == 0) continue;
    add_calls_row(out, "", name_of(static_cast<DriverCall>(kind)), device,
                  [&](const PassResult& pass) { return grouped(calls(pass)); });
  }
  add_calls_row(out, "total", "all driver calls", device,
                [](const PassResult& pass) { return grouped(pass.calls.total_calls()); });
  add_calls_row(out, "", "event calls", device,
                [](const PassResult& pass) { return grouped(pass.calls.event_calls); });
  add_calls_row(out, "", fmt::format("modelled cost ({})", escape_html(costs)), device,
                [](const PassResult& pass) { return fmt::format("{:.2f} ms", pass.driver_ms); });
  return out + "</tbody></table>\n";
}

void add_fact(std::string& out, std::string_view name, std::string_view figure) {
  fmt::format_to(std::back_inserter(out), "<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", name,
                 figure);
}

std::string nanoseconds(double value) {
  return fmt::format("{} ns", grouped(static_cast<std::uint64_t>(std::llround(value))));
}

std::string run_table(const DeviceResult& device) {
  std::string out = "<table><caption>Run</caption>\n<tbody>\n";
  add_fact(out, "Events", grouped(device.events));
  add_fact(out, "Passes completed", grouped(device.passes.size()));
  if (device.pair_ns_p50 > 0) {
    add_fact(out, "Ferry\u2019s code per allocate + free, median", nanoseconds(device.pair_ns_p50));
    add_fact(out, "the same, 99th percentile", nanoseconds(device.pair_ns_p99));
  }
  return out + "</tbody></table>\n";
}

void add_overview_row(std::string& out, const FileResult& file, std::size_t number) {
  fmt::format_to(std::back_inserter(out),
                 "<tr><td class=\"name\"><a href=\"#file-{}\"><bdi>{}</bdi></a></td><td "
                 "class=\"badges\">{}</td>",
                 number, escape_html(file.name), file_badge(file));
  const DeviceResult* device = worst_device_of(file);
  if (device == nullptr) {
    out += "<td colspan=\"7\"></td></tr>\n";
    return;
  }
  std::string cold(kNone);
  std::string last(kNone);
  if (!device->passes.empty()) cold = grouped(device->passes.front().calls.total_calls());
  if (device->passes.size() > 1) last = grouped(device->passes.back().calls.total_calls());
  fmt::format_to(std::back_inserter(out),
                 "<td>{}</td><td>{}</td><td><b>{}</b></td><td>{}</td><td>{}</td><td>{}</td>"
                 "<td>{}</td></tr>\n",
                 grouped(device->events), precise_bytes(device->peak_live),
                 ratio_text(device->peak_reserved, device->peak_live),
                 ratio_or_none(device->recorded_peak_reserved, device->peak_live),
                 ratio_or_none(device->min_capacity, device->peak_live), cold, last);
}

}  // namespace

const DeviceResult* worst_device_of(const FileResult& file) {
  return file.worst_device < file.devices.size() ? &file.devices[file.worst_device] : nullptr;
}

std::string device_badge(const DeviceResult& device) {
  if (device.completed) return badge("completed", true);
  return badge(device.out_of_memory ? "out of memory" : "failed", false);
}

std::string file_badge(const FileResult& file) {
  if (!file.error.empty()) return badge("not replayed", false);
  const DeviceResult* const device = worst_device_of(file);
  return device != nullptr ? device_badge(*device) : badge("not replayed", false);
}

std::string overview_table(const ReplayReport& report) {
  std::string out =
      "<section class=\"wide\"><table class=\"overview\"><caption>All files. What was held, and "
      "the smallest capacity, as multiples of peak live</caption>\n<thead><tr>"
      "<th scope=\"col\">file</th><th scope=\"col\" class=\"badges\">result</th><th "
      "scope=\"col\">events</th>"
      "<th scope=\"col\">peak live</th><th scope=\"col\">Ferry held</th>"
      "<th scope=\"col\">PyTorch held</th><th scope=\"col\">smallest capacity</th>"
      "<th scope=\"col\">calls, cold</th><th scope=\"col\">calls, "
      "last</th></tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < report.files.size(); ++i) {
    add_overview_row(out, report.files[i], i + 1);
  }
  return out + "</tbody></table></section>\n";
}

std::string device_tables(const DeviceResult& device, const std::string& costs) {
  return "<div class=\"tables\">\n" + memory_table(device) + calls_table(device, costs) +
         run_table(device) + "</div>\n";
}

}  // namespace ferry::replay
