// SPDX-License-Identifier: Apache-2.0
#include "front/cli/compare_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "driver/driver.hpp"
#include "front/cli/compared_run.hpp"
#include "front/report/comparison_html.hpp"
#include "front/report/comparison_report.hpp"
#include "front/report/html_text.hpp"
#include "front/report/output_file.hpp"

namespace ferry::cli {

namespace {

using replay::ComparedRun;
using replay::Comparison;

constexpr const char* kGpu = "h200-pcie5";
constexpr std::uint64_t kStep = Bytes{2_MiB}.count;  // capacities are multiples of it

struct CompareOptions {
  std::string gpu = kGpu;
  std::string capacity;
  std::string devices;
  std::string reserve;
  std::string html;
  std::string snapshots;
  std::vector<std::string> allocators;
  bool min_capacity = false;
  bool json = false;
  bool verbose = false;
};

struct Sizes {
  Bytes capacity;  // zero: the profile's
  Bytes reserve;
};

// On standard error, so that results can be read by programs.
void tell(const std::string& text) {
  fmt::print(stderr, "ferry: {}\n", text);
}

RunRequest request_for(const CompareOptions& options, const Sizes& sizes, Bytes capacity,
                       const std::string& allocator, const WordsAfterDashes& words) {
  RunRequest request;
  request.allocator = allocator;
  request.program.program = words;
  request.program.machine.emplace_back("profile", options.gpu);
  if (capacity.count > 0)
    request.program.machine.emplace_back("capacity", std::to_string(capacity.count));
  if (sizes.reserve.count > 0)
    request.program.machine.emplace_back("taken", std::to_string(sizes.reserve.count));
  if (!options.devices.empty()) request.program.machine.emplace_back("devices", options.devices);
  return request;
}

// The smallest capacity, in steps, with which the program ends as it does with plenty.
class CapacitySearch {
 public:
  CapacitySearch(const CompareOptions& options, const Sizes& sizes, const WordsAfterDashes& words)
      : options_(options), sizes_(sizes), words_(words) {}

  [[nodiscard]] std::optional<Bytes> find(const ComparedRun& plenty) {
    if (plenty.exit != 0 || !plenty.figures) return std::nullopt;
    const std::uint64_t reserve = sizes_.reserve.count;
    std::uint64_t too_small = plenty.figures->peak_allocated.count / kStep * kStep + reserve;
    if (too_small >= kStep + reserve) too_small -= kStep;
    std::uint64_t enough = align_up(plenty.figures->peak_reserved.count + reserve, kStep);
    while (!completes(plenty.allocator, enough)) {
      too_small = enough;
      enough = align_up(enough + enough / 8, kStep);
    }
    while (enough - too_small > std::max(kStep, enough / 512)) {
      const std::uint64_t middle = align_up(too_small + (enough - too_small) / 2, kStep);
      (completes(plenty.allocator, middle) ? enough : too_small) = middle;
    }
    return Bytes{enough};
  }

 private:
  [[nodiscard]] bool completes(const std::string& allocator, std::uint64_t capacity) {
    ComparedRun run;
    const auto request = request_for(options_, sizes_, Bytes{capacity}, allocator, words_);
    const bool begun = !run_compared(request, run).has_value();
    const bool completed = begun && run.exit == 0;
    tell(fmt::format("{} with {}: {}", allocator, replay::precise_bytes(Bytes{capacity}, " "),
                     completed ? "completes" : "does not complete"));
    return completed;
  }

  const CompareOptions& options_;
  const Sizes& sizes_;
  const WordsAfterDashes& words_;
};

std::optional<std::string> understand_sizes(const CompareOptions& options, Sizes& sizes) {
  const auto read = [](const std::string& text, Bytes& out) {
    if (text.empty()) return true;
    const std::optional<Bytes> bytes = parse_bytes(text);
    if (bytes) out = *bytes;
    return bytes.has_value();
  };
  if (!read(options.capacity, sizes.capacity))
    return fmt::format("\"{}\" is no size for --capacity, such as 24GiB.", options.capacity);
  if (!read(options.reserve, sizes.reserve))
    return fmt::format("\"{}\" is no size for --reserve, such as 1GiB.", options.reserve);
  return std::nullopt;
}

// Before the first run, which may take long. A sentence where something is in the way.
std::optional<std::string> prepare_outputs(const CompareOptions& options) {
  if (!options.html.empty()) {
    if (const std::string trouble = replay::write_trouble(options.html); !trouble.empty())
      return options.html + ": " + trouble;
  }
  if (options.snapshots.empty()) return std::nullopt;
  std::error_code error;
  std::filesystem::create_directories(options.snapshots, error);
  if (error) return fmt::format("{}: {}.", options.snapshots, error.message());
  return std::nullopt;
}

int compare(const CompareOptions& options, const WordsAfterDashes& words) {
  Sizes sizes;
  if (const auto mistake = understand_sizes(options, sizes)) return fail(kExitUsage, *mistake);
  if (stand_in_folder().empty()) return fail(kExitFailure, kNoStandIn);
  if (const auto trouble = prepare_outputs(options)) return fail(kExitFailure, *trouble);
  Comparison comparison{words, options.gpu, sizes.capacity, sizes.reserve, {}};
  for (const std::string& allocator : options.allocators) {
    RunRequest request = request_for(options, sizes, sizes.capacity, allocator, words);
    request.shows_output = options.verbose;
    if (!options.snapshots.empty() && allocator != "cudaMallocAsync")
      request.snapshot = std::filesystem::absolute(options.snapshots) / (allocator + ".pickle");
    tell(fmt::format("under {} ...", allocator));
    ComparedRun run;
    if (const auto trouble = run_compared(request, run)) return fail(kExitFailure, *trouble);
    if (run.exit == 126 || run.exit == 127 || run.exit == kExitUsage)
      return fail(run.exit, run.error.empty() ? "the program could not be run." : run.error);
    if (options.min_capacity) run.min_capacity = CapacitySearch(options, sizes, words).find(run);
    comparison.runs.push_back(std::move(run));
  }
  if (!options.html.empty()) {
    const std::string trouble = replay::write_file(options.html, comparison_html(comparison));
    if (!trouble.empty()) return fail(kExitFailure, options.html + ": " + trouble);
  }
  const std::string text =
      options.json ? comparison_json(comparison) : comparison_table(comparison);
  const std::string trouble = replay::write_stream(stdout, text);
  if (!trouble.empty()) return fail(kExitFailure, "the standard output: " + trouble);
  const bool any_completed =
      std::ranges::any_of(comparison.runs, [](const ComparedRun& run) { return run.exit == 0; });
  return any_completed ? kExitOk : kExitFailure;
}

void add_options(CLI::App& command, CompareOptions& options) {
  command.add_option("--gpu", options.gpu, "The machine to be: \"ferry sim list\" names them")
      ->capture_default_str();
  command.add_option("--capacity", options.capacity,
                     "Memory of each device, such as 24GiB (that of the machine)");
  command.add_option("--devices", options.devices, "How many devices there are (1)");
  command.add_option("--reserve", options.reserve,
                     "Memory of each device to set aside for what is not counted: the context, "
                     "and what math libraries take for themselves");
  std::vector<std::string> all(std::begin(kAllocators), std::end(kAllocators));
  command.add_option("--allocators", options.allocators, "Which, in which order (all)")
      ->delimiter(',')
      ->check(CLI::IsMember(all));
  command.add_flag("--min-capacity", options.min_capacity,
                   "Find the smallest device that the program completes on, by some ten more runs "
                   "under each allocator");
  command.add_option("--snapshots", options.snapshots,
                     "A folder for PyTorch's recorded events of each run (torch.cuda._memory_viz "
                     "and \"ferry replay\" read them)");
  command.add_option("--html", options.html, "A page with memory over time of all of them");
  command.add_flag("--json", options.json, "For programs");
  command.add_flag("--verbose", options.verbose, "Show what the program prints, on standard error");
}

}  // namespace

void add_compare_command(CLI::App& app, const WordsAfterDashes& words, int& exit_code) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* const command = app.add_subcommand(
      "compare", "Run a PyTorch program under each allocator, without a GPU: does it fit?");
  command->footer(
      "The program and its arguments follow --, for example:\n"
      "  ferry compare --gpu h200-pcie5 --capacity 24GiB --min-capacity -- python train.py\n"
      "It runs once under each allocator, in a process of its own, without its kernels. Peaks are\n"
      "those of the device that has the highest, by PyTorch's statistics; driver calls are those\n"
      "that take and give memory or wait, driver time is what they cost the host, modelled.\n"
      "Not counted: the context, and memory that math libraries take for themselves (--reserve).\n"
      "\n"
      "Exit code: 0 where the program completed under any allocator, 1 where under none.");
  add_options(*command, *options);
  command->callback([options, &words, &exit_code] {
    if (words.empty()) throw CLI::RequiredError("after --, a program");
    if (options->allocators.empty())
      options->allocators.assign(std::begin(kAllocators), std::end(kAllocators));
    exit_code = compare(*options, words);
  });
}

}  // namespace ferry::cli
