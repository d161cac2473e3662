// SPDX-License-Identifier: Apache-2.0
#include "front/cli/traffic_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "front/cli/child_process.hpp"
#include "front/cli/cli.hpp"
#include "front/report/output_file.hpp"
#include "front/report/traffic_report.hpp"

namespace ferry::cli {

namespace {

using replay::ProcessTraffic;
using replay::TrafficReport;

// An interrupt is meant for the program: what it did until then is shown all the same.
class LeaveInterruptsToChild {
 public:
  LeaveInterruptsToChild() {
    for (std::size_t i = 0; i < 2; ++i) before_[i] = std::signal(kSignals[i], SIG_IGN);
  }
  ~LeaveInterruptsToChild() {
    for (std::size_t i = 0; i < 2; ++i) std::signal(kSignals[i], before_[i]);
  }
  LeaveInterruptsToChild(const LeaveInterruptsToChild&) = delete;
  LeaveInterruptsToChild& operator=(const LeaveInterruptsToChild&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGQUIT};
  void (*before_[2])(int) = {};
};

std::string trouble_with_files(const TrafficOptions& options) {
  for (const std::string& file : {options.json, options.html}) {
    if (file.empty()) continue;
    if (const std::string trouble = replay::write_trouble(file); !trouble.empty())
      return file + ": " + trouble;
  }
  return "";
}

std::string profile_of(const StandInProgram& program) {
  for (const auto& [key, value] : program.machine) {
    if (std::string_view(key) == "profile") return value;
  }
  const char* const there = std::getenv("FERRY_SIM");
  const std::string settings = program.settings.value_or(there == nullptr ? "" : there);
  const std::size_t at = (";" + settings).find(";profile=");
  if (at == std::string::npos) return "";
  const std::string value = settings.substr(at + std::strlen("profile="));
  return value.substr(0, value.find(';'));
}

std::vector<ProcessTraffic> read_processes(const std::string& folder,
                                           const TrafficOptions& options) {
  std::vector<ProcessTraffic> processes;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    traffic::Records records = traffic::read_records(file);
    if (records.copies.empty()) continue;
    const std::uint64_t number = std::strtoull(entry.path().stem().c_str(), nullptr, 10);
    processes.push_back(
        replay::process_traffic(number, std::move(records), options.phases_by, options.parameters));
  }
  std::ranges::sort(processes, {}, &ProcessTraffic::process);
  return processes;
}

std::string write_results(const TrafficReport& report, const TrafficOptions& options) {
  if (const std::string trouble = replay::write_stream(stderr, traffic_table(report));
      !trouble.empty())
    return "the standard error: " + trouble;
  if (!options.json.empty()) {
    const std::string trouble = replay::write_file(options.json, traffic_json(report));
    if (!trouble.empty()) return options.json + ": " + trouble;
  }
  if (!options.html.empty()) {
    const std::string trouble = replay::write_file(options.html, traffic_html(report));
    if (!trouble.empty()) return options.html + ": " + trouble;
  }
  return "";
}

}  // namespace

int run_with_traffic(StandInProgram program, const TrafficOptions& options) {
  if (const std::string trouble = trouble_with_files(options); !trouble.empty())
    return fail(kExitFailure, trouble);
  const ScratchFolder folder;
  if (folder.path().empty()) {
    return fail(kExitFailure,
                fmt::format("no folder for scratch files can be made: {}.", std::strerror(errno)));
  }
  program.traffic_folder = folder.path();
  const pid_t child = fork();
  if (child < 0)
    return fail(kExitFailure, fmt::format("no process can be made: {}.", std::strerror(errno)));
  if (child == 0) _exit(exec_on_stand_in(program));
  int status = 0;
  {
    const LeaveInterruptsToChild interrupts;
    status = status_of(child);
  }
  TrafficReport report{program.program, profile_of(program), program.values == "cpu",
                       read_processes(folder.path(), options)};
  if (report.processes.empty() && (status == 126 || status == 127 || status == kExitUsage))
    return status;  // it did not even begin, and has said so
  if (const std::string trouble = write_results(report, options); !trouble.empty())
    return fail(kExitFailure, trouble);
  return status;
}

}  // namespace ferry::cli
