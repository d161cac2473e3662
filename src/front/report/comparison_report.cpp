// SPDX-License-Identifier: Apache-2.0
#include "front/report/comparison_report.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "front/report/html_text.hpp"
#include "front/traces/messages.hpp"

namespace ferry::replay {

namespace {

using Json = nlohmann::ordered_json;

Json figure_or_null(const std::optional<ComparedFigures>& figures, auto&& figure) {
  return figures ? Json(figure(*figures)) : Json(nullptr);
}

Json run_json(const ComparedRun& run) {
  Json json;
  json["allocator"] = run.allocator;
  json["exit"] = run.exit;
  json["peak_allocated_bytes"] =
      figure_or_null(run.figures, [](const auto& figures) { return figures.peak_allocated.count; });
  json["peak_reserved_bytes"] =
      figure_or_null(run.figures, [](const auto& figures) { return figures.peak_reserved.count; });
  json["min_capacity_bytes"] = run.min_capacity ? Json(run.min_capacity->count) : Json(nullptr);
  json["driver_calls"] =
      run.figures ? Json(run.figures->driver_calls) : Json(Json::value_t::object);
  json["driver_ms"] =
      figure_or_null(run.figures, [](const auto& figures) { return figures.driver_ms; });
  if (!run.error.empty()) json["error"] = run.error;
  return json;
}

std::uint64_t all_calls(const ComparedFigures& figures) {
  std::uint64_t total = 0;
  for (const auto& [name, count] : figures.driver_calls) total += count;
  return total;
}

std::string plain_bytes(Bytes bytes) {
  return precise_bytes(bytes, " ");
}

std::string run_row(const ComparedRun& run) {
  std::string row = fmt::format("{:<17}", run.allocator);
  if (run.figures) {
    fmt::format_to(std::back_inserter(row), "{:>14}  {:>14}  {:>12}  {:>9.3f} ms",
                   plain_bytes(run.figures->peak_allocated),
                   plain_bytes(run.figures->peak_reserved), grouped(all_calls(*run.figures)),
                   run.figures->driver_ms);
  } else {
    fmt::format_to(std::back_inserter(row), "{:>14}  {:>14}  {:>12}  {:>12}", "-", "-", "-", "-");
  }
  fmt::format_to(std::back_inserter(row), "  {:>17}  {:>4}\n",
                 run.min_capacity ? plain_bytes(*run.min_capacity) : "-", run.exit);
  return row;
}

}  // namespace

std::string program_line(const Comparison& comparison) {
  std::string line;
  for (const std::string& word : comparison.program) line += (line.empty() ? "" : " ") + word;
  return printable(line);
}

std::string comparison_table(const Comparison& comparison) {
  std::string text = fmt::format("{}\non {}", program_line(comparison), comparison.gpu);
  if (comparison.capacity.count > 0)
    text += fmt::format(" with {} a device", plain_bytes(comparison.capacity));
  if (comparison.reserve.count > 0)
    text += fmt::format(", {} of it set aside", plain_bytes(comparison.reserve));
  text += ", on the stand-in: sizes and calls are counted, times are modelled\n\n";
  text += fmt::format("{:<17}{:>14}  {:>14}  {:>12}  {:>12}  {:>17}  {:>4}\n", "allocator",
                      "peak allocated", "peak reserved", "driver calls", "driver time",
                      "smallest capacity", "exit");
  for (const ComparedRun& run : comparison.runs) text += run_row(run);
  for (const ComparedRun& run : comparison.runs) {
    if (!run.error.empty()) text += fmt::format("\n{}: {}", run.allocator, printable(run.error));
    if (run.exit == 0 && !run.figures) {
      text += fmt::format("\n{}: the program used no CUDA through PyTorch, so nothing was counted",
                          run.allocator);
    }
  }
  return text + (text.ends_with('\n') ? "" : "\n");
}

std::string comparison_json(const Comparison& comparison) {
  Json json;
  json["program"] = comparison.program;
  json["gpu"] = comparison.gpu;
  json["capacity_bytes"] =
      comparison.capacity.count > 0 ? Json(comparison.capacity.count) : Json(nullptr);
  json["reserve_bytes"] = comparison.reserve.count;
  json["runs"] = Json::array();
  for (const ComparedRun& run : comparison.runs) json["runs"].push_back(run_json(run));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ferry::replay
