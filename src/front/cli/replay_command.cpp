// SPDX-License-Identifier: Apache-2.0
#include "front/cli/replay_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "front/cli/cli.hpp"
#include "front/replay/replay_session.hpp"
#include "front/replay/stand_in_settings.hpp"
#include "front/report/output_file.hpp"
#include "front/report/report_html.hpp"
#include "front/report/report_json.hpp"
#include "front/report/report_table.hpp"

namespace ferry::cli {

namespace {

using replay::CapacityOption;
using replay::CostTable;
using replay::FileResult;
using replay::ReplayReport;
using replay::SessionOptions;
using replay::StandInSettings;

struct ReplayArguments {
  std::vector<std::string> files;
  std::string device;
  std::string capacity;
  std::uint32_t repeat = 1;
  std::string costs{replay::kDefaultCosts};
  std::optional<std::string> schedule;
  std::optional<std::uint64_t> seed;
  std::uint64_t audit_every = 0;
  bool json = false;
  std::string html;
};

// One line on a terminal that tells what is being done, several times a second.
class ProgressLine {
 public:
  void show(const std::string& text) {
    const auto now = std::chrono::steady_clock::now();
    if (shown_ && now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    shown_ = true;
    fmt::print(stderr, "\r\x1b[K{:.90}", text);
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

// A replay needs no GPU, so the stand-in serves unless a driver is named; the report says which.
Result<DriverChoice, std::string> choose_driver(const std::string& text) {
  const char* const variable = std::getenv("FERRY_DRIVER");
  if (text.empty() && (variable == nullptr || *variable == '\0')) {
    return DriverChoice{.kind = DriverChoice::Kind::sim, .path = {}};
  }
  return driver_choice(text);
}

// A command line that makes sense: what it asks for. Else a sentence.
struct Plan {
  const CostTable* costs = nullptr;
  CapacityOption capacity;
  DriverChoice driver;
  StandInSettings stand_in;
};

Result<Plan, std::string> make_plan(const ReplayArguments& arguments) {
  Plan plan;
  plan.costs = replay::find_cost_table(arguments.costs);
  if (plan.costs == nullptr) {
    return fmt::format("--costs: there is no cost table \"{}\"; known: {}, and list to see them.",
                       arguments.costs, replay::known_cost_tables());
  }
  Result<CapacityOption, std::string> capacity = CapacityOption::parse(arguments.capacity);
  if (!capacity) return capacity.error();
  plan.capacity = *capacity;
  Result<DriverChoice, std::string> driver = choose_driver(arguments.device);
  if (!driver) return driver.error();
  plan.driver = *driver;
  const char* const variable = std::getenv("FERRY_SIM");
  Result<StandInSettings, std::string> stand_in = StandInSettings::from(
      variable == nullptr ? "" : variable, arguments.schedule, arguments.seed);
  if (!stand_in) return stand_in.error();
  plan.stand_in = *std::move(stand_in);
  if (plan.capacity.kind == CapacityOption::Kind::unlimited && plan.stand_in.capacity) {
    plan.capacity = {.kind = CapacityOption::Kind::size, .size = *plan.stand_in.capacity};
  }
  return plan;
}

// Describes the driver in the report. A sentence where the command line asks it for what it lacks.
std::string describe_driver(const Driver& driver, const ReplayArguments& arguments,
                            const Plan& plan, ReplayReport& report) {
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

void replay_files(const Driver& driver, const ReplayArguments& arguments, const Plan& plan,
                  ReplayReport& report) {
  ProgressLine line;
  SessionOptions options{.costs = plan.costs,
                         .capacity = plan.capacity,
                         .passes = arguments.repeat,
                         .audit_every = arguments.audit_every,
                         .stand_in = plan.stand_in.text};
  if (isatty(STDERR_FILENO) != 0) {
    options.progress = [&line](const std::string& text) { line.show(text); };
  }
  const replay::ReplaySession session(driver, std::move(options));
  for (const std::string& path : arguments.files) {
    report.files.push_back(session.replay_file(path));
  }
  line.clear();
}

void explain(const ReplayReport& report) {
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

// Puts the results where they are wanted; `exit_code`, or failure where that was not possible.
int deliver(const ReplayReport& report, const ReplayArguments& arguments, int exit_code) {
  const std::string text =
      arguments.json ? replay::render_json(report) : replay::render_table(report);
  if (const std::string trouble = replay::write_stream(stdout, text); !trouble.empty()) {
    exit_code = fail(kExitFailure, "the standard output: " + trouble);
  }
  if (arguments.html.empty()) return exit_code;
  const std::string trouble = replay::write_file(arguments.html, replay::render_html(report));
  if (trouble.empty()) return exit_code;
  return fail(kExitFailure, fmt::format("{}: {}", arguments.html, trouble));
}

// Nothing could be replayed; programs are told in their own language too.
int give_up(ReplayReport report, const ReplayArguments& arguments, int exit_code,
            std::string error) {
  const int code = fail(exit_code, error);
  for (const std::string& path : arguments.files) {
    FileResult& file = report.files.emplace_back();
    file.name = replay::file_name(path);
    file.path = path;
    file.error = error;
  }
  report.error = std::move(error);
  if (arguments.json) static_cast<void>(replay::write_stream(stdout, replay::render_json(report)));
  return code;
}

int run_replay(const ReplayArguments& arguments) {
  if (arguments.costs == "list") {
    const std::string trouble = replay::write_stream(stdout, replay::describe_cost_tables());
    return trouble.empty() ? kExitOk : fail(kExitFailure, "the standard output: " + trouble);
  }
  ReplayReport report;
  report.costs = arguments.costs;
  if (arguments.files.empty()) {
    return give_up(std::move(report), arguments, kExitUsage,
                   "a trace FILE is needed; see ferry replay --help.");
  }
  const Result<Plan, std::string> plan = make_plan(arguments);
  if (!plan) return give_up(std::move(report), arguments, kExitUsage, plan.error());
  const Result<const Driver*, StartError> driver = start_driver(plan->driver);
  if (!driver) {
    return give_up(std::move(report), arguments, kExitFailure, driver.error().message);
  }
  const std::string trouble = describe_driver(**driver, arguments, *plan, report);
  if (!trouble.empty()) return give_up(std::move(report), arguments, kExitUsage, trouble);
  replay_files(**driver, arguments, *plan, report);
  explain(report);
  return deliver(report, arguments, replay_exit_code(report));
}

constexpr const char* kFooter =
    "FILE is a PyTorch memory snapshot (torch.cuda.memory._dump_snapshot), an RMM log (CSV), or a\n"
    "Kineto/PyTorch profiler trace with memory events (.json, .json.gz).\n"
    "\n"
    "Each pass allocates what was live at the start, follows the events in order, and frees the\n"
    "rest. Marks are written into every block and read back before its free, so that memory "
    "handed\n"
    "out too early is found; the pool's books are audited after every pass.\n"
    "\n"
    "For example:\n"
    "  ferry replay snapshot.pickle\n"
    "  ferry replay --capacity min --repeat 3 --html report.html snapshot.pickle\n"
    "  ferry replay --schedule lazy --json a.pickle b.json.gz\n"
    "\n"
    "Exit codes: 1 a check failed or the driver did, else 2 a file or the command line could not\n"
    "be understood, else 3 the memory did not suffice, else 0.";

void add_machine_options(CLI::App& command, ReplayArguments& arguments) {
  add_device_option(command, arguments.device);
  command.get_option("--device")
      ->description(
          "Which driver to use: sim (the stand-in, no GPU needed), cuda, auto, or the full path "
          "of a libcuda.so.1. Without it FERRY_DRIVER decides, else sim");
  command
      .add_option("--capacity", arguments.capacity,
                  "Device memory to have: a size, a multiple of the peak live memory, or min to "
                  "search the smallest on which all passes complete, to 2 MiB. Default: unlimited")
      ->type_name("SIZE|RATIOx|min");
  command
      .add_option("--schedule", arguments.schedule,
                  "In which order the stand-in runs queued work. Default: as FERRY_SIM says, "
                  "else eager")
      ->type_name("eager|lazy|random");
  command.add_option("--seed", arguments.seed, "Of the random schedule. Default: 0")
      ->check(CLI::NonNegativeNumber);
}

}  // namespace

int replay_exit_code(const ReplayReport& report) {
  bool unreadable = false;
  bool out_of_memory = false;
  for (const FileResult& file : report.files) {
    unreadable = unreadable || !file.error.empty();
    for (const replay::DeviceResult& device : file.devices) {
      if (!device.completed && !device.out_of_memory) return kExitFailure;
      out_of_memory = out_of_memory || device.out_of_memory;
    }
  }
  if (unreadable) return kExitUsage;
  return out_of_memory ? kExitOutOfMemory : kExitOk;
}

void add_replay_command(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* const command = app.add_subcommand(
      "replay", "Replay recorded allocations: would Ferry have fitted, at what price");
  command->add_option("FILE", arguments->files, "Recorded allocation histories");
  add_machine_options(*command, *arguments);
  command->add_option("--repeat", arguments->repeat, "Passes, one after the other. Default: 1")
      ->check(CLI::Range(1U, 1'000'000U))
      ->type_name("N");
  command
      ->add_option("--costs", arguments->costs,
                   "Table of what driver calls cost, or list to see them. Default: a100")
      ->type_name("TABLE");
  command
      ->add_option("--audit", arguments->audit_every,
                   "Audit the pool's books every N events too, not only after each pass")
      ->type_name("N");
  command->add_flag("--json", arguments->json, "Print JSON for programs");
  command->add_option("--html", arguments->html, "Write a page with pictures to this file")
      ->type_name("FILE");
  command->footer(kFooter);
  command->callback([arguments, &exit_code] { exit_code = run_replay(*arguments); });
}

}  // namespace ferry::cli
