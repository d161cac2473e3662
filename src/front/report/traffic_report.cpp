// SPDX-License-Identifier: Apache-2.0
#include "front/report/traffic_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "front/report/html_text.hpp"
#include "front/traces/messages.hpp"

namespace ferry::replay {

namespace {

using traffic::Amount;
using traffic::PhaseAccount;
using traffic::Repeated;
using traffic::Way;

constexpr std::size_t kMostCallers = 12;  // of one table
constexpr std::size_t kMostRoutes = 5;

std::string plain_bytes(Bytes bytes) {
  return precise_bytes(bytes, " ");
}

std::string amount_row(const std::string& phase, Way way, const Amount& amount,
                       std::uint64_t parameters) {
  return fmt::format("{:<16} {:<15} {:>12} {:>8} {:>8} {:>8} {:>12} {:>8}\n", phase, words_for(way),
                     plain_bytes(amount.bytes), by_parameter(amount.bytes, parameters),
                     grouped(amount.calls), grouped(amount.small_calls),
                     plain_bytes(amount.pageable_bytes), grouped(amount.blocking_calls));
}

void add_phases(std::string& text, const ProcessTraffic& process) {
  text += fmt::format("{:<16} {:<15} {:>12} {:>8} {:>8} {:>8} {:>12} {:>8}\n", "phase", "copies",
                      "bytes", "B/param", "calls", "<64 KiB", "pageable", "blocking");
  for (const PhaseAccount& phase : process.step().phases) {
    std::string name = printable(phase.name);
    for (std::size_t way = 0; way < traffic::kWays; ++way) {
      if (phase.ways[way].calls == 0) continue;
      text += amount_row(name, static_cast<Way>(way), phase.ways[way], process.parameters);
      name.clear();
    }
    if (phase.waits > 0)
      text += fmt::format("{:<16} waits: {}\n", name, grouped(phase.waits));
    else if (!name.empty())
      text += fmt::format("{:<16} nothing\n", name);
  }
}

void add_callers(std::string& text, const ProcessTraffic& process) {
  struct Row {
    Bytes bytes;
    std::string text;
  };
  std::vector<Row> rows;
  for (const PhaseAccount& phase : process.step().phases) {
    for (const traffic::CallerAmount& caller : phase.callers) {
      rows.push_back(
          {caller.amount.bytes,
           fmt::format("{:>12} {:>8} {:>8}  {}, {}: {}\n", plain_bytes(caller.amount.bytes),
                       by_parameter(caller.amount.bytes, process.parameters),
                       grouped(caller.amount.calls), printable(phase.name), words_for(caller.way),
                       printable(words_for(caller.caller)))});
    }
  }
  if (rows.empty()) return;
  std::ranges::stable_sort(rows, std::ranges::greater(), &Row::bytes);
  text += fmt::format("\n{:>12} {:>8} {:>8}  who asked for it\n", "bytes", "B/param", "calls");
  for (std::size_t i = 0; i < std::min(rows.size(), kMostCallers); ++i) text += rows[i].text;
  if (rows.size() > kMostCallers)
    text += fmt::format("{:>31}  and {} more\n", "", rows.size() - kMostCallers);
}

void add_waits(std::string& text, const ProcessTraffic& process) {
  std::vector<std::pair<std::uint64_t, std::string>> rows;
  for (const PhaseAccount& phase : process.step().phases) {
    for (const traffic::WaitAmount& wait : phase.wait_callers) {
      rows.emplace_back(
          wait.calls, fmt::format("{:>8}  {}, {}: {}\n", grouped(wait.calls), printable(phase.name),
                                  wait.call, printable(words_for(wait.caller))));
    }
  }
  if (rows.empty()) return;
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const auto& row) { return row.first; });
  text += "\n   waits  who waited for the device\n";
  for (std::size_t i = 0; i < std::min(rows.size(), kMostCallers); ++i) text += rows[i].second;
  if (rows.size() > kMostCallers)
    text += fmt::format("{:>8}  and {} more\n", "", rows.size() - kMostCallers);
}

void add_process(std::string& text, const ProcessTraffic& process, bool with_values) {
  const traffic::StepAccount& step = process.step();
  text += fmt::format(
      "\nProcess {}: {}; step {} of {}{}{}\n\n", process.process,
      process.parameters == 0 ? "the number of parameters is not known"
                              : grouped(process.parameters) + " parameters",
      step.step, process.steps.size(),
      step.micro_steps > 1 ? fmt::format(", of {} micro-steps", step.micro_steps) : "",
      process.records.complete ? "" : "; it did not come to its end, so the record has gaps");
  add_phases(text, process);
  add_callers(text, process);
  add_waits(text, process);
  text += "\n";
  for (const std::string& sentence : finding_sentences(process, with_values))
    text += "- " + printable(sentence) + "\n";
}

// "backward to host at a.py:3, backward to device at b.py:4".
std::string route_words(const Repeated& route) {
  std::string words;
  for (const traffic::Stop& stop : route.stops) {
    fmt::format_to(std::back_inserter(words), "{}{} {}{} by {}", words.empty() ? "" : ", then ",
                   stop.phase, words_for(stop.way), stop.widened ? " as 32-bit words" : "",
                   words_for(stop.caller));
  }
  return words;
}

std::string amount_words(Bytes bytes, std::uint64_t parameters) {
  if (parameters == 0) return plain_bytes(bytes);
  return fmt::format("{} ({} B a parameter)", plain_bytes(bytes), by_parameter(bytes, parameters));
}

}  // namespace

ProcessTraffic process_traffic(std::uint64_t process, traffic::Records records,
                               traffic::PhasesBy by, std::uint64_t parameters) {
  ProcessTraffic result;
  result.process = process;
  result.parameters = parameters > 0 ? parameters : records.parameters;
  result.records = std::move(records);
  result.steps = traffic::add_up(result.records, by);
  result.findings = traffic::look_for_waste(result.records, result.step().step);
  return result;
}

std::string words_for(Way way) {
  std::string words(traffic::kWayNames[static_cast<std::size_t>(way)]);
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string words_for(const traffic::Caller& caller) {
  if (caller.operation.empty()) return caller.place.empty() ? "an unknown place" : caller.place;
  return caller.place.empty() ? caller.operation
                              : fmt::format("{} ({})", caller.operation, caller.place);
}

std::string by_parameter(Bytes bytes, std::uint64_t parameters) {
  if (parameters == 0) return "-";
  return fmt::format("{:.3f}", static_cast<double>(bytes.count) / static_cast<double>(parameters));
}

std::vector<std::string> finding_sentences(const ProcessTraffic& process, bool with_values) {
  const traffic::Findings& found = process.findings;
  const std::uint64_t parameters = process.parameters;
  std::vector<std::string> sentences;
  for (const traffic::Accumulated& sum : found.accumulated) {
    sentences.push_back(fmt::format(
        "Gradients cross the link in each of {} micro-steps: {} in all. Summed on the GPU and sent "
        "once they are {}.",
        sum.micro_steps, amount_words(sum.moved, parameters),
        amount_words(sum.needed, parameters)));
  }
  for (std::size_t i = 0; i < std::min(found.repeated.size(), kMostRoutes); ++i) {
    const Repeated& route = found.repeated[i];
    sentences.push_back(fmt::format(
        "The same bytes crossed the link {} times ({} contents): {} where {} do. They went {}.",
        route.stops.size(), grouped(route.contents), amount_words(route.moved, parameters),
        amount_words(route.needed, parameters), route_words(route)));
  }
  for (std::size_t i = 0; i < std::min(found.widened.size(), kMostRoutes); ++i) {
    const traffic::Widened& wide = found.widened[i];
    sentences.push_back(fmt::format(
        "16-bit floats were sent as 32-bit words, the lower half of each empty: {}, half of it for "
        "nothing ({}, {}, {} by {}). Send 16 bits and widen them on the other side.",
        amount_words(wide.moved, parameters), wide.phase, words_for(wide.way),
        counted(wide.copies, "copy", "copies"), words_for(wide.caller)));
  }
  if (!with_values) {
    sentences.emplace_back(
        "Contents were not compared, as kernels did not run: with --values cpu, bytes that cross "
        "the link twice are named.");
  } else if (sentences.empty() && found.has_contents) {
    sentences.emplace_back("No bytes crossed the link twice in this step.");
  }
  return sentences;
}

std::string traffic_table(const TrafficReport& report) {
  std::string text = "\n";
  for (const std::string& word : report.program)
    text += (text == "\n" ? "" : " ") + printable(word);
  text += fmt::format("\non {}, on the stand-in: bytes and calls are counted\n",
                      report.gpu.empty() ? "no machine in particular" : report.gpu);
  if (report.processes.empty()) text += "No process copied anything.\n";
  for (const ProcessTraffic& process : report.processes)
    add_process(text, process, report.with_values);
  return text;
}

}  // namespace ferry::replay
