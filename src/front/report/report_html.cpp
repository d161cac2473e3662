// SPDX-License-Identifier: Apache-2.0
#include "front/report/report_html.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <string_view>
#include <vector>

#include "front/report/html_style.hpp"
#include "front/report/html_tables.hpp"
#include "front/report/html_text.hpp"
#include "front/report/memory_chart.hpp"
#include "front/report/report_words.hpp"
#include "front/traces/trace.hpp"

namespace ferry::replay {

namespace {

void add_error(std::string& out, std::string_view error) {
  // A report of several lines keeps its columns; a sentence may wrap.
  const std::string_view element = error.find('\n') == std::string_view::npos ? "p" : "pre";
  fmt::format_to(std::back_inserter(out), "<{0} class=\"error\">{1}</{0}>\n", element,
                 escape_html(error));
}

void add_notes(std::string& out, const std::vector<std::string>& notes) {
  if (notes.empty()) return;
  out += "<ul class=\"notes\">\n";
  for (const std::string& note : notes) {
    fmt::format_to(std::back_inserter(out), "<li>{}</li>\n", escape_html(note));
  }
  out += "</ul>\n";
}

void add_device(std::string& out, const ReplayReport& report, const FileResult& file,
                const DeviceResult& device, std::string_view id) {
  const std::string sentence = result_sentence(device);
  const std::string details = detail_sentences(device, report.costs);
  if (file.devices.size() > 1) {
    fmt::format_to(std::back_inserter(out), "<h3>On {} {}</h3>\n", device_name(device.device),
                   device_badge(device));
  }
  fmt::format_to(std::back_inserter(out), "<p class=\"result\">{}</p>\n", escape_html(sentence));
  if (!details.empty()) {
    fmt::format_to(std::back_inserter(out), "<p class=\"details\">{}</p>\n", escape_html(details));
  }
  if (!device.error.empty()) add_error(out, device.error);
  if (device.timeline.empty()) {
    out += "<p class=\"soft\">There is no memory over time to draw.</p>\n";
  } else {
    const std::string title =
        fmt::format("Memory of {} over the events of {}", device_name(device.device), file.name);
    out += memory_chart(device, id, title, sentence + " " + details);
  }
  out += device_tables(device, report.costs);
}

std::string subtitle(const FileResult& file) {
  std::string text = file.format;
  if (file.devices.size() == 1) {
    text += fmt::format(", {}, {}", device_name(file.devices[0].device),
                        counted(file.devices[0].events, "event"));
  } else if (const DeviceResult* worst = worst_device_of(file)) {
    text += fmt::format(", {}; {} {}", counted(file.devices.size(), "device"),
                        worst->completed ? "the worst ratio is that of" : "what failed is",
                        device_name(worst->device));
  }
  return text;
}

void add_file(std::string& out, const ReplayReport& report, std::size_t index) {
  const FileResult& file = report.files[index];
  fmt::format_to(std::back_inserter(out),
                 "<section id=\"file-{}\">\n<div class=\"head\"><h2><bdi>{}</bdi></h2>{}</div>\n"
                 "<p class=\"soft\">{}</p>\n",
                 index + 1, escape_html(file.name), file_badge(file), escape_html(subtitle(file)));
  if (!file.error.empty()) {
    add_error(out, fmt::format("The file could not be replayed: {}", file.error));
  }
  for (std::size_t i = 0; i < file.devices.size(); ++i) {
    add_device(out, report, file, file.devices[i], fmt::format("chart-{}-{}", index + 1, i + 1));
  }
  add_notes(out, file.notes);
  out += "</section>\n";
}

}  // namespace

std::string render_html(const ReplayReport& report) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Ferry replay</title>\n<style>";
  out += kReportStyle;
  fmt::format_to(std::back_inserter(out),
                 "</style>\n</head>\n<body>\n<header><h1>Ferry replay</h1>\n"
                 "<p class=\"soft\">{}</p></header>\n<main>\n",
                 escape_html(setting_sentence(report)));
  if (!report.error.empty()) {
    add_error(out, fmt::format("Nothing was replayed: {}", report.error));
  }
  add_notes(out, report.notes);
  if (report.files.empty()) out += "<section><p>No file was replayed.</p></section>\n";
  if (report.files.size() > 1) out += overview_table(report);
  for (std::size_t i = 0; i < report.files.size(); ++i) add_file(out, report, i);
  fmt::format_to(
      std::back_inserter(out),
      "</main>\n<footer><p>Live memory counts the bytes that were requested; held memory "
      "is what was taken from the driver. {} Event record, query and wait are event calls and "
      "count as no driver call.</p></footer>\n</body>\n</html>\n",
      escape_html(explanation(report)));
  return out;
}

}  // namespace ferry::replay
