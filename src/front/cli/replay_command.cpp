// SPDX-License-Identifier: Apache-2.0
#include "front/cli/replay_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "front/cli/cli.hpp"
#include "front/cli/replay_plan.hpp"
#include "front/cli/trace_selection.hpp"
#include "front/replay/replay_session.hpp"
#include "front/report/output_file.hpp"
#include "front/report/report_html.hpp"
#include "front/report/report_json.hpp"
#include "front/report/report_table.hpp"
#include "front/traces/messages.hpp"

namespace ferry::cli {

namespace {

using replay::FileResult;
using replay::ReplayReport;
using replay::SessionOptions;

// One line on a terminal that tells what is being done, several times a second.
class ProgressLine {
 public:
  void show(const std::string& text) {
    const auto now = std::chrono::steady_clock::now();
    if (shown_ && now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    shown_ = true;
    fmt::print(stderr, "\r\x1b[K{:.90}", replay::printable(text));
    std::fflush(stderr);
  }
  void clear() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
    shown_ = false;
  }

 private:
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

// Describes the driver in the report. A sentence where the command line asks it for what it lacks.
std::string describe_driver(const Driver& driver, const ReplayArguments& arguments,
                            const ReplayPlan& plan, ReplayReport& report) {
  if (driver.is_stand_in()) {
    report.driver = "stand-in (modelled)";
    report.schedule = plan.stand_in.schedule;
    report.seed = plan.stand_in.seed;
    return "";
  }
  report.driver = "CUDA " + format_cuda_version(driver.version());
  return arguments.schedule || arguments.seed
             ? "--schedule and --seed are for the stand-in: a real device orders its work itself."
             : "";
}

void replay_files(const Driver& driver, const ReplayArguments& arguments, const ReplayPlan& plan,
                  const std::vector<SelectedFile>& files, ReplayReport& report) {
  ProgressLine line;
  SessionOptions options{.costs = plan.costs,
                         .capacity = plan.capacity,
                         .passes = arguments.repeat,
                         .audit_every = arguments.audit_every,
                         .stand_in = plan.stand_in.text,
                         .marks = !driver.is_stand_in() || plan.stand_in.holds_data};
  if (!options.marks) {
    report.notes.emplace_back(
        "The stand-in was set to hold no data (data=none), so no marks were written into the "
        "blocks: memory handed out too early would not be seen.");
  }
  if (isatty(STDERR_FILENO) != 0) {
    options.progress = [&line](const std::string& text) { line.show(text); };
  }
  const replay::ReplaySession session(driver, std::move(options));
  for (const SelectedFile& selected : files) {
    FileResult file = session.replay_file(selected.path);
    if (file.nothing_to_replay && !selected.named) {
      report.notes.push_back(fmt::format("Left out: {}.", file.error));
    } else {
      report.files.push_back(std::move(file));
    }
  }
  line.clear();
  if (report.files.empty()) report.error = "no trace was found in the folder.";
}

void explain(const ReplayReport& report) {
  if (!report.error.empty()) static_cast<void>(fail(kExitUsage, report.error));
  for (const FileResult& file : report.files) {
    if (!file.error.empty()) static_cast<void>(fail(kExitUsage, file.error));
    for (const replay::DeviceResult& device : file.devices) {
      if (device.completed) continue;
      const std::string cause = device.error.substr(0, device.error.find('\n'));
      static_cast<void>(
          fail(kExitFailure, fmt::format("{}: {}{}", file.path,
                                         device.out_of_memory ? "out of memory: " : "", cause)));
    }
  }
}

int print(const std::string& text, int exit_code) {
  const std::string trouble = replay::write_stream(stdout, text);
  return trouble.empty() ? exit_code : fail(kExitFailure, "the standard output: " + trouble);
}

// Puts the results where they are wanted; `exit_code`, or failure where that was not possible. The
// page comes first, so that the rest can tell whether it could be written.
int deliver(ReplayReport report, const ReplayArguments& arguments, int exit_code) {
  if (!arguments.html.empty()) {
    const std::string trouble = replay::write_file(arguments.html, replay::render_html(report));
    if (!trouble.empty()) {
      report.error = fmt::format("--html: {}: {}", arguments.html, trouble);
      exit_code = fail(kExitFailure, report.error);
    }
  }
  return print(arguments.json ? replay::render_json(report) : replay::render_table(report),
               exit_code);
}

// Nothing could be replayed; programs are told in their own language too.
int give_up(ReplayReport report, const ReplayArguments& arguments, int exit_code,
            std::string error) {
  const int code = fail(exit_code, error);
  for (const std::string& path : arguments.paths) {
    FileResult& file = report.files.emplace_back();
    file.name = replay::file_name(path);
    file.path = path;
    file.error = error;
  }
  report.error = std::move(error);
  return arguments.json ? print(replay::render_json(report), code) : code;
}

// Whether a file would be lost to the page. "", or a sentence.
std::string overwritten_by(const std::string& html, const std::vector<SelectedFile>& files) {
  std::error_code error;
  for (const SelectedFile& file : files) {
    if (std::filesystem::equivalent(html, file.path, error)) {
      return fmt::format("--html: {} is one of the traces; the page needs a name of its own.",
                         html);
    }
  }
  if (!std::filesystem::is_regular_file(html, error)) return "";
  constexpr std::string_view kPage = "<!DOCTYPE";
  std::string begins(kPage.size(), '\0');
  std::ifstream file(html, std::ios::binary);
  file.read(begins.data(), static_cast<std::streamsize>(begins.size()));
  if (file.gcount() == 0 || begins == kPage) return "";
  return fmt::format("--html: {} exists and is no page; remove it, or give another name.", html);
}

// Whether the page can be written, asked before anything is replayed. "", or a sentence.
std::string page_trouble(const std::string& html) {
  if (html.empty()) return "";
  const std::string trouble = replay::write_trouble(html);
  return trouble.empty() ? "" : fmt::format("--html: {}: {}", html, trouble);
}

int run_replay(const ReplayArguments& arguments) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has seen enough is a failed write, not the end
  if (arguments.costs == "list") {
    return print(
        arguments.json ? replay::render_cost_tables_json() : replay::describe_cost_tables(),
        kExitOk);
  }
  ReplayReport report;
  report.costs = arguments.costs;
  const Result<std::vector<SelectedFile>, std::string> files = select_traces(arguments.paths);
  if (!files) return give_up(std::move(report), arguments, kExitUsage, files.error());
  const Result<ReplayPlan, std::string> plan = make_plan(arguments);
  if (!plan) return give_up(std::move(report), arguments, kExitUsage, plan.error());
  if (std::string trouble = overwritten_by(arguments.html, *files); !trouble.empty()) {
    return give_up(std::move(report), arguments, kExitUsage, std::move(trouble));
  }
  if (std::string trouble = page_trouble(arguments.html); !trouble.empty()) {
    return give_up(std::move(report), arguments, kExitFailure, std::move(trouble));
  }
  // Devices are numbered for the replay, not for other programs; none may be hidden from it.
  if (plan->driver.kind == DriverChoice::Kind::sim) unsetenv("CUDA_VISIBLE_DEVICES");
  const Result<const Driver*, StartError> driver = start_driver(plan->driver);
  if (!driver) {
    return give_up(std::move(report), arguments, kExitFailure, driver.error().message);
  }
  const std::string trouble = describe_driver(**driver, arguments, *plan, report);
  if (!trouble.empty()) return give_up(std::move(report), arguments, kExitUsage, trouble);
  replay_files(**driver, arguments, *plan, *files, report);
  explain(report);
  const int exit_code = replay_exit_code(report);
  return deliver(std::move(report), arguments, exit_code);
}

constexpr const char* kFooter =
    R"(FILE is a PyTorch memory snapshot (torch.cuda.memory._dump_snapshot), an RMM log (CSV), or a
Kineto/PyTorch profiler trace with memory events (.json, .json.gz). A folder stands for all
traces below it. Without FILE, the folder that FERRY_TRACE_DIR names is replayed.

Each pass allocates what was live at the start, follows the events in order, and frees the
rest. Marks are written into every block and read back before its free, so that memory handed
out too early is found; the pool's books are audited after every pass.

Driver calls are counted and priced whether they succeed or not: where memory is short, some
are refused before the pool helps itself.

JSON is one object, printed in every case: "error" says why nothing was replayed or the page
was not written, else it is null. A file's own figures are those of its "device": of several the
one that failed, else the one with the worst ratio. Devices have the numbers of the file; -1 is
the host. Sizes are bytes; null is unknown.

For example:
  ferry replay snapshot.pickle
  ferry replay --capacity min --repeat 3 --html report.html snapshot.pickle
  ferry replay --schedule lazy --json a.pickle b.json.gz

Exit codes: 1 a check failed, the driver did, or the page could not be written, else 2 a file
or the command line could not be understood, else 3 the memory (of the device or of this
machine) did not suffice, else 0.)";

// The parser itself takes "010" for 8, and what is too large for the largest number.
CLI::Validator whole_number(std::uint64_t least,
                            std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  const auto check = [least, most](std::string& text) -> std::string {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    const bool plain = error == std::errc{} && rest == end && (text[0] != '0' || text.size() == 1);
    if (plain && value >= least && value <= most) return "";
    return fmt::format("\"{:.40}\" is no whole number from {} to {}", text, least, most);
  };
  return {check, ""};
}

void add_machine_options(CLI::App& command, ReplayArguments& arguments) {
  add_device_option(command, arguments.device);
  command.get_option("--device")
      ->description(
          "Which driver to use: sim (the stand-in, no GPU needed), cuda, auto, or the full path "
          "of a libcuda.so.1. Without it FERRY_DRIVER decides, else sim");
  command
      .add_option(
          "--capacity", arguments.capacity,
          "Device memory to have: a size, a multiple of the peak live memory, or min to "
          "search the smallest on which all passes complete, to 2 MiB (which can be a little more "
          "than is held without a limit: the size of chunks follows it). Default: unlimited")
      ->type_name("SIZE|RATIOx|min");
  command
      .add_option("--schedule", arguments.schedule,
                  "In which order the stand-in runs queued work. Default: as FERRY_SIM says, "
                  "else eager")
      ->type_name("eager|lazy|random");
  command.add_option("--seed", arguments.seed, "Of the random schedule. Default: 0")
      ->check(whole_number(0))
      ->type_name("N");
}

}  // namespace

std::string replay_error_json(const std::string& error) {
  ReplayReport report;
  report.costs = replay::kDefaultCosts;
  report.error = error;
  return replay::render_json(report);
}

int replay_exit_code(const ReplayReport& report) {
  bool unreadable = !report.error.empty();
  bool out_of_memory = false;
  for (const FileResult& file : report.files) {
    unreadable = unreadable || (!file.error.empty() && !file.host_memory_exhausted);
    out_of_memory = out_of_memory || file.host_memory_exhausted;
    for (const replay::DeviceResult& device : file.devices) {
      if (!device.completed && !device.out_of_memory) return kExitFailure;
      out_of_memory = out_of_memory || device.out_of_memory;
    }
  }
  if (unreadable) return kExitUsage;
  return out_of_memory ? kExitOutOfMemory : kExitOk;
}

void add_replay_command(CLI::App& app, const WordsAfterDashes& words, int& exit_code) {
  const auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* const command = app.add_subcommand(
      "replay", "Replay recorded allocations: would Ferry have fitted, at what price");
  command->add_option("FILE", arguments->paths,
                      "Recorded allocation histories, or folders of them");
  add_machine_options(*command, *arguments);
  command->add_option("--repeat", arguments->repeat, "Passes, one after the other. Default: 1")
      ->check(whole_number(1, 1'000'000))
      ->type_name("N");
  command
      ->add_option("--costs", arguments->costs,
                   "Table of what driver calls cost, or list to see them. Default: a100")
      ->type_name("TABLE");
  command
      ->add_option("--audit", arguments->audit_every,
                   "Audit the pool's books every N events too, not only after each pass")
      ->check(whole_number(1))
      ->type_name("N");
  command->add_flag("--json", arguments->json, "Print JSON for programs");
  command->add_option("--html", arguments->html, "Write a page with pictures to this file")
      ->check(CLI::Validator(
          [](std::string& path) { return path.empty() ? "a path is needed" : ""; }, ""))
      ->type_name("FILE");
  command->footer(kFooter);
  command->callback([arguments, &words, &exit_code] {
    arguments->paths.insert(arguments->paths.end(), words.begin(), words.end());
    exit_code = run_replay(*arguments);
  });
}

}  // namespace ferry::cli
